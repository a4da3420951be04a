"""Starting: the first answer of a stdio server, and commands that run and end."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bench import texts
from bench.bench import Bench
from bench.clients import StdioClient
from bench.figures import Figure
from bench.measuring import Spent, spent
from bench.stores import copied
from bench.weight import server
from mnemic.core.memories import title_of

ROUNDS = 7


def start(bench: Bench) -> Iterator[Figure]:
    """From nothing to the list of tools."""
    size = bench.sizes[1]
    with copied(bench.stores.ours(size)) as path:
        ours = _started(partial(server, path, "local"))
    yield Figure(
        what=f"stdio server, cold, first answer, {size:,}",
        ours=ours.wall,
        wall=ours.wall,
        budget=700,
        reference=_reference(bench, size),
    )


def _reference(bench: Bench, size: int) -> float | None:
    if not bench.reference:
        return None
    with copied(bench.stores.reference(size)) as path:
        return _started(partial(bench.reference.client, path)).wall


def _started(make: Callable[[], StdioClient]) -> Spent:
    open_clients: list[StdioClient] = []

    def first_answer() -> None:
        open_clients.append(make())
        open_clients[-1].start()

    took = spent([first_answer] * ROUNDS)
    for client in open_clients:
        client.__exit__()
    return took


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
            what = f"mnemic {name}, cold, {size:,}"
            yield Figure(what=what, ours=took.cpu, wall=took.wall, budget=150)


def _run(path: Path, arguments: tuple[str, ...]) -> None:
    environment = {"MNEMIC_DB": str(path), "MNEMIC_EMBEDDER": "none"}
    subprocess.run([sys.executable, "-m", "mnemic", *arguments], env=environment, check=True, capture_output=True)


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
