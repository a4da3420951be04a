"""Listings without a query: list, facets and namespaces."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from mnemic.core import listings
from mnemic.core.context import Context
from mnemic.core.stats import overview
from mnemic.dialects.framework import Example, Shape
from mnemic.dialects.native.as_of import AsOf, at
from mnemic.dialects.native.dialect import MNEMIC
from mnemic.dialects.native.stats import NamespaceCount
from mnemic.dialects.native.types import MemoryShape, Name, Namespace, Request, Tags, When, shown
from mnemic.dialects.validation import StorableText
from mnemic.model.enums import State, Tier
from mnemic.model.filter import Filter, Order
from mnemic.model.limits import MAX_QUERY_CHARACTERS
from mnemic.model.memory import Memory

EXCERPT = 300
"""Characters of a text in a brief listing."""


class ListOrder(StrEnum):
    """Orders offered to users; the store has more."""

    PRIORITY = "priority"
    NEWEST = "newest"
    CONFIDENCE = "confidence"
    USE = "use"
    UPDATED = "updated"
    USED = "used"
    EXPIRY = "expiry"
    TITLE = "title"
    KIND = "kind"
    NAMESPACE = "namespace"


class ListState(StrEnum):
    """The states a listing can show."""

    LIVING = "living"
    ARCHIVED = "archived"
    FORGOTTEN = "forgotten"
    SUPERSEDED = "superseded"
    ANY = "any"


class FilterRequest(Request):
    """Which memories are meant."""

    namespace: Annotated[Namespace | None, Field(description="only this namespace")] = None
    kinds: Annotated[Tags | None, Field(description="only these kinds")] = None
    tags: Annotated[Tags | None, Field(description="only memories with one of these tags")] = None
    tier: Annotated[Tier | None, Field(description="only this tier")] = None
    state: Annotated[
        ListState, Field(description="in which state; archived and forgotten ones can be restored")
    ] = ListState.LIVING
    session: Annotated[int | None, Field(description="only of this session, by its id", ge=1, lt=2**53)] = (
        None
    )
    actor: Annotated[Name | None, Field(description="only memories that this client stored")] = None
    since: Annotated[
        When | None, Field(description="only memories since then, as 2026-01-31, yesterday or 7d")
    ] = None
    until: Annotated[When | None, Field(description="only memories until then")] = None
    text: Annotated[
        StorableText | None,
        Field(description="only memories that hold this, in whatever case", max_length=MAX_QUERY_CHARACTERS),
    ] = None
    as_of: Annotated[AsOf, Field(description="as they stood then")] = None

    def filter(self, ctx: Context) -> Filter:
        """The filter that is described, without the text."""
        is_living = self.state is ListState.LIVING
        every = frozenset(State) - {State.NAMED}
        since, until = ctx.period(self.since, self.until)
        return Filter(
            namespaces=ctx.scope(self.namespace),
            kinds=tuple(self.kinds) if self.kinds else None,
            tags=tuple(self.tags) if self.tags else None,
            tier=self.tier,
            session_ids=(self.session,) if self.session else None,
            actor=self.actor,
            since=since,
            until=until,
            states=every if self.state is ListState.ANY else frozenset({State(self.state)}),
            alive_at=ctx.now() if is_living else None,
        )


class ListRequest(FilterRequest):
    """Which memories to list, and in which order."""

    order: Annotated[ListOrder, Field(description="what comes first")] = ListOrder.NEWEST
    reverse: Annotated[bool, Field(description="the other way round")] = False
    limit: Annotated[int, Field(ge=1, le=10_000, description="most memories listed")] = 20
    offset: Annotated[int, Field(ge=0, lt=2**53, description="how many to skip")] = 0
    brief: Annotated[bool, Field(description=f"cut texts after {EXCERPT} characters")] = False


class ListReply(Shape):
    """The memories, in the order asked for, and how many there are in all."""

    memories: list[MemoryShape]
    count: int
    total: int


@MNEMIC.command(
    cli="list",
    title="List",
    examples=[
        Example("", {"tags": ["deploy"], "since": "7d"}),
        Example("what can be restored", {"state": "forgotten"}),
        Example("the first that will expire", {"order": "expiry", "limit": 5}),
    ],
)
def list_(ctx: Context, request: ListRequest) -> ListReply:
    """List memories, newest first."""
    ctx = at(ctx, request.as_of)
    found = listings.page(
        ctx,
        request.filter(ctx),
        text=request.text,
        order=Order(request.order),
        is_reversed=request.reverse,
        limit=request.limit,
        offset=request.offset,
    )
    listed = [shown(_cut(memory) if request.brief else memory) for memory in found.memories]
    return ListReply(memories=listed, count=len(listed), total=found.total)


def _cut(memory: Memory) -> Memory:
    """*memory* with the beginning of its text only."""
    if len(memory.content) <= EXCERPT:
        return memory
    first = memory.statements[0]._replace(text=memory.content[:EXCERPT] + "…")
    return replace(memory, statements=(first,))


class FacetsRequest(FilterRequest):
    """Which memories to count."""


class FacetsReply(Shape):
    """How many memories pass, and how many of them have each value, the most frequent values first."""

    total: int
    namespace: dict[str, int]
    kind: dict[str, int]
    tag: dict[str, int]
    tier: dict[str, int]
    state: dict[str, int]
    actor: dict[str, int]
    session: dict[str, int]


@MNEMIC.command(cli="facets", title="Facets", examples=[Example("", {"namespace": "global"})])
def facets(ctx: Context, request: FacetsRequest) -> FacetsReply:
    """Count memories by namespace, kind, tag, tier, state, client and session."""
    ctx = at(ctx, request.as_of)
    found = listings.facets(ctx, request.filter(ctx), request.text)
    return FacetsReply(total=sum(found["state"].values()), **found)


class NamespacesRequest(Request):
    """Nothing."""


class NamespacesReply(Shape):
    """The namespaces with their memory counts, the largest first."""

    namespaces: list[NamespaceCount]


@MNEMIC.command(cli="namespaces", title="Namespaces")
def namespaces(ctx: Context, request: NamespacesRequest) -> NamespacesReply:
    """List namespaces with their memory counts."""
    counts = overview(ctx).by_namespace
    return NamespacesReply(
        namespaces=[NamespaceCount(namespace=name, count=count) for name, count in counts.items()]
    )
