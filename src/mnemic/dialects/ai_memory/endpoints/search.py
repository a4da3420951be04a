"""Finding: lists, searches, recalls, and what there is in numbers."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from mnemic.core.context import Context
from mnemic.core.stats import overview
from mnemic.dialects.ai_memory import recall as rules
from mnemic.dialects.ai_memory.dialect import AI_MEMORY
from mnemic.dialects.ai_memory.endpoints.types import (
    MOST_LISTED,
    Among,
    AmongMore,
    FoundEntry,
    Limit,
    MemoryEntry,
    NamespaceCount,
    NoFields,
    Offset,
    Text,
    TierCount,
    at_most,
    counted,
    shown,
    shown_found,
)
from mnemic.dialects.framework import Example
from mnemic.errors import Invalid
from mnemic.model.enums import Tier
from mnemic.model.filter import Query

USUALLY_LISTED = 20
USUALLY_RECALLED, MOST_RECALLED = 10, 50


class RecallRequest(Among):
    """What one is trying to remember, and among which memories."""

    context: Text = None
    limit: Limit | None = None


class Recalled(TypedDict):
    """Recalled memories, best first, and the mode: `keyword`, `hybrid` or `hybrid+rerank`.

    *pending* is present while statements lack vectors: at most that many were matched by words only.
    """

    memories: list[FoundEntry]
    count: int
    mode: str
    pending: NotRequired[int]


@AI_MEMORY.endpoint(
    "GET /recall",
    "POST /recall",
    title="Recall",
    defers_uses=True,
    examples=[Example("", {"context": "auth flow jwt", "namespace": "my-app", "limit": 10})],
)
def recall_memories(ctx: Context, request: RecallRequest) -> Recalled:
    """Find memories for a context by any of its words and by meaning. A recall extends their TTL."""
    query = Query(
        text=_words(request.context, "context"),
        filter=request.wanted(ctx, now := ctx.now()),
        limit=at_most(request.limit, USUALLY_RECALLED, MOST_RECALLED),
        now=now,
    )
    found = rules.tiered(ctx, query)
    memories = [shown_found(hit.memory, hit.score) for hit in found.hits]
    recalled: Recalled = {"memories": memories, "count": len(memories), "mode": found.mode}
    if found.pending:
        recalled["pending"] = found.pending
    return recalled


class SearchRequest(AmongMore):
    """The words to look for, and among which memories."""

    q: Text = None


class Searched(TypedDict):
    """What was found, best first, under two names."""

    results: list[FoundEntry]
    memories: list[FoundEntry]
    count: int
    query: str


@AI_MEMORY.endpoint("GET /search", title="Search")
def search_memories(ctx: Context, request: SearchRequest) -> Searched:
    """Find the memories that hold every word of a query. Nothing is counted as a use."""
    query = Query(
        text=_words(request.q, "query"),
        filter=request.wanted(ctx, now := ctx.now()),
        limit=at_most(request.limit, USUALLY_LISTED, MOST_LISTED),
        now=now,
    )
    found = [shown_found(hit.memory, hit.score) for hit in rules.search(ctx, query)]
    return {"results": found, "memories": found, "count": len(found), "query": query.text}


def _words(value: object, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Invalid(f"{name} is required", name)
    return value


class ListRequest(AmongMore):
    """Which memories, and which page of them."""

    offset: Offset | None = None


class ListedMemories(TypedDict):
    """A page of memories."""

    memories: list[MemoryEntry]
    count: int


@AI_MEMORY.endpoint("GET /memories", title="List memories")
def list_memories(ctx: Context, request: ListRequest) -> ListedMemories:
    """The memories that pass, by priority, then by their last change."""
    limit = at_most(request.limit, USUALLY_LISTED, MOST_LISTED)
    found = rules.listing(ctx, request.wanted(ctx, ctx.now()), limit=limit, offset=request.offset or 0)
    return {"memories": [shown(memory) for memory in found], "count": len(found)}


class Namespaces(TypedDict):
    """The namespaces there are."""

    namespaces: list[NamespaceCount]


@AI_MEMORY.endpoint("GET /namespaces", title="List namespaces")
def list_namespaces(ctx: Context, request: NoFields) -> Namespaces:
    """The namespaces and how many memories each holds, the largest first."""
    return {"namespaces": counted(overview(ctx).by_namespace)}


class Stats(TypedDict):
    """The store in numbers; `expiring_soon` is within the hour."""

    total: int
    by_tier: list[TierCount]
    by_namespace: list[NamespaceCount]
    expiring_soon: int
    links_count: int
    db_size_bytes: int


@AI_MEMORY.endpoint("GET /stats", title="Statistics")
def get_stats(ctx: Context, request: NoFields) -> Stats:
    """The store in numbers."""
    seen = overview(ctx)
    tiers = [tier for tier in reversed(Tier) if seen.by_tier.get(tier)]
    return {
        "total": seen.total,
        "by_tier": [{"tier": tier, "count": seen.by_tier[tier]} for tier in tiers],
        "by_namespace": counted(seen.by_namespace),
        "expiring_soon": seen.expiring_soon,
        "links_count": seen.links,
        "db_size_bytes": seen.size_bytes,
    }
