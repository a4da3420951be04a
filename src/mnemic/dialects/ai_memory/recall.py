"""Recall by feature tier, search for every word, and listing, in ai-memory's order."""

from __future__ import annotations

from mnemic.core.context import Context
from mnemic.core.embedding_queue import embed_backlog
from mnemic.core.recall import HYBRID, KEYWORD, Recollection, ordered, vector_of
from mnemic.core.retention import touch
from mnemic.dialects.ai_memory import score
from mnemic.model.enums import Features
from mnemic.model.filter import Filter, Hit, Query
from mnemic.model.memory import Memory

RERANKED = "hybrid+rerank"


def tiered(ctx: Context, query: Query) -> Recollection:
    """What ai-memory's feature tier recalls: `keyword`, `hybrid` or `hybrid+rerank`, any word, best first.

    Counts as a use of every hit.
    """
    pending = embed_backlog(ctx, query.filter, is_fresh_needed=True)
    vector = vector_of(ctx, query.text, query.filter)
    if vector is None:
        found = Recollection(tuple(ordered(ctx, query, None, score.RECALLED)), KEYWORD)
    else:
        is_ranked_again = ctx.features is Features.AUTONOMOUS
        profile = score.RERANKED if is_ranked_again else score.HYBRID
        hits = tuple(ordered(ctx, query, vector, profile))
        found = Recollection(hits, RERANKED if is_ranked_again else HYBRID, pending)
    touch(ctx, [hit.memory for hit in found.hits])
    return found


def search(ctx: Context, query: Query) -> list[Hit]:
    """The memories that hold every word of *query*, in the order of the six factors without the tier. Counts no use."""
    return ordered(ctx, query, None, score.SEARCHED)


def listing(ctx: Context, wanted: Filter, *, limit: int, offset: int = 0) -> list[Memory]:
    """The memories that pass *wanted*: by priority, then by their last change."""
    reader = ctx.read()
    return reader.get(reader.select(wanted, limit=limit, offset=offset))
