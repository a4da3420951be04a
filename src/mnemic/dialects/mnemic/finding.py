"""Getting memories out again: recall, open, verify, stats."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mnemic.core import conflicts, grounding, history, memories, overview
from mnemic.core import recall as recalling
from mnemic.core.context import Context
from mnemic.dialects.mnemic.shapes import (
    ConflictShape,
    HitShape,
    LinkShape,
    MemoryShape,
    Namespace,
    Reference,
    Tags,
    Text,
    When,
    shown,
    shown_conflict,
    shown_hit,
    shown_link,
)
from mnemic.dialects.mnemic.vocabulary import MNEMIC
from mnemic.dialects.operation import Example, Positional, Shape
from mnemic.dialects.texts import Words
from mnemic.model.search import Filter, Query
from mnemic.model.values import parse_moment

AsOf = When | None
"""The moment a read answers for; recall explains it to the model, once for all tools."""


def at(ctx: Context, as_of: str | None) -> Context:
    """The context a read looks into: the present, or the store as it stood."""
    return history.as_of(ctx, parse_moment(as_of, "as_of", ctx.now())) if as_of else ctx


class RecallRequest(Shape):
    """What to look for, and where."""

    query: Annotated[Words, Field(min_length=1, max_length=10_000)]
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    namespace: Namespace | None = None
    kinds: Tags | None = None
    tags: Tags | None = None
    since: Annotated[When | None, Field(description="2026-01-31 or 7d")] = None
    until: When | None = None
    as_of: Annotated[AsOf, Field(description="as the store stood then")] = None
    budget_tokens: Annotated[int | None, Field(ge=1, le=1_000_000)] = None
    explain: bool = False


class RecallReply(Shape):
    """What is known, best first."""

    memories: list[HitShape]
    count: int
    mode: str
    pending: Annotated[int | None, Field(description="memories without vectors yet")] = None


@MNEMIC.operation(
    title="Recall",
    read_only=True,
    idempotent=True,
    gathers_use=True,
    examples=[Example("", {"query": "when do we deploy?", "limit": 5})],
)
def recall(ctx: Context, request: RecallRequest) -> RecallReply:
    """Find what is known about something, by meaning and by words, best first. Empty = nothing relevant."""
    ctx = at(ctx, request.as_of)
    now = ctx.now()
    query = Query(
        text=request.query,
        limit=request.limit,
        now=now,
        filter=Filter(
            namespaces=ctx.scope(request.namespace),
            kinds=tuple(request.kinds) if request.kinds else None,
            tags=tuple(request.tags) if request.tags else None,
            since=parse_moment(request.since, "since", now) if request.since else None,
            until=parse_moment(request.until, "until", now) if request.until else None,
            alive_at=now,
        ),
    )
    found = recalling.recall(ctx, query, budget_tokens=request.budget_tokens)
    return RecallReply(
        memories=[shown_hit(hit, request.explain) for hit in found.hits],
        count=len(found.hits),
        mode=found.mode,
        pending=found.pending or None,
    )


class OpenRequest(Shape):
    """Which memories to read."""

    ids: Annotated[
        list[Reference],
        Field(min_length=1, max_length=100, description="ids, uids or titles"),
        Positional("MEMORY"),
    ]
    namespace: Namespace | None = None
    as_of: AsOf = None


class OpenedShape(MemoryShape):
    """A memory with its links."""

    links: list[LinkShape] | None = None


class OpenReply(Shape):
    """The memories, in the order asked for."""

    memories: list[OpenedShape]
    count: int


@MNEMIC.operation(
    title="Open",
    read_only=True,
    idempotent=True,
    cli="open",
    examples=[Example("", {"ids": [12, "Deploys"]})],
)
def open_(ctx: Context, request: OpenRequest) -> OpenReply:
    """Read memories whole, with their links."""
    ctx = at(ctx, request.as_of)
    opened = memories.open_all(ctx, request.ids, request.namespace)
    return OpenReply(
        memories=[
            OpenedShape.model_construct(
                None, **dict(shown(memory)), links=[shown_link(edge) for edge in edges] or None
            )
            for memory, edges in opened
        ],
        count=len(opened),
    )


class VerifyRequest(Shape):
    """A claim to check against what is known."""

    claim: Annotated[Text, Positional("CLAIM")]
    namespace: Namespace | None = None
    limit: Annotated[int, Field(ge=1, le=20)] = 5
    as_of: AsOf = None


class EvidenceShape(Shape):
    """A memory that bears on the claim, and how much of the claim it backs."""

    id: int
    title: str
    content: str
    support: float
    outdated: bool | None = None


class VerifyReply(Shape):
    """The verdict, what it rests on, and what in memory stands against that."""

    status: str
    confidence: float
    evidence: list[EvidenceShape]
    missing: list[str] | None = None
    conflicts: list[ConflictShape] | None = None


@MNEMIC.operation(
    title="Verify",
    read_only=True,
    idempotent=True,
    cli="verify",
    examples=[Example("", {"claim": "We deploy on Fridays"})],
)
def verify(ctx: Context, request: VerifyRequest) -> VerifyReply:
    """Check a claim against memory: verified, partial or ungrounded, with evidence."""
    ctx = at(ctx, request.as_of)
    verdict = grounding.verify(ctx, request.claim, request.namespace, request.limit)
    against = conflicts.among(ctx, [item.memory for item in verdict.evidence])
    return VerifyReply(
        status=verdict.status,
        confidence=round(verdict.confidence, 3),
        evidence=[
            EvidenceShape(
                id=item.memory.id,
                title=item.memory.title,
                content=item.memory.content,
                support=round(item.support, 3),
                outdated=item.is_outdated or None,
            )
            for item in verdict.evidence
        ],
        missing=list(verdict.missing) or None,
        conflicts=[shown_conflict(one) for one in against] or None,
    )


class StatsRequest(Shape):
    """Nothing, or a namespace and a moment."""

    namespace: Namespace | None = None
    as_of: AsOf = None


class TierCount(Shape):
    """How many memories a tier has."""

    tier: str
    count: int


class NamespaceCount(Shape):
    """How many memories a namespace has."""

    namespace: str
    count: int


class StatsReply(Shape):
    """The store in numbers."""

    total: int
    by_tier: list[TierCount]
    by_namespace: list[NamespaceCount]
    by_kind: dict[str, int]
    by_state: dict[str, int]
    expiring_soon: int
    links_count: int
    pending_vectors: int
    model: str | None = None
    changes: int
    db_size_bytes: int


@MNEMIC.operation(title="Stats", read_only=True, idempotent=True)
def stats(ctx: Context, request: StatsRequest) -> StatsReply:
    """The store in numbers."""
    seen = overview.overview(at(ctx, request.as_of), request.namespace)
    return StatsReply(
        total=seen.total,
        by_tier=[TierCount(tier=name, count=count) for name, count in seen.by_tier.items()],
        by_namespace=[
            NamespaceCount(namespace=name, count=count) for name, count in seen.by_namespace.items()
        ],
        by_kind=dict(seen.by_kind),
        by_state=dict(seen.by_state),
        expiring_soon=seen.expiring_soon,
        links_count=seen.links,
        pending_vectors=seen.pending,
        model=seen.model,
        changes=seen.changes,
        db_size_bytes=seen.size_bytes,
    )
