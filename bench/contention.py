"""Contention: eight processes that write to one file at the same time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import apsw

from bench import reference, texts
from bench.clients import StdioClient
from bench.figures import Figure
from bench.floor import Floor
from bench.run import Bench
from bench.stores import open_store, scratch
from bench.timer import percentile
from bench.writes import FRESH
from mnemic.core.memories import Note, remember
from mnemic.core.stats import overview
from mnemic.errors import MnemicError

PROCESSES = 8
EACH = 100
Write = Callable[[str], object]


class Writes(NamedTuple):
    """What one process did: the milliseconds of each write, and how many were refused."""

    took: list[float]
    refused: int


def processes(bench: Bench) -> Iterator[Figure]:
    """How many of 800 writes are kept and refused, and their wall time beside plain SQLite."""
    with scratch() as folder:
        ours, ours_kept = at_once(write_ours, folder / "ours.db", count_ours)
    with scratch() as folder:
        floor, floor_kept = at_once(write_floor, folder / "floor.db", count_floor)
    yield Figure(
        what="eight processes, 800 writes, kept",
        measured=ours_kept,
        unit="",
        row="processes kept",
        floor=floor_kept,
        reference=_reference(bench),
    )
    yield Figure(
        what="eight processes, 800 writes, refused",
        measured=ours.refused,
        unit="",
        row="processes errors",
        floor=floor.refused,
    )
    fast, slow = (percentile(ours.took, share) for share in (50, 99))
    floor_fast, floor_slow = (percentile(floor.took, share) for share in (50, 99))
    yield Figure(what="eight processes, wall time of a write", measured=fast, p99=slow, floor=floor_fast)
    yield Figure(
        what="eight processes, p99 wall time / plain SQLite",
        measured=slow / floor_slow,
        unit="×",
        row="processes p99",
    )


def at_once(
    write: Callable[[Path, int, float], Writes], path: Path, count: Callable[[Path], int]
) -> tuple[Writes, int]:
    """What all processes did, and how many memories are in the file afterwards."""
    write(path, PROCESSES, 0)  # creates the file and its schema
    before = count(path)
    begin = time.time() + 3
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        done = list(pool.map(partial(write, path), range(PROCESSES), [begin] * PROCESSES))
    took = [one for each in done for one in each.took]
    return Writes(took, sum(each.refused for each in done)), count(path) - before


def write_ours(path: Path, process: int, begin: float) -> Writes:
    """A hundred writes through the core."""
    with open_store(path) as app:
        return timed(begin, lambda text: remember(app.ctx, [Note(text=text)]), process)


def write_floor(path: Path, process: int, begin: float) -> Writes:
    """A hundred writes to plain SQLite."""
    floor = Floor(path)
    return timed(begin, lambda text: floor.add([text]), process)


def timed(begin: float, write: Write, process: int) -> Writes:
    """A hundred writes, all processes starting at *begin*."""
    fresh = list(texts.texts(EACH, FRESH + process * EACH))
    time.sleep(max(0.0, begin - time.time()))
    took, refused = [], 0
    for text in fresh:
        before = time.perf_counter()
        try:
            write(text)
        except (MnemicError, apsw.Error):
            refused += 1
        took.append(1000 * (time.perf_counter() - before))
    return Writes(took, refused)


def count_ours(path: Path) -> int:
    """The number of memories in our file."""
    with open_store(path) as app:
        return overview(app.ctx).total


def count_floor(path: Path) -> int:
    """The number of notes in the plain file."""
    return Floor(path).count()


def _reference(bench: Bench) -> float | None:
    """How many of 800 entities the reference server still has when eight of it wrote them."""
    if not bench.reference:
        return None
    with scratch() as folder, ThreadPoolExecutor(PROCESSES) as pool:
        file = folder / "reference.jsonl"
        list(pool.map(partial(_write_reference, bench, file), range(PROCESSES)))
        return sum(line.startswith('{"type":"entity"') for line in file.read_text().splitlines())


def _write_reference(bench: Bench, file: Path, process: int) -> None:
    assert bench.reference
    with bench.reference.client(file) as client:
        client.start()
        for text in texts.texts(EACH, FRESH + process * EACH):
            _attempt(client, text)


def _attempt(client: StdioClient, text: str) -> None:
    with contextlib.suppress(RuntimeError):  # refused: it will be missing from the count
        reference.create([text], client)
