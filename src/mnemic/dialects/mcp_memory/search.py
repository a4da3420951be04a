"""Association: what a question brings to mind, by likeness and by how memories were used before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from mnemic.core.context import Context
from mnemic.core.embedding_queue import embed_backlog
from mnemic.core.recall import needed_vector
from mnemic.core.retention import touch
from mnemic.dialects.mcp_memory.score import LIMBIC, Strategy, strategy_for
from mnemic.model.filter import Hit, Query
from mnemic.model.memory import Memory
from mnemic.search.search import find_hits


@dataclass(frozen=True, slots=True)
class Associations:
    """The hits, best first, how they were chosen among the candidates, and how many statements had no vector."""

    hits: tuple[Hit, ...]
    strategy: Strategy
    pending: int = 0


def search(ctx: Context, query: Query, weigh: Callable[[Memory], float] | None = None) -> Associations:
    """What *query* brings to mind; each hit is remembered as used, and as used together with the others.

    Its terms are importance, temporal_factor, cooc_boost, distance and, when words took part, rrf. *weigh* may
    lower the score of what came out. Unavailable without a model.
    """
    pending = embed_backlog(ctx, query.filter, is_fresh_needed=True)
    hits = find_hits(ctx.read(), query, needed_vector(ctx, query), LIMBIC)
    if weigh:
        weighed = (replace(hit, score=hit.score * weigh(hit.memory)) for hit in hits)
        hits = sorted(weighed, key=lambda hit: -hit.score)
    touch(ctx, [hit.memory for hit in hits], together=True)
    return Associations(tuple(hits), strategy_for(query.text, query.limit), pending)
