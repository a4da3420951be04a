"""Split: scan of a whole store for memories that hold several topics."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench import texts
from bench.figures import Figure, timed
from bench.run import Bench
from bench.stores import BATCH, copied, open_store, put_vectors
from bench.timer import Spent, spent
from mnemic.core.context import Context
from mnemic.core.maintenance.split import Thresholds, candidates
from mnemic.model.filter import Filter
from mnemic.model.memory import Draft
from mnemic.storage.base import Writer

SIZE = 10_000
SMALL, LARGE, ONE_IN = 4, 30, 50
"""A memory has four statements, one in fifty has thirty."""
ROUNDS = 3


def split(bench: Bench) -> Iterator[Figure]:
    """The memories that should be split, with the topics of each."""
    path = bench.stores.kept(f"statements-{SIZE}.db", build)
    yield timed(f"split candidates among {SIZE:,}", _candidates(path), limit=5_000)


def _candidates(store: Path) -> Spent:
    with copied(store) as path, open_store(path, "local") as app:
        return spent([partial(candidates, app.ctx, Filter(), Thresholds())] * ROUNDS)


def build(path: Path) -> None:
    """Fill a store with memories of several statements, each with a vector."""
    with open_store(path) as app:
        for first in range(0, SIZE, BATCH):
            app.ctx.change("remember", partial(_fill, app.ctx, range(first, first + BATCH)))
        put_vectors(app.ctx)


def _fill(ctx: Context, numbers: range, tx: Writer) -> None:
    for number in numbers:
        tx.insert(_draft(number), uid=ctx.new_uid())


def _draft(number: int) -> Draft:
    count = SMALL if number % ONE_IN else LARGE
    sentences = (" ".join(texts.texts(count // 4 + 1, number))).split(". ")
    return Draft(namespace="global", name=f"Entity {number}", texts=tuple(sentences[:count]))
