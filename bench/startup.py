"""Start-up: the first answer of a stdio server, cold and beside a warm one, and commands that answer and exit."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench import texts
from bench.clients import StdioClient
from bench.figures import Figure, timed
from bench.footprint import server
from bench.processes import resident_megabytes
from bench.run import Bench
from bench.stores import copied
from bench.timer import Spent, spent
from mnemic.model.memory import title_of

ROUNDS = 7
FRESH_STARTS = 200
FRESH_AT_ONCE = 4
"""More than there are cores, so that threads are interrupted anywhere."""
LONG_TEXT = " ".join(map(texts.text, range(40)))


def start(bench: Bench) -> Iterator[Figure]:
    """From the start of the process to the list of tools."""
    size = bench.sizes[1]
    with copied(bench.stores.ours(size)) as path:
        cold = _first_answers(partial(server, path, "local"))
        with server(path, "local") as warm:
            warm.start()
            warm.call("recall", query=texts.question(1))
            beside = _first_answers(partial(server, path, "local"))
            weights = [_memory_after_start(partial(server, path, "local")) for _ in range(ROUNDS)]
    yield timed(
        f"first answer of a stdio server, cold, {size:,}",
        cold,
        "start cold",
        reference=_reference(bench, size),
    )
    yield timed(f"first answer beside a warm server, {size:,}", beside, "start warm")
    yield Figure(
        what=f"memory of a stdio server beside a warm one, {size:,}",
        measured=median(weights),
        unit="MB",
        row="start memory",
    )


def _reference(bench: Bench, size: int) -> Spent | None:
    if not bench.reference:
        return None
    with copied(bench.stores.reference(size)) as path:
        return _first_answers(partial(bench.reference.client, path))


def _first_answers(make: Callable[[], StdioClient]) -> Spent:
    def first_answer() -> None:
        with make() as client:
            client.start()

    return spent([first_answer] * ROUNDS, _children_cpu)


def _memory_after_start(make: Callable[[], StdioClient]) -> float:
    with make() as client:
        client.start()
        return resident_megabytes(client.pid) or 0.0


def cli(bench: Bench) -> Iterator[Figure]:
    """Commands that need no model, each in a process of its own."""
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
            yield timed(f"mnemic {name}, {size:,}", took, limit=150)


def _run(path: Path, arguments: tuple[str, ...]) -> None:
    environment = {"MNEMIC_DB": str(path), "MNEMIC_EMBEDDER": "none", "MNEMIC_NAMESPACE": "*"}
    subprocess.run(
        [sys.executable, "-m", "mnemic", *arguments], env=environment, check=True, capture_output=True
    )


def fresh(bench: Bench) -> Iterator[Figure]:
    """Fresh servers in which a recall right after a long memory fails, while the model is being loaded."""
    with ThreadPoolExecutor(FRESH_AT_ONCE) as pool:
        failures = sum(pool.map(_fails, range(FRESH_STARTS)))
    yield Figure(what=f"failures of {FRESH_STARTS} fresh stdio servers", measured=failures, unit="", limit=0)


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
