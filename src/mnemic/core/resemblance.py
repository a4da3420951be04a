"""Memories that resemble a text or a vector."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from mnemic.core.context import Context
from mnemic.core.recall import catch_up, vector_of
from mnemic.embedding.base import Embedding, Reading
from mnemic.errors import Invalid, Unavailable
from mnemic.model.memory import Memory
from mnemic.model.search import Filter, Query
from mnemic.retrieval import resemblance
from mnemic.retrieval.resemblance import Match


def resembling(ctx: Context, text: str, wanted: Filter, limit: int) -> list[Match]:
    """The memories among *wanted* that resemble *text* most, by meaning and words, best first."""
    catch_up(ctx, wanted, is_fresh_needed=True)
    query = Query(text=text, filter=wanted, limit=limit, now=ctx.now())
    return resemblance.resembling(ctx.store.read(), query, vector_of(ctx, text, wanted))


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
    catch_up(ctx, wanted, is_fresh_needed=True)
    reader = ctx.store.read()
    # Made small before it is made short: the largest doubles are infinite as floats.
    direction = np.asarray(vector) / np.abs(vector).max()
    single = direction.astype(np.float32)
    asked = Embedding(tuple(Reading(model, single) for model in known[len(vector)]))
    near = reader.nearest(asked, wanted, limit=limit)
    memories = {memory.id: memory for memory in reader.memories([one.memory_id for one in near])}
    return [(memories[one.memory_id], one.similarity) for one in near if one.memory_id in memories]
