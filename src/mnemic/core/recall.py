"""Recall: find what is known, say how complete the answer is, and note what was used."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from mnemic.core.context import Context
from mnemic.core.lifecycle import touch, with_uses
from mnemic.core.surroundings import with_surroundings
from mnemic.core.upkeep import embed_pending
from mnemic.core.uses import PASSED_OVER
from mnemic.embedding.base import Embedding, embedding
from mnemic.errors import Unavailable
from mnemic.model.memory import Memory
from mnemic.model.search import Filter, Hit, Query
from mnemic.model.texts import estimated_tokens
from mnemic.model.values import Features
from mnemic.retrieval import engine
from mnemic.retrieval.profiles import HOUSE, Profile
from mnemic.retrieval.text import query_terms

EMBEDDED_ON_THE_WAY = 32
"""So many waiting statements are embedded before a recall; a larger backlog is left to the worker."""
BEST_BY_WORDS = 8
"""So many of a larger backlog, if they are among the best by words."""
WAITED_FOR = 2_048
"""So many where only vectors can answer."""
CHARACTERS_EACH = 1_000
"""So long may they be on average: it is the length that takes time, about a second for thirty thousand."""
MOST_CHARACTERS = 256_000
"""So long may they be together."""
HYBRID, KEYWORD, RERANKED = "hybrid", "keyword", "hybrid+rerank"


@dataclass(frozen=True, slots=True)
class Recollection:
    """The hits, how they were found, and at most how many statements had no vector to take part with.

    With a budget, also how many hits did not fit into it.
    """

    hits: tuple[Hit, ...]
    mode: str
    pending: int = 0
    left_out: int = 0


def recall(
    ctx: Context,
    query: Query,
    *,
    profile: Profile = HOUSE,
    budget_tokens: int | None = None,
    around: int = 0,
) -> Recollection:
    """What is known about *query*, best first. With a budget, as many hits as fit into it.

    A hit of a session brings the *around* turns on either side of it, as far as the budget allows: hits come first.
    """
    pending = _made_ready(ctx, query)
    vector = vector_of(ctx, query.text, query.filter)
    hits = tuple(_ordered(ctx, query, vector, profile))
    found = within(Recollection(hits, KEYWORD if vector is None else HYBRID, pending), budget_tokens)
    if around:
        room = None if budget_tokens is None else budget_tokens - sum(map(size, found.hits))
        found = replace(found, hits=with_surroundings(ctx, found.hits, around, query.filter, room))
    touch(ctx, [hit.memory for hit in found.hits])
    return found


def tiered(ctx: Context, query: Query) -> Recollection:
    """What ai-memory's feature tier recalls: `keyword`, `hybrid` or `hybrid+rerank`, any word, best first.

    Counts as a use of what is found.
    """
    from mnemic.retrieval import sixfold

    pending = _made_ready(ctx, query)
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


def catch_up(ctx: Context, wanted: Filter, at_most: int = EMBEDDED_ON_THE_WAY) -> int:
    """Embed what waits among *wanted* if it is little; how much still waits."""
    waiting = ctx.store.read().backlog(wanted)
    if not waiting or ctx.embedder is None:
        return 0
    ctx.wake()
    if waiting > at_most:
        return waiting
    try:
        room = min(at_most * CHARACTERS_EACH, MOST_CHARACTERS)
        done = embed_pending(ctx, at_most, wanted, characters=room)
        return max(0, waiting - done)
    except (Unavailable, *PASSED_OVER):  # no model, no room, or a look at the past, which takes no vectors
        return waiting


def _made_ready(ctx: Context, query: Query) -> int:
    """Embed what waits if it is little, else what waits among the best by words; how much still waits.

    Without a vector what holds the very words would stand behind what has one and holds none.
    """
    waiting = catch_up(ctx, query.filter)
    if not waiting:
        return 0
    reader = ctx.store.read()
    terms = query_terms(reader, query.text).all
    best = reader.words(terms, query.filter, every=False, limit=BEST_BY_WORDS)
    among = replace(query.filter, ids=tuple(number for number, _ in best))
    with suppress(Unavailable, *PASSED_OVER):
        waiting -= embed_pending(ctx, BEST_BY_WORDS, among, characters=BEST_BY_WORDS * CHARACTERS_EACH)
    return waiting


def vector_of(ctx: Context, text: str, wanted: Filter) -> Embedding | None:
    """A question as read by each model that has vectors among *wanted*, or None when there is no model."""
    if ctx.embedder is None:
        return None
    models = ctx.store.read().models(wanted) or [ctx.embedder.name]
    try:
        return embedding(ctx.embedder, text, models)
    except Unavailable:
        return None


def within(found: Recollection, budget_tokens: int | None) -> Recollection:
    """*found* with the best hits whose texts fit into the budget together; what is too long is passed over."""
    if budget_tokens is None:
        return found
    room = budget_tokens
    chosen = []
    for hit in found.hits:
        if (needed := size(hit)) <= room:
            chosen.append(hit)
            room -= needed
    return replace(found, hits=tuple(chosen), left_out=len(found.hits) - len(chosen))


def size(hit: Hit) -> int:
    """About how many tokens the memory of *hit* takes."""
    return estimated_tokens(hit.memory.title + hit.memory.content)
