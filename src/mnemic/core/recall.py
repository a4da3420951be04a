"""Recall: find memories, report how complete the answer is, and count their use."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from mnemic.core.context import GLOBAL, Context
from mnemic.core.embedding_queue import embed_backlog
from mnemic.core.retention import touch, with_uses
from mnemic.core.session_context import with_surroundings
from mnemic.embedding.base import embedding
from mnemic.errors import Unavailable
from mnemic.model.filter import Filter, Hit, Query
from mnemic.model.recall_entry import LONGEST_QUERY, MOST_HITS, RecallEntry
from mnemic.model.text_size import estimated_tokens
from mnemic.model.vectors import Embedding
from mnemic.search.ranking import NATIVE, Profile
from mnemic.search.relevance import unknown_names
from mnemic.search.search import find_hits

HYBRID, KEYWORD = "hybrid", "keyword"


@dataclass(frozen=True, slots=True)
class Recollection:
    """The hits, how they were found, and at most how many statements had no vector to take part with.

    With a budget, also how many hits did not fit into it. Of an empty answer, the names and identifiers of the question
    that no memory in scope holds.
    """

    hits: tuple[Hit, ...]
    mode: str
    pending: int = 0
    left_out: int = 0
    unknown_names: tuple[str, ...] = ()


def size(hit: Hit) -> int:
    """About how many tokens the memory of *hit* takes."""
    return estimated_tokens(hit.memory.title + hit.memory.content)


def recall(
    ctx: Context,
    query: Query,
    *,
    profile: Profile = NATIVE,
    budget_tokens: int | None = None,
    around: int = 0,
    cost: Callable[[Hit], int] = size,
    choose: Callable[[Sequence[Hit]], Sequence[Hit]] | None = None,
    is_logged: bool = True,
) -> Recollection:
    """The hits of *query*, best first. With a budget, as many as fit into it.

    What a hit takes of the budget is its *cost* as the caller shows it, or the tokens of its text. A caller who shows
    fewer hits lets us *choose*, so that only these count as used.

    A hit of a session brings the *around* turns on either side of it, as far as the budget allows: hits come first.
    """
    began = time.perf_counter()
    pending = embed_backlog(ctx, query.filter, is_fresh_needed=profile is not NATIVE)
    vector = vector_of(ctx, query.text, query.filter)
    hits = tuple(ordered(ctx, query, vector, profile))
    hits = hits if choose is None else tuple(choose(hits))
    found = within(Recollection(hits, KEYWORD if vector is None else HYBRID, pending), budget_tokens, cost)
    if around:
        room = None if budget_tokens is None else budget_tokens - sum(map(cost, found.hits))
        found = replace(found, hits=with_surroundings(ctx, found.hits, around, query.filter, room))
    entry = (
        _entry(ctx, query, found.hits, time.perf_counter() - began)
        if ctx.lives.recall_log and is_logged
        else None
    )
    touch(ctx, [hit.memory for hit in found.hits], recall=entry)
    if hits:
        return found
    return replace(found, unknown_names=unknown_names(ctx.read(), query))


def _entry(ctx: Context, query: Query, hits: Sequence[Hit], seconds: float) -> RecallEntry:
    """What the recall log keeps of a recall."""
    best = max((hit.relevance for hit in hits if hit.relevance is not None), default=None)
    return RecallEntry(
        at=ctx.now(),
        actor=ctx.actor,
        query=query.text[:LONGEST_QUERY],
        namespaces=query.filter.namespaces,
        session_id=ctx.sessions.get((ctx.owner, ctx.namespace or GLOBAL)),
        hits=len(hits),
        relevance=None if best is None else round(best, 3),
        tokens=sum(map(size, hits)),
        milliseconds=round(1000 * seconds, 2),
        memory_ids=tuple(hit.memory.id for hit in hits[:MOST_HITS]),
    )


def ordered(ctx: Context, query: Query, vector: Embedding | None, profile: Profile) -> list[Hit]:
    """The hits of *query* by *profile*, best first, with uses that are not yet written counted."""
    hits = find_hits(ctx.read(), query, vector, profile)
    if ctx.uses is None:
        return hits
    stand = with_uses(ctx, [hit.memory for hit in hits])
    return [replace(hit, memory=memory) for hit, memory in zip(hits, stand, strict=True)]


def vector_of(ctx: Context, text: str, wanted: Filter) -> Embedding | None:
    """A question as read by each model that has vectors among *wanted*, or None when there is no model."""
    if ctx.embedder is None:
        return None
    models = ctx.read().models(wanted) or [ctx.embedder.name]
    try:
        return embedding(ctx.embedder, text, models)
    except Unavailable:
        return None


def needed_vector(ctx: Context, query: Query) -> Embedding:
    """The embedding of *query*; Unavailable without a model."""
    vector = vector_of(ctx, query.text, query.filter)
    if vector is None:
        raise Unavailable("There is no embedding model to search by meaning with. See `mnemic doctor`.")
    return vector


def within(found: Recollection, budget_tokens: int | None, cost: Callable[[Hit], int] = size) -> Recollection:
    """*found* with the best hits whose texts fit into the budget together; hits that are too long are skipped."""
    if budget_tokens is None:
        return found
    room = budget_tokens
    chosen = []
    for hit in found.hits:
        if (needed := cost(hit)) <= room:
            chosen.append(hit)
            room -= needed
    return replace(found, hits=tuple(chosen), left_out=len(found.hits) - len(chosen))
