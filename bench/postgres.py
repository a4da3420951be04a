"""Writes into PostgreSQL beside SQLite: CPU of the client and of all processes of the server together."""

from __future__ import annotations

import importlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Any

from bench import texts
from bench.figures import Figure, timed
from bench.processes import children, cpu_seconds_of
from bench.run import Bench
from bench.stores import open_store, scratch
from bench.timer import interleaved
from mnemic.app import App
from mnemic.core.memories import Note, remember

HELPERS = Path(__file__).parent.parent / "tests" / "helpers"
"""Where the tests have what starts a server."""
FRESH = 20_000_000
"""Texts from this number on are in no store."""
FILLED = 2_000
WARM_UP = 20
FIFTY = 50
SYNCS = 50
DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}


def postgres(bench: Bench) -> Iterator[Figure]:
    """A durable write, and fifty in one transaction, in a store of a few thousand memories."""
    with (
        server() as (url, clock),
        scratch() as folder,
        open_store(url) as theirs,
        open_store(folder / "ours.db") as ours,
    ):
        fill(theirs)
        fill(ours)
        for at_once, row in ((1, "postgres write"), (FIFTY, "postgres batch")):
            calls = [writes(app, at_once, max(12, bench.rounds // at_once)) for app in (theirs, ours)]
            spent, beside = interleaved(calls, [clock, time.process_time])
            what = f"batch of {at_once}" if at_once > 1 else "write"
            yield timed(f"{what}, PostgreSQL; floor: our SQLite", spent, row, floor=beside)
        yield Figure(what="fdatasync of 8 kB here, by the clock", measured=fdatasync_ms(folder / "synced"))


def fdatasync_ms(file: Path) -> float:
    """How long the disk takes to keep a page that was appended, in milliseconds."""
    took = []
    with file.open("wb", buffering=0) as written:
        for _ in range(SYNCS):
            written.write(bytes(8192))
            began = time.perf_counter()
            os.fdatasync(written.fileno())
            took.append(1000 * (time.perf_counter() - began))
    return median(took)


def fill(app: App) -> None:
    """Store some thousand memories, and then some one by one: statements are prepared after a few."""
    for first in range(0, FILLED, 500):
        remember(app.ctx, [Note(text=text) for text in texts.texts(500, first)])
    for text in texts.texts(WARM_UP, FILLED):
        remember(app.ctx, [Note(text=text)])


def writes(app: App, at_once: int, calls: int) -> list[Callable[[], object]]:
    """Calls that store so many memories each, in one transaction."""
    starts = range(FRESH + at_once, FRESH + at_once + calls * at_once, at_once)
    return [partial(remember, app.ctx, [Note(text=text) for text in texts.texts(at_once, n)]) for n in starts]


class Clock:
    """The CPU seconds that we and a server have used, without what it takes to find that out."""

    def __init__(self, server: int):
        self._server = server
        self._own = 0.0

    def __call__(self) -> float:
        before = time.process_time()
        used = self.server_seconds()
        now = time.process_time()
        self._own += now - before
        return used + now - self._own

    def server_seconds(self) -> float:
        """The CPU seconds that the server has used."""
        return sum(cpu_seconds_of(pid) or 0.0 for pid in (self._server, *children(self._server)))


@contextmanager
def server(settings: Mapping[str, str] = MappingProxyType({})) -> Iterator[tuple[str, Clock]]:
    """A server that waits for the disk: the address of a database, and the clock of it and us."""
    sys.path.append(str(HELPERS))
    helper: Any = importlib.import_module("postgres_server")
    one = helper.Server(helper.server_folder("bench"), {**DURABLE, **settings})
    try:
        one.make()
        one.start()
        yield one.create("bench"), Clock(one.process_id)
    finally:
        one.stop(signal.SIGINT)
        shutil.rmtree(one.folder, ignore_errors=True)
