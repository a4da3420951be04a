"""Starting: the first answer of a stdio server, and commands that run and end."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import texts
from bench.bench import Bench
from bench.clients import StdioClient
from bench.figures import Figure, timed
from bench.measuring import Spent, spent
from bench.stores import copied
from bench.weight import server
from mnemic.core.memories import title_of

ROUNDS = 7
FRESH_STARTS = 200
FRESH_AT_ONCE = 4  # more than there are cores, so that threads are interrupted anywhere
LONG_TEXT = " ".join(map(texts.text, range(40)))


def start(bench: Bench) -> Iterator[Figure]:
    """From nothing to the list of tools."""
    size = bench.sizes[1]
    with copied(bench.stores.ours(size)) as path:
        ours = _started(partial(server, path, "local"))
    what = f"stdio server, cold, first answer, {size:,}"
    yield timed(what, ours, 400, reference=_reference(bench, size))


def _reference(bench: Bench, size: int) -> Spent | None:
    if not bench.reference:
        return None
    with copied(bench.stores.reference(size)) as path:
        return _started(partial(bench.reference.client, path))


def _started(make: Callable[[], StdioClient]) -> Spent:
    def first_answer() -> None:
        with make() as client:
            client.start()

    return spent([first_answer] * ROUNDS, _children_cpu)


def cli(bench: Bench) -> Iterator[Figure]:
    """Commands that need no model, in a process of their own."""
    size = bench.sizes[-1]
    with copied(bench.stores.ours(size)) as path:
        for name, arguments in {
            "--version": ("--version",),
            "stats": ("stats", "--json"),
            "open TITLE": ("open", title_of(texts.text(11)), "--json"),
            "recall, without model": ("recall", texts.question(11), "--json"),
            "remember": ("remember", texts.text(20_000_000), "--force", "--json"),
        }.items():
            took = spent([partial(_run, path, arguments)] * ROUNDS, _children_cpu)
            yield timed(f"mnemic {name}, cold, {size:,}", took, 150)


def _run(path: Path, arguments: tuple[str, ...]) -> None:
    environment = {"MNEMIC_DB": str(path), "MNEMIC_EMBEDDER": "none"}
    subprocess.run(
        [sys.executable, "-m", "mnemic", *arguments], env=environment, check=True, capture_output=True
    )


def fresh(bench: Bench) -> Iterator[Figure]:
    """Fresh servers that fail when a recall follows a long memory at once, while the embedder is being loaded."""
    with ThreadPoolExecutor(FRESH_AT_ONCE) as pool:
        failures = sum(pool.map(_fails, range(FRESH_STARTS)))
    yield Figure(what=f"failures of {FRESH_STARTS} fresh stdio servers", ours=failures, unit="", budget=0)


def _fails(number: int) -> bool:
    with TemporaryDirectory() as folder, server(Path(folder) / "fresh.db", "local") as client:
        try:
            client.start()
            client.call("remember", text=LONG_TEXT, force=True)
            client.call("recall", query=texts.question(number))
        except RuntimeError as error:
            print(error, file=sys.stderr)
            return True
    return False


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
