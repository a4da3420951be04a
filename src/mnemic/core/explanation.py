"""Explanation: why a memory was, or was not, among the hits of a query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from mnemic.core.context import Context
from mnemic.core.embedding_queue import embed_backlog
from mnemic.core.memories import find
from mnemic.core.recall import vector_of
from mnemic.model.enums import State
from mnemic.model.filter import Hit, Query
from mnemic.model.memory import Memory
from mnemic.search import relevance, search
from mnemic.search.ranking import NATIVE
from mnemic.storage.queries import passing

LOOKED_THROUGH = 200
"""Ranks searched for the memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a memory is a hit or not: the reason in a sentence, its relevance beside the one needed, the signals."""

    memory: Memory
    is_hit: bool
    reason: str
    place: int | None = None
    """Its place in the ranking, from 1, before anything is left out."""
    relevance: float | None = None
    needed: float | None = None
    score: float | None = None
    terms: Mapping[str, float] = field(default_factory=dict)
    signals: Mapping[str, float] = field(default_factory=dict)


def explain(ctx: Context, query: Query, reference: int | str) -> Explanation:
    """Why the memory meant by *reference* is, or is not, a hit of *query*. Counts no use."""
    memory = find(ctx, reference)
    if reason := _excluded(ctx, query, memory):
        return Explanation(memory=memory, is_hit=False, reason=reason)
    embed_backlog(ctx, query.filter)
    reader, vector = ctx.read(), vector_of(ctx, query.text, query.filter)
    hits = search.find_hits(reader, query, vector, NATIVE)
    wide = replace(query, limit=max(LOOKED_THROUGH, query.limit), min_relevance=0.0)
    ranking = search.find_hits(reader, wide, vector, NATIVE)
    place = next((place for place, hit in enumerate(ranking, 1) if hit.memory.id == memory.id), None)
    alone = replace(wide, filter=replace(query.filter, ids=(memory.id,)))
    found = [ranking[place - 1]] if place else search.find_hits(reader, alone, vector, NATIVE)
    needed = relevance.floor(query, max((hit.relevance or 0.0 for hit in ranking), default=0.0))
    is_hit = memory.id in {hit.memory.id for hit in hits}
    reason = f"found, place {place}" if is_hit else _missed(query, place, found, needed)
    explanation = Explanation(memory=memory, is_hit=is_hit, reason=reason, place=place, needed=needed)
    return _with(explanation, found[0]) if found else explanation


def _excluded(ctx: Context, query: Query, memory: Memory) -> str | None:
    """Why *memory* does not even take part, or None if it does."""
    if memory.state is not State.LIVING:
        return f"it is {memory.state}"
    if memory.has_expired(ctx.now()):
        return "it has expired"
    if memory.id not in passing(ctx.read(), [memory.id], query.filter):
        return "the filter leaves it out (namespace, kind, tag or date)"
    return None


def _missed(query: Query, place: int | None, found: list[Hit], needed: float) -> str:
    relevance = found[0].relevance if found else None
    if relevance is None:
        return "it has no word of the question and is not near in meaning"
    if relevance < needed:
        return f"its relevance {relevance:.2f} lies below the {needed:.2f} needed"
    if place is None:
        return f"it is not among the first {max(LOOKED_THROUGH, query.limit)}, or an equal text is"
    return f"place {place} lies behind the limit of {query.limit}"


def _with(explanation: Explanation, hit: Hit) -> Explanation:
    return replace(
        explanation, relevance=hit.relevance, score=hit.score, terms=hit.terms, signals=hit.signals
    )
