"""Getting memories out again by what is asked: recall."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mnemic.core import recall as recalling
from mnemic.core.context import Context
from mnemic.dialects.mnemic.moments import AsOf, at
from mnemic.dialects.mnemic.shapes import HitShape, Namespace, Request, Tags, When, shown_hit
from mnemic.dialects.mnemic.vocabulary import MNEMIC
from mnemic.dialects.operation import Example, Positional, Shape
from mnemic.dialects.texts import Words
from mnemic.model.search import Filter, Query


class RecallRequest(Request):
    """What to look for, and where."""

    query: Annotated[Words, Field(min_length=1, max_length=10_000), Positional("QUERY", stdin=True)]
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
    left_out: Annotated[int | None, Field(description="relevant, but over budget_tokens")] = None


@MNEMIC.operation(
    title="Recall",
    read_only=True,
    idempotent=True,
    gathers_use=True,
    cli="recall",
    examples=[Example("", {"query": "when do we deploy?", "limit": 5})],
)
def recall(ctx: Context, request: RecallRequest) -> RecallReply:
    """Find what is known, by meaning and by words, best first. Empty without left_out = nothing relevant."""
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
            since=ctx.moment(request.since, "since") if request.since else None,
            until=ctx.moment(request.until, "until") if request.until else None,
            alive_at=now,
        ),
    )
    found = recalling.recall(ctx, query, budget_tokens=request.budget_tokens)
    return RecallReply(
        memories=[shown_hit(hit, request.explain) for hit in found.hits],
        count=len(found.hits),
        mode=found.mode,
        pending=found.pending or None,
        left_out=found.left_out or None,
    )
