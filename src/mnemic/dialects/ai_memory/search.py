"""Finding memories again: by context, by words, by priority, and at the start of a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from mnemic.core.context import Context
from mnemic.core.standards import standards_for
from mnemic.dialects.ai_memory import llm_tasks as tasks
from mnemic.dialects.ai_memory import recall as rules
from mnemic.dialects.ai_memory import toon, validation
from mnemic.dialects.ai_memory.arguments import (
    Arguments,
    Format,
    KnownNamespace,
    ListLimit,
    RecallLimit,
    Sought,
    WantedTags,
    WantedTier,
    When,
    Words,
)
from mnemic.dialects.ai_memory.dialect import AI_MEMORY, AiMemoryReply, answer
from mnemic.dialects.framework import Example
from mnemic.errors import Unavailable
from mnemic.model.enums import Tier
from mnemic.model.filter import Filter, Query
from mnemic.model.memory import Memory
from mnemic.transfer.document_entry import memory_entry

COMPACT, FULL = "toon_compact", "toon"
COLUMNS = {COMPACT: toon.COMPACT, FULL: toon.FULL}
SESSION_START = "session_start"
PLACES = 3


def written(format: str, **content: Any) -> AiMemoryReply:
    """An answer that lists memories, in the format that was asked for."""
    if format in COLUMNS:
        return AiMemoryReply.model_construct(toon.write(content, COLUMNS[format]))
    return answer(**content)


class Recall(Arguments):
    """What to remember, and where to look."""

    context: Sought
    namespace: KnownNamespace | None = None
    limit: RecallLimit = 10
    tags: WantedTags | None = None
    since: Annotated[When | None, Field(description="not older than this: 2026-01-31 or RFC 3339")] = None
    until: Annotated[When | None, Field(description="not newer than this")] = None
    format: Format = COMPACT


@AI_MEMORY.operation(
    title="Recall memories",
    read_only=True,
    idempotent=True,
    defers_uses=True,
    examples=[Example("", {"context": "how do we deploy the web app?", "limit": 5})],
)
def memory_recall(ctx: Context, request: Recall) -> AiMemoryReply:
    """Recall what is related to a context, best first. What is recalled lives longer, and long if used often."""
    now = ctx.now()
    wanted = Filter(
        namespaces=ctx.scope(request.namespace),
        tags=request.tags,
        since=None if request.since is None else validation.moment(request.since, "since", now),
        until=None if request.until is None else validation.moment(request.until, "until", now),
        alive_at=now,
    )
    query = Query(text=request.context, filter=wanted, limit=request.limit, now=now)
    found = rules.tiered(ctx, query)
    hits = [{**memory_entry(hit.memory), "score": round(hit.score, PLACES)} for hit in found.hits]
    facts = {"mode": found.mode, **({"pending": found.pending} if found.pending else {})}
    return written(request.format, **under_standards(ctx, request.namespace, hits), **facts)


def under_standards(ctx: Context, namespace: str | None, entries: list[dict[str, Any]]) -> dict[str, Any]:
    """The entries and their count, after the standards that hold in *namespace*, which stand apart from them."""
    standing = [memory_entry(memory) for memory in standards_for(ctx, namespace or ctx.namespace)]
    apart = {entry["id"] for entry in standing}
    rest = [entry for entry in entries if entry["id"] not in apart]
    standards: dict[str, Any] = {}
    if standing:
        standards = {"standard": standing[0]} if len(standing) == 1 else {"standards": standing}
    return {**standards, "memories": rest, "count": len(rest)}


class SearchArguments(Arguments):
    """Words, and where to look for them."""

    query: Words
    namespace: KnownNamespace | None = None
    tier: WantedTier | None = None
    limit: ListLimit = 20
    format: Format = COMPACT


@AI_MEMORY.operation(
    title="Search memories",
    read_only=True,
    idempotent=True,
    examples=[Example("", {"query": "axum server", "namespace": "web-app"})],
)
def memory_search(ctx: Context, request: SearchArguments) -> AiMemoryReply:
    """Find the memories that have all the words of a query in title, content or tags."""
    now = ctx.now()
    wanted = _wanted(ctx, request.namespace, request.tier)
    hits = rules.search(ctx, Query(text=request.query, filter=wanted, limit=request.limit, now=now))
    return written(request.format, results=[memory_entry(hit.memory) for hit in hits], count=len(hits))


def _wanted(ctx: Context, namespace: str | None, tier: Tier | None) -> Filter:
    return Filter(namespaces=ctx.scope(namespace), tier=tier, alive_at=ctx.now())


class Listing(Arguments):
    """Which memories to list."""

    namespace: KnownNamespace | None = None
    tier: WantedTier | None = None
    limit: ListLimit = 20
    format: Format = COMPACT


@AI_MEMORY.operation(
    title="List memories",
    read_only=True,
    idempotent=True,
    examples=[Example("", {"namespace": "web-app", "tier": "long"})],
)
def memory_list(ctx: Context, request: Listing) -> AiMemoryReply:
    """List memories by priority, then by their last change."""
    found = rules.listing(ctx, _wanted(ctx, request.namespace, request.tier), limit=request.limit)
    return written(request.format, memories=[memory_entry(one) for one in found], count=len(found))


class SessionStartArguments(Arguments):
    """Where a session begins."""

    namespace: KnownNamespace | None = None
    limit: RecallLimit = 10
    format: Format = COMPACT


@AI_MEMORY.operation(
    title="Start a session",
    read_only=True,
    idempotent=True,
    examples=[Example("", {"namespace": "web-app"})],
)
def memory_session_start(ctx: Context, request: SessionStartArguments) -> AiMemoryReply:
    """Get what to know at the start of a session: the standards, then the most important memories."""
    found = rules.listing(ctx, _wanted(ctx, request.namespace, None), limit=request.limit)
    entries = under_standards(ctx, request.namespace, [{**memory_entry(one), "score": 0.0} for one in found])
    summary = {} if request.format in COLUMNS else _summary(ctx, found)
    return written(request.format, **entries, mode=SESSION_START, **summary)


def _summary(ctx: Context, memories: Sequence[Memory]) -> dict[str, str]:
    """What a language model makes of *memories*; nothing without one."""
    if not memories or not ctx.features.has_language:
        return {}
    try:
        return {"summary": tasks.summarise(ctx, memories)}
    except Unavailable:
        return {}
