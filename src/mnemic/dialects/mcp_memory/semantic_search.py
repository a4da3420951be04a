"""Search by meaning, ordered by the limbic score."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from mnemic.core.context import Context
from mnemic.core.entities import visible
from mnemic.dialects.framework import Shape
from mnemic.dialects.json_reply import Reply, answer
from mnemic.dialects.mcp_memory import search as associate
from mnemic.dialects.mcp_memory.dialect import (
    MCP_MEMORY,
    STATUS,
    check_limit,
    check_query,
    memory_entry,
    model_needed,
)
from mnemic.dialects.mcp_memory.observations import is_mostly_metadata
from mnemic.dialects.validation import StorableText
from mnemic.model.filter import Hit, Query
from mnemic.model.memory import Memory

WEIGHTS = {"activo": 1.0, "pausado": 0.85, "completado": 0.7, "archivado": 0.5}
"""What the score of an entity is worth in each status."""
MOSTLY_METADATA = 0.7
"""What it is worth if most of its observations are of the kind `metadata`."""


class SearchSemantic(Shape):
    """What to look for."""

    query: Annotated[StorableText, Field(description="what it is about")]
    limit: Annotated[int, Field(description="most results; at most 50")] = 10


@MCP_MEMORY.operation(title="Search by meaning", read_only=True)
def search_semantic(ctx: Context, request: SearchSemantic) -> Reply:
    """Find entities by meaning and words, ordered by likeness, use and what they were used with."""
    check_query(request.query)
    check_limit(request.limit)
    query = Query(text=request.query, filter=visible(ctx), limit=request.limit, now=ctx.now())
    with model_needed():
        found = associate.search(ctx, query, _weight)
    results = [{**_hit(hit), "routing_strategy": found.strategy} for hit in found.hits]
    return answer(results=results, **({"pending": found.pending} if found.pending else {}))


def _weight(memory: Memory) -> float:
    weight = WEIGHTS.get(str(memory.metadata.get(STATUS)), 1.0)
    return weight * MOSTLY_METADATA if is_mostly_metadata(memory) else weight


def _hit(hit: Hit) -> dict[str, Any]:
    terms = hit.terms
    fused = {"rrf_score": round(terms["rrf"], 6)} if "rrf" in terms else {}
    return {
        **memory_entry(hit.memory),
        "limbic_score": round(hit.score, 4),
        "scoring": {name: round(terms[name], 4) for name in ("importance", "temporal_factor", "cooc_boost")},
        "distance": round(terms["distance"], 4),
        **fused,
    }
