"""numpy and what is built on it are imported by several threads of a fresh process."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[1] / "src" / "mnemic"
IMPORT = re.compile(r"^\s*(?:import|from)\s+(?:numpy|numkong|onnxruntime|tokenizers)\b", re.MULTILINE)

TWO_THREADS = """
import sys, threading
from importlib.machinery import PathFinder
from mnemic.embedding.local import LocalEmbedder

first_is_midway, failures = threading.Event(), []

class Pause:
    '''Lets the first thread stop in the middle of numpy until the second is through, or waits for it.'''

    def find_spec(self, name, path=None, target=None):
        if name != "numpy._globals" or threading.current_thread() is second:
            return None
        spec = PathFinder.find_spec(name, path)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            first_is_midway.set()
            second.join(1)

        spec.loader.exec_module = exec_module
        return spec

def attempt(work):
    try:
        work()
    except BaseException as error:
        failures.append(repr(error))

def embed():
    LocalEmbedder().embed(["a text"])

def look_for_neighbours():
    import mnemic.index.vectors

works = {"embed": embed, "neighbours": look_for_neighbours}
first = threading.Thread(target=lambda: attempt(works[sys.argv[1]]))
second = threading.Thread(target=lambda: (first_is_midway.wait(), attempt(works[sys.argv[2]])))
sys.meta_path.insert(0, Pause())
for thread in (second, first):
    thread.start()
for thread in (first, second):
    thread.join()
assert first_is_midway.is_set() and not failures, failures
"""


@pytest.mark.parametrize("order", [("embed", "neighbours"), ("neighbours", "embed")], ids="-".join)
def test_two_threads_of_a_fresh_process_may_need_numpy_at_once(order: tuple[str, str]) -> None:
    ended = subprocess.run([sys.executable, "-c", TWO_THREADS, *order], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def test_native_libraries_are_imported_in_one_place_each() -> None:
    found = {
        str(path.relative_to(SOURCES)) for path in SOURCES.rglob("*.py") if IMPORT.search(path.read_text())
    }
    assert found == {"numeric.py", "embedding/runtime.py"}
