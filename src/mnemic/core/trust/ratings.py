"""Feedback: how useful memories and links proved, and what that does to their quality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from mnemic.core.context import Context
from mnemic.core.expiry import change_after_expiry
from mnemic.core.graph import find_link
from mnemic.core.memories import locate
from mnemic.core.retention import count
from mnemic.core.states import taken_out
from mnemic.core.usage import Use
from mnemic.model.enums import State
from mnemic.model.graph import Edge, EdgePatch
from mnemic.model.limits import QUALITY
from mnemic.model.memory import HIGHEST_QUALITY, Memory, MemoryPatch
from mnemic.storage.base import Writer
from mnemic.storage.queries import edge_numbered

LOWEST_QUALITY = QUALITY.low
DOUBTED_AT = 2
"""Useless with so little confidence: such a memory is forgotten."""
DOUBTED = "rated useless"


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """How far one rating moves the quality, within what bounds, how many ratings the mean spans, and when we forget."""

    up: float = 0.5
    down: float = 0.5
    window: int = 20
    lowest: float = LOWEST_QUALITY
    highest: float = HIGHEST_QUALITY
    doubted_at: float = DOUBTED_AT


STEPS = Steps()


@dataclass(frozen=True, slots=True)
class Rating:
    """What someone says of a memory or a link (by number): whether it was useful and how sure they are, 1 to 10."""

    id: int
    useful: bool
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Rated:
    """The memories and links that were rated, and those memories that were forgotten for it."""

    memories: tuple[Memory, ...]
    links: tuple[Edge, ...]
    forgotten: tuple[Memory, ...]


def rate_named(
    ctx: Context,
    references: Sequence[int | str],
    links: Sequence[int],
    useful: bool,
    confidence: float | None = None,
) -> Rated:
    """Say the same of several memories and links, these by number. NotFound, and nothing rated, if one is missing."""
    reader = ctx.read()
    numbers = dict.fromkeys(locate(reader, ctx, reference).id for reference in references)
    edges = dict.fromkeys(find_link(reader, ctx, number).id for number in links)
    return rate(
        ctx,
        [Rating(number, useful, confidence) for number in numbers],
        [Rating(number, useful, confidence) for number in edges],
    )


def rate(
    ctx: Context, memories: Sequence[Rating], links: Sequence[Rating] = (), *, steps: Steps = STEPS
) -> Rated:
    """Apply ratings to *memories* and *links* in one transaction. Unknown ids must have been removed before.

    Useful raises the quality by up·confidence/10, useless lowers it by down·(11−confidence)/10; without a confidence
    by the whole step. The rating is a running mean: c += (v − c) / min(n + 1, window). Useless with confidence ≤ 2
    deletes a memory, never a link. Counts as a use; a useless rating earns no promotion.
    """

    def work(tx: Writer) -> Rated:
        known = {memory.id: memory for memory in tx.get(_numbers(memories))}
        forgotten: dict[int, Memory] = {}
        for rating in memories:
            memory = known[rating.id] = _rated(tx, known[rating.id], rating, steps)
            if memory.state is State.LIVING and _is_doubt(rating, steps):
                memory = taken_out(tx, memory, State.FORGOTTEN, DOUBTED, ctx.now())
                known[memory.id] = forgotten[memory.id] = memory
        edges = {edge.id: edge for number in _numbers(links) if (edge := edge_numbered(tx, number))}
        for rating in links:
            edges[rating.id] = _rated_edge(tx, ctx, edges[rating.id], rating, steps)
        now = ctx.now()
        tx.count_use([rating.id for rating in memories if not rating.useful], now)
        useful = [Use(ctx.actor, [known[rating.id]], now) for rating in memories if rating.useful]
        if useful:
            count(tx, ctx.lives, useful)
        return Rated(tuple(tx.get(list(known))), tuple(edges.values()), tuple(forgotten.values()))

    return change_after_expiry(ctx, "rate", work, namespaces=ctx.usual)


def _numbers(ratings: Sequence[Rating]) -> list[int]:
    return list(dict.fromkeys(rating.id for rating in ratings))


def _rated(tx: Writer, memory: Memory, rating: Rating, steps: Steps) -> Memory:
    """*memory* with the rating in its figures. What it says is as old as before."""
    figures = _figures(memory.worth, memory.rating, memory.rating_count, rating, steps)
    return tx.update(memory, MemoryPatch(updated_at=memory.updated_at, **figures))


def _rated_edge(tx: Writer, ctx: Context, edge: Edge, rating: Rating, steps: Steps) -> Edge:
    figures = _figures(edge.worth, edge.rating, edge.rating_count, rating, steps)
    return tx.update_edge(edge, EdgePatch(updated_at=ctx.now(), **figures))


class _Figures(TypedDict):
    """What a rating changes in a memory or a link."""

    quality: float
    rating: float | None
    rating_count: int


def _figures(quality: float, mean: float | None, count: int, rating: Rating, steps: Steps) -> _Figures:
    """The figures after a rating."""
    if rating.confidence is None:
        return {"quality": moved(quality, rating, steps), "rating": mean, "rating_count": count}
    before = rating.confidence if mean is None else mean
    share = min(count + 1, steps.window)
    return {
        "quality": moved(quality, rating, steps),
        "rating": before + (rating.confidence - before) / share,
        "rating_count": count + 1,
    }


def moved(quality: float, rating: Rating, steps: Steps) -> float:
    """The quality after a rating, within its bounds."""
    if rating.useful:
        step = steps.up * (1.0 if rating.confidence is None else rating.confidence / 10)
        return min(steps.highest, quality + step)
    step = steps.down * (1.0 if rating.confidence is None else (11 - rating.confidence) / 10)
    return max(steps.lowest, quality - step)


def _is_doubt(rating: Rating, steps: Steps) -> bool:
    return not rating.useful and rating.confidence is not None and rating.confidence <= steps.doubted_at
