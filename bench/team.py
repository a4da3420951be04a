"""A team behind one daemon: 16 HTTP clients recall and write in eight namespaces, over PostgreSQL and over SQLite."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import mean

from bench import texts
from bench.figures import Figure
from bench.postgres import server
from bench.processes import cpu_seconds_of
from bench.run import Bench
from bench.stores import open_store, put_vectors, scratch
from bench.timer import PACE
from bench.transports import Daemon
from mnemic.core.memories import Note, remember

CLIENTS = 16
NAMESPACES = 8
EACH = 1_000
"""Memories a namespace."""
SECONDS = 8
KINDS = ("recalls", "writes")


@dataclass(frozen=True, slots=True)
class Load:
    """What the clients got, and what it cost."""

    rate: float
    cpu_ms: float
    """CPU of the daemon and the database server, a call."""
    slowness: float
    """How many times slower than at rest the machine was."""


def team(bench: Bench) -> Iterator[Figure]:
    """Recalls and writes a second of 16 clients, and the CPU time of daemon and server that each takes."""
    with server() as (url, clock), scratch() as folder:
        for place in (url, str(folder / "team.db")):
            fill(place)
        for kind in KINDS:
            theirs = _load(kind, url, clock.server_seconds)
            beside = _load(kind, str(folder / "team.db"), lambda: 0.0)
            yield Figure(
                what=f"{kind}, {CLIENTS} HTTP clients, PostgreSQL; floor: our SQLite",
                measured=theirs.rate,
                unit="/s",
                row=f"team {kind}",
                at_rest=theirs.rate * theirs.slowness,
                floor=beside.rate,
            )
            yield Figure(
                what=f"{kind}, {CLIENTS} HTTP clients: CPU of daemon and server",
                measured=theirs.cpu_ms,
                at_rest=theirs.cpu_ms / theirs.slowness,
                floor=beside.cpu_ms,
            )


def namespace(number: int) -> str:
    """The name of a namespace."""
    return f"team-{number % NAMESPACES}"


def fill(place: str) -> None:
    """Put a thousand memories with generated vectors into each namespace."""
    with open_store(place) as app:
        for first in range(0, NAMESPACES * EACH, EACH):
            some = texts.texts(EACH, first)
            remember(app.ctx, [Note(text=text, namespace=namespace(n)) for n, text in enumerate(some, first)])
        put_vectors(app.ctx)
        app.ctx.engines.upkeep(app.ctx.store)


def _load(kind: str, place: str, server_seconds: Callable[[], float]) -> Load:
    with Daemon(place, "local") as daemon:
        _clients(kind, daemon, 1)  # which loads the model, and prepares the statements

        def used() -> float:
            return (cpu_seconds_of(daemon.pid) or 0.0) + server_seconds()

        before, pace = used(), PACE.slowness()
        count = _clients(kind, daemon, SECONDS)
        return Load(count / SECONDS, 1000 * (used() - before) / count, mean((pace, PACE.slowness())))


def _clients(kind: str, daemon: Daemon, seconds: int) -> int:
    """How many calls the clients had answered."""
    command = [sys.executable, "-m", "bench.team_client", kind, *map(str, (daemon.port, seconds))]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
