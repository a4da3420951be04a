"""Backlog: recall while statements wait for their vectors, and how often each of them is embedded."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from bench import texts
from bench.figures import Figure, timed
from bench.run import Bench
from bench.search import ask
from bench.stores import BATCH, copied, open_store, product, put_vectors, scratch
from bench.timer import Spent, spent
from bench.writes import FRESH
from mnemic.core.context import Context
from mnemic.core.memories import Note, remember
from mnemic.core.stats import overview
from mnemic.embedding.local import LocalEmbedder
from mnemic.embedding.router import LanguageRouter
from mnemic.transports.background import Worker

if TYPE_CHECKING:
    from mnemic.model.vectors import Vectors

STATEMENTS = 6_000
SHARED = 300
"""Statements that two processes embed: the model reads about 30 a second."""
PROCESSES, START_SECONDS = 2, 5
LONGEST_SECONDS = 120


def backlog(bench: Bench) -> Iterator[Figure]:
    """Recall with and without a backlog, in stores of the same memories; and two workers on one backlog."""
    size = bench.sizes[1]
    quiet, busy = _quiet(bench, size), _beside_backlog(bench, size)
    yield timed(f"recall in the caller, quiet, {size + STATEMENTS:,}", quiet)
    yield timed(f"recall in the caller while {STATEMENTS:,} statements wait", busy)
    yield Figure(
        what=f"recall while {STATEMENTS:,} statements wait / quiet, wall time",
        measured=busy.wall_p50 / quiet.wall_p50,
        unit="×",
        row="backlog recall",
        p99=busy.wall_p99 / quiet.wall_p99,
        at_rest=busy.at_rest / quiet.at_rest,
    )
    yield Figure(
        what=f"times each of {SHARED} waiting statements is embedded, {PROCESSES} processes",
        measured=embedded_times(),
        unit="×",
        row="backlog once",
    )


def _quiet(bench: Bench, size: int) -> Spent:
    with copied(bench.stores.ours(size)) as path:
        with open_store(path) as app:
            fill(app.ctx, STATEMENTS)
            put_vectors(app.ctx)
        with product(path) as ctx:
            return _recalls(bench, ctx, size)


def _beside_backlog(bench: Bench, size: int) -> Spent:
    with copied(bench.stores.ours(size)) as path, product(path) as ctx:
        fill(ctx, STATEMENTS)
        taken = _recalls(bench, ctx, size)
        if not overview(ctx).pending:
            raise RuntimeError("the backlog was done before the recalls were")
        return taken


def _recalls(bench: Bench, ctx: Context, size: int) -> Spent:
    asked = list(map(texts.question, bench.numbers(size)))
    return spent((partial(ask, ctx, question) for question in asked), time.thread_time)


def fill(ctx: Context, count: int) -> None:
    """Write *count* memories that have no vectors yet."""
    for first in range(0, count, BATCH):
        fresh = texts.texts(min(BATCH, count - first), FRESH + first)
        remember(ctx, [Note(text=text) for text in fresh])


def embedded_times() -> float:
    """How often the background workers of two processes embed a statement, on average."""
    with scratch() as folder:
        path = folder / "ours.db"
        with open_store(path) as app:
            fill(app.ctx, SHARED)
        begin = time.time() + START_SECONDS
        with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
            counts = pool.map(embedded_by_worker, [path] * PROCESSES, [begin] * PROCESSES)
        return sum(counts) / SHARED


def embedded_by_worker(path: Path, begin: float) -> int:
    """How many texts the background worker of this process embeds until none is waiting."""
    model = CountingEmbedder()
    model.load()
    embedder = LanguageRouter(model)
    with open_store(path) as app:
        app.ctx.store.use_models(*(one.name for one in embedder.models))
        worker = Worker(replace(app.ctx, embedder=embedder))
        time.sleep(max(0.0, begin - time.time()))
        worker.start()
        worker.wake()
        end = time.monotonic() + LONGEST_SECONDS
        while overview(app.ctx).pending and time.monotonic() < end:
            time.sleep(0.1)
        worker.stop(LONGEST_SECONDS)
    return model.count


class CountingEmbedder(LocalEmbedder):
    """The English model, counting the texts it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text."""
        self.count += len(texts)
        return super().embed(texts)
