"""Memories that resemble a text or a vector."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from mnemic.core.context import Context
from mnemic.core.embedding_queue import embed_backlog
from mnemic.core.recall import vector_of
from mnemic.errors import Invalid, Unavailable
from mnemic.model.filter import Filter, Query
from mnemic.model.memory import Memory
from mnemic.model.vectors import Embedding, Reading
from mnemic.search.candidates import gather
from mnemic.search.query import content_words
from mnemic.storage import queries
from mnemic.storage.base import Reader
from mnemic.storage.index_tokens import stems

DEPTH = 50
WORDS = 0.5
"""How near a text that holds every word comes by that alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A memory that resembles a text: how much, the cosine and the BM25 behind it, and the words both have."""

    memory: Memory
    similarity: float
    cosine: float
    bm25: float
    terms: tuple[str, ...]


def resembling(ctx: Context, text: str, wanted: Filter, limit: int) -> list[Match]:
    """The memories among *wanted* that resemble *text* most, by meaning and words, best first."""
    embed_backlog(ctx, wanted, is_fresh_needed=True)
    query = Query(text=text, filter=wanted, limit=limit, now=ctx.now())
    return _matches(ctx.read(), query, vector_of(ctx, text, wanted))


def _matches(reader: Reader, query: Query, vector: Embedding | None) -> list[Match]:
    """The memories that resemble the text of *query* most, best first.

    The similarity, from 0 to 1, closes the gap that the cosine leaves by half the share of telling words found in the
    memory: 1 − (1 − cosine) · (1 − share / 2). Without vectors it is the share.
    """
    found = gather(reader, query, vector, max(DEPTH, query.limit))
    asked = {word: frozenset(stems(word)) for word in content_words(query.text)}
    matches = []
    for memory in reader.get(list(found)):
        terms = shared_terms(memory, asked)
        share = len(terms) / len(asked) if asked else 0.0
        one = found[memory.id]
        near = share if vector is None else 1 - (1 - max(0.0, one.cosine)) * (1 - WORDS * share)
        matches.append(Match(memory=memory, similarity=near, cosine=one.cosine, bm25=one.bm25, terms=terms))
    matches.sort(key=lambda match: (-match.similarity, -match.bm25, -match.memory.id))
    return matches[: query.limit]


def shared_terms(memory: Memory, asked: dict[str, frozenset[str]]) -> tuple[str, ...]:
    """The words, given with their stems, that occur in *memory*."""
    held = set(stems(f"{memory.title}\n{memory.content}"))
    return tuple(word for word, wanted in asked.items() if wanted <= held)


def dimensions(ctx: Context) -> dict[int, list[str]]:
    """How many numbers a vector of this store may have, with the models that make such; empty without a model."""
    known: dict[int, list[str]] = {}
    with suppress(Unavailable):
        for model in ctx.embedder.models if ctx.embedder else ():
            known.setdefault(model.dimension, []).append(model.name)
    return known


def dimension(ctx: Context) -> int:
    """How many numbers a vector of the first model has; 0 without a model."""
    return next(iter(dimensions(ctx)), 0)


def nearest(ctx: Context, vector: Sequence[float], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
    """The memories among *wanted* nearest to *vector* by the cosine of their best passage, exactly."""
    from mnemic.numeric import np

    known = dimensions(ctx)
    if len(vector) not in known:
        sizes = " or ".join(map(str, known)) or "0"
        raise Invalid(f"query_vec has {len(vector)} numbers; vectors here have {sizes}", "query_vec")
    if not any(vector):
        raise Invalid("query_vec is all zeros, which is near to nothing", "query_vec")
    embed_backlog(ctx, wanted, is_fresh_needed=True)
    reader = ctx.read()
    # Made small before it is made short: the largest doubles are infinite as floats.
    direction = np.asarray(vector) / np.abs(vector).max()
    single = direction.astype(np.float32)
    embedding = Embedding(tuple(Reading(model, single) for model in known[len(vector)]))
    near = queries.nearest(reader, embedding, wanted, limit=limit)
    memories = {memory.id: memory for memory in reader.get([one.memory_id for one in near])}
    return [(memories[one.memory_id], one.cosine) for one in near if one.memory_id in memories]
