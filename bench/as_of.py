"""Recall as of a moment in the past, beside the same recall in the present."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench import texts
from bench.figures import Figure, timed
from bench.run import Bench
from bench.search import ask
from bench.stores import BATCH, copied, moment_of, product
from bench.timer import spent
from mnemic.core.context import Context
from mnemic.core.history import as_of as context_as_of
from mnemic.model.time import Moment

ROUNDS = 40
LONGEST_SECONDS = 30
"""A recall that takes seconds is not repeated for longer than this."""
ROWS = {10_000: "as_of 10k", 100_000: "as_of 100k", 1_000_000: "million as_of"}


def as_of(bench: Bench) -> Iterator[Figure]:
    """At all sizes of the run but the smallest."""
    for size in bench.sizes[1:]:
        yield from as_of_figures(bench, size)


def as_of_figures(bench: Bench, size: int) -> Iterator[Figure]:
    """Each recall at another moment, then several at one, in a store of which 2 % changed since."""
    with copied(bench.stores.history(size)) as path, product(path) as ctx:
        asked = list(map(texts.question, range(100, 100 + ROUNDS)))
        present = spent(partial(ask, ctx, question) for question in asked)
        moments = [moment_of(size - 1 - turn * BATCH % (size // 2)) + turn for turn in range(ROUNDS)]
        calls = [partial(ask_then, ctx, *pair) for pair in zip(moments, asked, strict=True)]
        past = spent(calls, at_most_seconds=LONGEST_SECONDS)
        same = [partial(ask_then, ctx, moments[0], question) for question in asked]
        again = spent(same, at_most_seconds=LONGEST_SECONDS)
    yield timed(f"recall in the present, 2 % changed, {size:,}", present)
    yield timed(f"recall as of a new moment each, {size:,}", past)
    yield timed(f"recall as of one moment, {size:,}", again)
    yield Figure(
        what=f"as_of recall / recall, {size:,}",
        measured=past.p50 / present.p50,
        unit="×",
        row=ROWS[size],
        at_rest=past.at_rest / present.at_rest,
        wall_p50=past.wall_p50 / present.wall_p50,
    )


def ask_then(ctx: Context, moment: Moment, question: str) -> None:
    """Recall as of *moment*; RuntimeError if nothing is found, which would cost less."""
    if not ask(context_as_of(ctx, moment), question):
        raise RuntimeError(f"nothing was found as of {moment} for {question!r}")
