"""Recall: find what is known, say how complete the answer is, and note what was used."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from mnemic.core.context import Context
from mnemic.core.lifecycle import touch, with_uses
from mnemic.core.surroundings import with_surroundings
from mnemic.core.upkeep import embed_pending
from mnemic.core.uses import PASSED_OVER
from mnemic.embedding.base import Embedding, embedding
from mnemic.errors import Busy, Unavailable
from mnemic.model.memory import Memory
from mnemic.model.search import Filter, Hit, Query
from mnemic.model.texts import estimated_tokens
from mnemic.model.values import Features
from mnemic.retrieval import engine
from mnemic.retrieval.profiles import HOUSE, Profile
from mnemic.search.relevance import read_question

EMBEDDED_ON_THE_WAY = 8
"""So many pending statements are embedded before a recall; more are left to the background worker."""
CHARACTERS_ON_THE_WAY = 600
"""So long may they be together: thirty thousand characters take about a second, these 20 ms."""
LOOKS, LOOK_SECONDS = 5, 0.004
"""So often and so far apart it is looked whether a writer has brought the vectors: 20 ms at most."""
FRESH = 32
"""So many in dialects of systems that embed as they write: what was just stored is found by its meaning there."""
FRESH_CHARACTERS, FRESH_LOOKS = 8_000, 60
"""So long may these be together, and so often is it looked: a quarter of a second each."""
UNATTENDED = 32
"""So many where there is no background worker, as in a command: nobody else would embed them."""
ANALYSED = 2_048
"""So many where only vectors can answer, as for an analysis of a memory's topics."""
CHARACTERS_EACH = 1_000
"""So long may these be on average."""
MOST_CHARACTERS = 256_000
"""So long may they be together."""
HYBRID, KEYWORD, RERANKED = "hybrid", "keyword", "hybrid+rerank"


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
    profile: Profile = HOUSE,
    budget_tokens: int | None = None,
    around: int = 0,
    cost: Callable[[Hit], int] = size,
) -> Recollection:
    """What is known about *query*, best first. With a budget, as many hits as fit into it.

    What a hit takes of the budget is its *cost* as the caller shows it, or the tokens of its text.

    A hit of a session brings the *around* turns on either side of it, as far as the budget allows: hits come first.
    """
    pending = catch_up(ctx, query.filter, is_fresh_needed=profile is not HOUSE)
    vector = vector_of(ctx, query.text, query.filter)
    hits = tuple(_ordered(ctx, query, vector, profile))
    found = within(Recollection(hits, KEYWORD if vector is None else HYBRID, pending), budget_tokens, cost)
    if around:
        room = None if budget_tokens is None else budget_tokens - sum(map(cost, found.hits))
        found = replace(found, hits=with_surroundings(ctx, found.hits, around, query.filter, room))
    touch(ctx, [hit.memory for hit in found.hits])
    if hits:
        return found
    return replace(found, unknown_names=read_question(ctx.store.read(), query).unknown_names)


def tiered(ctx: Context, query: Query) -> Recollection:
    """What ai-memory's feature tier recalls: `keyword`, `hybrid` or `hybrid+rerank`, any word, best first.

    Counts as a use of what is found.
    """
    from mnemic.retrieval import sixfold

    pending = catch_up(ctx, query.filter, is_fresh_needed=True)
    vector = vector_of(ctx, query.text, query.filter)
    if vector is None:
        found = Recollection(tuple(_ordered(ctx, query, None, sixfold.RECALLED)), KEYWORD)
    else:
        is_ranked_again = ctx.features is Features.AUTONOMOUS
        profile = sixfold.RERANKED if is_ranked_again else sixfold.HYBRID
        hits = tuple(_ordered(ctx, query, vector, profile))
        found = Recollection(hits, RERANKED if is_ranked_again else HYBRID, pending)
    touch(ctx, [hit.memory for hit in found.hits])
    return found


def _ordered(ctx: Context, query: Query, vector: Embedding | None, profile: Profile) -> list[Hit]:
    hits = engine.search(ctx.store.read(), query, vector, profile)
    if ctx.uses is None:
        return hits
    stand = with_uses(ctx, [hit.memory for hit in hits])
    return [replace(hit, memory=memory) for hit, memory in zip(hits, stand, strict=True)]


def search(ctx: Context, query: Query) -> list[Hit]:
    """The memories that hold every word of *query*, in the order of the six factors without the tier. Counts no use."""
    from mnemic.retrieval.sixfold import SEARCHED

    return _ordered(ctx, query, None, SEARCHED)


def listing(ctx: Context, wanted: Filter, *, limit: int, offset: int = 0) -> list[Memory]:
    """The memories that pass *wanted*: by priority, then by their last change."""
    reader = ctx.store.read()
    return reader.memories(reader.select(wanted, limit=limit, offset=offset))


def catch_up(
    ctx: Context, wanted: Filter, at_most: int | None = None, *, is_fresh_needed: bool = False
) -> int:
    """Embed what is pending among *wanted* if it is little; how many statements are still pending.

    Unless told *at_most* how many, it takes 20 ms, or longer where there is no background worker or where what was
    just stored *is needed*. It never waits for a lock.
    """
    if ctx.embedder is None:
        return 0
    waiting = ctx.store.read().backlog(wanted)
    if not waiting:
        return 0
    ctx.wake()
    most, characters = (FRESH, FRESH_CHARACTERS) if is_fresh_needed else _bounds(ctx, at_most)
    if waiting > most:
        return waiting
    try:
        done = embed_pending(ctx, most, wanted, characters=characters, waits=False)
        return max(0, waiting - done)
    except Busy:
        return _left_by_the_writer(ctx, wanted, FRESH_LOOKS if is_fresh_needed else LOOKS)
    except (Unavailable, *PASSED_OVER):  # no model, no room, or a look at the past, which takes no vectors
        return waiting


def _left_by_the_writer(ctx: Context, wanted: Filter, looks: int) -> int:
    """How many statements are pending a moment later: whoever writes now may be the worker with their vectors."""
    waiting = 0
    for _ in range(looks):
        time.sleep(LOOK_SECONDS)
        if not (waiting := ctx.store.read().backlog(wanted)):
            break
    return waiting


def _bounds(ctx: Context, at_most: int | None) -> tuple[int, int]:
    """How many statements are embedded before an answer, and how many characters they may have together."""
    if at_most is None and ctx.has_worker:
        return EMBEDDED_ON_THE_WAY, CHARACTERS_ON_THE_WAY
    most = at_most or UNATTENDED
    return most, min(most * CHARACTERS_EACH, MOST_CHARACTERS)


def vector_of(ctx: Context, text: str, wanted: Filter) -> Embedding | None:
    """A question as read by each model that has vectors among *wanted*, or None when there is no model."""
    if ctx.embedder is None:
        return None
    models = ctx.store.read().models(wanted) or [ctx.embedder.name]
    try:
        return embedding(ctx.embedder, text, models)
    except Unavailable:
        return None


def within(found: Recollection, budget_tokens: int | None, cost: Callable[[Hit], int] = size) -> Recollection:
    """*found* with the best hits whose texts fit into the budget together; what is too long is passed over."""
    if budget_tokens is None:
        return found
    room = budget_tokens
    chosen = []
    for hit in found.hits:
        if (needed := cost(hit)) <= room:
            chosen.append(hit)
            room -= needed
    return replace(found, hits=tuple(chosen), left_out=len(found.hits) - len(chosen))
