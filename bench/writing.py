"""Writing: one memory at a time, fifty at once, and many thousands."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache, partial

from bench import reference, texts
from bench.bench import Bench
from bench.figures import Figure
from bench.floor import Floor
from bench.measuring import Spent, spent
from bench.stores import BATCH, copied, notes, open_store, scratch
from mnemic.core.memories import Note, remember

FRESH = 10_000_000
"""Texts from this number on stand in no store."""
FIFTY = 50


def write(bench: Bench) -> Iterator[Figure]:
    """A durable write, alone, into a store of any size."""
    for size in (0, *bench.sizes[1:]):
        ours = one_write(bench, size)
        yield Figure(
            what=f"write, store of {size:,}",
            ours=ours.cpu,
            wall=ours.wall,
            budget=0.6,
            floor=_floor(bench, size, 1).cpu,
            reference=_reference(bench, size, 1),
        )


def batch(bench: Bench) -> Iterator[Figure]:
    """Fifty memories in one transaction."""
    size = bench.sizes[1]
    ours = _ours(bench, size, FIFTY)
    yield Figure(
        what=f"batch of {FIFTY}, store of {size:,}",
        ours=ours.cpu,
        wall=ours.wall,
        budget=8,
        floor=_floor(bench, size, FIFTY).cpu,
        reference=_reference(bench, size, FIFTY),
    )


@cache
def one_write(bench: Bench, size: int) -> Spent:
    """What a single write costs us."""
    return _ours(bench, size, 1)


def _texts(bench: Bench, at_once: int) -> Iterator[list[str]]:
    rounds = max(6, bench.rounds // at_once)
    return (list(texts.texts(at_once, FRESH + turn * at_once)) for turn in range(rounds))


def _ours(bench: Bench, size: int, at_once: int) -> Spent:
    with copied(bench.stores.ours(size)) as path, open_store(path) as app:
        batches = [[Note(text=text) for text in fresh] for fresh in _texts(bench, at_once)]
        return spent(partial(remember, app.ctx, some) for some in batches)


def _floor(bench: Bench, size: int, at_once: int) -> Spent:
    with copied(bench.stores.floor(size)) as path:
        floor = Floor(path)
        return spent(partial(floor.add, fresh) for fresh in list(_texts(bench, at_once)))


def _reference(bench: Bench, size: int, at_once: int) -> float | None:
    if not bench.reference:
        return None
    with copied(bench.stores.reference(size)) as path:
        batches = list(_texts(bench, at_once))[: bench.reference_rounds(size)]
        calls = [partial(reference.create, texts=fresh) for fresh in batches]
        return bench.reference.spent(path, calls).cpu


def bulk(bench: Bench) -> Iterator[Figure]:
    """Many memories in batches of a thousand, before their vectors."""
    count = bench.sizes[1] * 2
    batches = [notes(BATCH, FRESH + first) for first in range(0, count, BATCH)]
    with scratch() as folder, open_store(folder / "ours.db") as app:
        cpu, wall = time.process_time(), time.perf_counter()
        for some in batches:
            remember(app.ctx, some)
        ours, by_the_clock = count / (time.process_time() - cpu), count / (time.perf_counter() - wall)
    with scratch() as folder:
        floor = Floor(folder / "floor.db")
        cpu = time.process_time()
        for some in batches:
            floor.add(note.text for note in some)
        least = count / (time.process_time() - cpu)
    yield Figure(
        what=f"bulk load of {count:,}, before vectors",
        ours=ours,
        wall=by_the_clock,
        unit="/s",
        budget=5_000,
        is_least=True,
        floor=least,
    )
