"""Writes: one memory at a time, fifty in a transaction, and bulk load."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache, partial
from statistics import median

from bench import reference, texts
from bench.figures import Figure, rated, timed
from bench.floor import Floor
from bench.run import Bench
from bench.stores import BATCH, copied, open_store, product, scratch
from bench.sync_counter import counted_syncs
from bench.timer import Spent, interleaved, percentile, spent
from mnemic.core.memories import Note, remember

FRESH = 10_000_000
"""Texts from this number on are in no store."""
FIFTY = 50


def write(bench: Bench) -> Iterator[Figure]:
    """A durable write of one memory into stores of several sizes, with the embedder at work and without."""
    for size in (0, *bench.sizes[1:]):
        yield timed(
            f"write in the caller, embedder at work, {size:,}", _beside_embedder(bench, size), "write"
        )
        alone, floor = one_write(bench, size)
        others = _reference(bench, size, 1)
        yield timed(f"write, embedder off, {size:,}", alone, "write alone", floor=floor, reference=others)
    syncs = _syncs(bench)
    yield Figure(
        what="fsyncs a write", measured=median(syncs), unit="", row="write syncs", p99=percentile(syncs, 99)
    )


def batch(bench: Bench) -> Iterator[Figure]:
    """Fifty memories in one transaction."""
    size = bench.sizes[1]
    ours, floor = _beside_floor(bench, size, FIFTY)
    yield timed(
        f"batch of {FIFTY}, {size:,}", ours, "batch", floor=floor, reference=_reference(bench, size, FIFTY)
    )


def bulk(bench: Bench) -> Iterator[Figure]:
    """Batches of a thousand memories into an empty store, before their vectors."""
    batches = [list(texts.texts(BATCH, FRESH + first)) for first in range(0, 2 * bench.sizes[1], BATCH)]
    with scratch() as folder, open_store(folder / "ours.db") as app:
        plain = Floor(folder / "floor.db")
        notes = [[Note(text=text) for text in some] for some in batches]
        ours, floor = interleaved(
            [
                [partial(remember, app.ctx, some) for some in notes],
                [partial(plain.add, some) for some in batches],
            ]
        )
    yield rated("bulk load in batches of 1,000, before vectors", BATCH, ours, "bulk", floor=floor)


@cache
def one_write(bench: Bench, size: int) -> tuple[Spent, Spent]:
    """The cost of a single write without embedder, and of the same in plain SQLite."""
    return _beside_floor(bench, size, 1)


def _texts(bench: Bench, at_once: int) -> list[list[str]]:
    rounds = max(12, bench.rounds // at_once)
    return [list(texts.texts(at_once, FRESH + turn * at_once)) for turn in range(rounds)]


def _notes(bench: Bench, at_once: int) -> list[list[Note]]:
    return [[Note(text=text) for text in fresh] for fresh in _texts(bench, at_once)]


def _beside_floor(bench: Bench, size: int, at_once: int) -> tuple[Spent, Spent]:
    with (
        copied(bench.stores.ours(size)) as path,
        open_store(path) as app,
        copied(bench.stores.floor(size)) as plain,
    ):
        floor = Floor(plain)
        ours, least = interleaved(
            [
                [partial(remember, app.ctx, some) for some in _notes(bench, at_once)],
                [partial(floor.add, fresh) for fresh in _texts(bench, at_once)],
            ]
        )
    return ours, least


def _beside_embedder(bench: Bench, size: int) -> Spent:
    """The cost in the calling thread; what is written is embedded by the background worker meanwhile."""
    with copied(bench.stores.ours(size)) as path, product(path) as ctx:
        return spent((partial(remember, ctx, some) for some in _notes(bench, 1)), time.thread_time)


def _syncs(bench: Bench) -> list[int]:
    """The number of fsyncs of each write; one in which SQLite checkpoints its log has two more."""
    counts = []
    with counted_syncs() as syncs, scratch() as folder, open_store(folder / "ours.db") as app:
        for some in _notes(bench, 1):
            before = syncs.count
            remember(app.ctx, some)
            counts.append(syncs.count - before)
    return counts


def _reference(bench: Bench, size: int, at_once: int) -> Spent | None:
    if not bench.reference:
        return None
    with copied(bench.stores.reference(size)) as path:
        batches = _texts(bench, at_once)[: bench.reference_rounds(size)]
        return bench.reference.spent(path, [partial(reference.create, fresh) for fresh in batches])
