"""Writing: one memory at a time, fifty at once, and many thousands."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

from bench import reference, texts
from bench.bench import Bench
from bench.figures import Figure, rated, timed
from bench.floor import Floor
from bench.measuring import Spent, spent
from bench.stores import BATCH, copied, open_store, scratch
from mnemic.core.memories import Note, remember

FRESH = 10_000_000
"""Texts from this number on stand in no store."""
FIFTY = 50


def write(bench: Bench) -> Iterator[Figure]:
    """A durable write, alone, into a store of any size."""
    for size in (0, *bench.sizes[1:]):
        floor, others = _floor(bench, size, 1), _reference(bench, size, 1)
        yield timed(f"write, store of {size:,}", one_write(bench, size), 0.8, floor=floor, reference=others)


def batch(bench: Bench) -> Iterator[Figure]:
    """Fifty memories in one transaction."""
    size = bench.sizes[1]
    ours, floor = _ours(bench, size, FIFTY), _floor(bench, size, FIFTY)
    others = _reference(bench, size, FIFTY)
    yield timed(f"batch of {FIFTY}, store of {size:,}", ours, 8, floor=floor, reference=others)


def bulk(bench: Bench) -> Iterator[Figure]:
    """Many memories in batches of a thousand, before their vectors."""
    batches = [list(texts.texts(BATCH, FRESH + first)) for first in range(0, 2 * bench.sizes[1], BATCH)]
    with scratch() as folder, open_store(folder / "ours.db") as app:
        notes = [[Note(text=text) for text in some] for some in batches]
        ours = spent(partial(remember, app.ctx, some) for some in notes)
    with scratch() as folder:
        floor = Floor(folder / "floor.db")
        least = spent(partial(floor.add, some) for some in batches)
    yield rated("bulk load in batches of 1,000, before vectors", BATCH, ours, 5_000, least)


@cache
def one_write(bench: Bench, size: int) -> Spent:
    """What a single write costs us."""
    return _ours(bench, size, 1)


def _texts(bench: Bench, at_once: int) -> list[list[str]]:
    rounds = max(12, bench.rounds // at_once)
    return [list(texts.texts(at_once, FRESH + turn * at_once)) for turn in range(rounds)]


def _ours(bench: Bench, size: int, at_once: int) -> Spent:
    with copied(bench.stores.ours(size)) as path, open_store(path) as app:
        batches = [[Note(text=text) for text in fresh] for fresh in _texts(bench, at_once)]
        return spent(partial(remember, app.ctx, some) for some in batches)


def _floor(bench: Bench, size: int, at_once: int) -> Spent:
    with copied(bench.stores.floor(size)) as path:
        floor = Floor(path)
        return spent(partial(floor.add, fresh) for fresh in _texts(bench, at_once))


def _reference(bench: Bench, size: int, at_once: int) -> Spent | None:
    if not bench.reference:
        return None
    with copied(bench.stores.reference(size)) as path:
        batches = _texts(bench, at_once)[: bench.reference_rounds(size)]
        return bench.reference.spent(path, [partial(reference.create, fresh) for fresh in batches])
