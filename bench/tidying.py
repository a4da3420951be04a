"""Tidying: looking through a whole store for what says too much or the same twice."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench import texts
from bench.bench import Bench
from bench.figures import Figure, timed
from bench.measuring import Spent, spent
from bench.stores import BATCH, copied, open_store, put_vectors
from mnemic.core.tidying.splitting import Thresholds, candidates
from mnemic.model.memory import Draft
from mnemic.model.search import Filter

SIZE = 10_000
SMALL, LARGE, ONE_IN = 4, 30, 50
"""A memory has four statements, one in fifty has thirty."""
ROUNDS = 3


def split(bench: Bench) -> Iterator[Figure]:
    """Find the memories that should be split, with the topics of each."""
    path = bench.stores.kept(f"statements-{SIZE}.db", build)
    yield timed(f"split candidates among {SIZE:,}", _candidates(path), 5_000)


def _candidates(store: Path) -> Spent:
    with copied(store) as path, open_store(path, "local") as app:
        return spent([partial(candidates, app.ctx, Filter(), Thresholds())] * ROUNDS)


def build(path: Path) -> None:
    """Fill a store with memories of several statements, and give every statement a vector."""
    with open_store(path) as app:
        for first in range(0, SIZE, BATCH):
            with app.ctx.write("remember") as tx:
                for number in range(first, first + BATCH):
                    tx.add(_draft(number), uid=app.ctx.new_uid())
        put_vectors(app.ctx)


def _draft(number: int) -> Draft:
    count = SMALL if number % ONE_IN else LARGE
    sentences = (" ".join(texts.texts(count // 4 + 1, number))).split(". ")
    return Draft(namespace="global", title=f"Entity {number}", texts=tuple(sentences[:count]))
