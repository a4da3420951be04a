"""Contention: eight processes that write one file at the same time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from bench import reference, texts
from bench.bench import Bench
from bench.clients import StdioClient
from bench.figures import Figure
from bench.floor import Floor
from bench.stores import open_store, scratch
from bench.writing import FRESH
from mnemic.core.memories import Note, remember

PROCESSES = 8
EACH = 100


def processes(bench: Bench) -> Iterator[Figure]:
    """How many of 800 writes are kept, and how long all but the slowest hundredth took."""
    with scratch() as folder:
        ours, ours_kept = together(write_ours, folder / "ours.db", count_ours)
    with scratch() as folder:
        floor, floor_kept = together(write_floor, folder / "floor.db", count_floor)
    kept = _reference(bench)
    yield Figure(
        what="eight processes, 800 writes, kept",
        ours=ours_kept,
        unit="",
        budget=PROCESSES * EACH,
        is_least=True,
        floor=floor_kept,
        reference=kept,
    )
    yield Figure(
        what="eight processes, p50 by the clock", ours=at_share(ours, 0.5), floor=at_share(floor, 0.5)
    )
    yield Figure(
        what="eight processes, p99 by the clock",
        ours=at_share(ours, 0.99),
        floor=at_share(floor, 0.99),
        budget=at_share(floor, 0.99),
    )


def together(
    write: Callable[[Path, int, float], list[float]], path: Path, count: Callable[[Path], int]
) -> tuple[list[float], int]:
    """Milliseconds of every write, and how many are in the file afterwards."""
    write(path, PROCESSES, 0)  # the file is there and its schema made before anyone races
    before = count(path)
    begin = time.time() + 3
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        took = pool.map(partial(write, path), range(PROCESSES), [begin] * PROCESSES)
        return [one for each in took for one in each], count(path) - before


def write_ours(path: Path, process: int, begin: float) -> list[float]:
    """A hundred writes through the core."""
    with open_store(path) as app:
        return timed(begin, lambda text: remember(app.ctx, [Note(text=text)]), process)


def write_floor(path: Path, process: int, begin: float) -> list[float]:
    """A hundred writes to plain SQLite."""
    floor = Floor(path)
    return timed(begin, lambda text: floor.add([text]), process)


def timed(begin: float, write: Callable[[str], object], process: int) -> list[float]:
    """Milliseconds of each write, all processes starting at *begin*."""
    fresh = list(texts.texts(EACH, FRESH + process * EACH))
    time.sleep(max(0.0, begin - time.time()))
    took = []
    for text in fresh:
        before = time.perf_counter()
        write(text)
        took.append(1000 * (time.perf_counter() - before))
    return took


def count_ours(path: Path) -> int:
    """How many memories are in our file."""
    with open_store(path) as app:
        return app.ctx.store.read().count()


def count_floor(path: Path) -> int:
    """How many notes are in the plain file."""
    return Floor(path).count()


def at_share(took: list[float], share: float) -> float:
    """The time within which this share of the writes was done."""
    return sorted(took)[int(share * (len(took) - 1))]


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
