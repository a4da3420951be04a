"""`mnemic copy` between SQLite and PostgreSQL: memories a second, vectors included, before vector indexes."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from bench.figures import Figure
from bench.run import Bench
from bench.stores import scratch
from mnemic.app import copy_target, open_store
from mnemic.settings import Settings
from mnemic.transfer.store_copy import copy, plan

COUNT = 20_000
LEAST = 3_000


def copies(bench: Bench) -> Iterator[Figure]:
    """A store of 20,000 memories to a server, back to a file, and from file to file; verification included."""
    store = bench.stores.ours(COUNT)
    with scratch() as folder, server() as address:
        for what, source, target in (
            ("SQLite to PostgreSQL", str(store), address),
            ("PostgreSQL to SQLite", address, str(folder / "back.db")),
            ("SQLite to SQLite", str(store), str(folder / "copy.db")),
        ):
            wall, cpu = copied(source, target)
            yield Figure(
                what=f"copy, {what}", measured=COUNT / wall, unit="memories/s", limit=LEAST, is_minimum=True
            )
            yield Figure(what=f"copy, {what}: client", measured=cpu * 1000 / COUNT, unit="ms CPU a memory")


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


@contextmanager
def server() -> Iterator[str]:
    """The address of an empty database of a server that waits for the disk, from the wheel of the tests."""
    sys.path.append(str(Path(__file__).parents[1] / "tests" / "helpers"))
    wheel = import_module("postgres_server")
    one = wheel.Server(wheel.server_folder("bench"), {"shared_buffers": "256MB", "max_wal_size": "4GB"})
    try:
        one.make()
        one.start()
        yield one.create("bench")
    finally:
        one.stop()
        shutil.rmtree(one.folder, ignore_errors=True)
