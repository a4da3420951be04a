"""`mnemic copy` between SQLite and PostgreSQL: memories a second, vectors included, before vector indexes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import mean

from bench.figures import Figure
from bench.postgres import server
from bench.run import Bench
from bench.stores import scratch
from bench.timer import PACE
from mnemic.app import copy_target, open_store
from mnemic.settings import Settings
from mnemic.transfer.store_copy import copy, plan

SETTINGS = {"shared_buffers": "256MB", "max_wal_size": "4GB"}
COUNT = 20_000
LEAST = 3_000


def copies(bench: Bench) -> Iterator[Figure]:
    """A store of 20,000 memories to a server, back to a file, and from file to file; verification included."""
    store = bench.stores.ours(COUNT)
    with scratch() as folder, server(SETTINGS) as (address, clock):
        for what, source, target in (
            ("SQLite to PostgreSQL", str(store), address),
            ("PostgreSQL to SQLite", address, str(folder / "back.db")),
            ("SQLite to SQLite", str(store), str(folder / "copy.db")),
        ):
            pace, before = PACE.slowness(), clock.server_seconds()
            wall, cpu = copied(source, target)
            spent = cpu + clock.server_seconds() - before
            slowness = mean((pace, PACE.slowness()))
            yield Figure(
                what=f"copy, {what}",
                measured=COUNT / wall,
                unit="/s",
                row="copy to postgres" if target == address else None,
                limit=None if target == address else LEAST,
                is_minimum=True,
                at_rest=COUNT * slowness / wall,
            )
            yield Figure(
                what=f"copy, {what}: client and server a memory",
                measured=spent * 1000 / COUNT,
                at_rest=spent * 1000 / COUNT / slowness,
            )


def copied(source: str, target: str) -> tuple[float, float]:
    """How long a copy takes by the clock and in CPU time of this process, in seconds."""
    store = open_store(Settings(db=source))
    try:
        wall, cpu = time.perf_counter(), time.process_time()
        with store.row_source() as rows, copy_target(target) as end:  # type: ignore[attr-defined]
            copy(rows, end, source, plan(rows, end, source), lambda done, total: None)
        return time.perf_counter() - wall, time.process_time() - cpu
    finally:
        store.close()
