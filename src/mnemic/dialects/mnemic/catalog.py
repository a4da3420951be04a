"""What is in the store, without a question: the commands list and namespaces."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mnemic.core.context import Context
from mnemic.core.overview import overview
from mnemic.dialects.mnemic.counting import NamespaceCount
from mnemic.dialects.mnemic.shapes import MemoryShape, Namespace, Request, Tags, When, shown
from mnemic.dialects.mnemic.vocabulary import MNEMIC
from mnemic.dialects.operation import Example, Shape
from mnemic.model.search import Filter, Order
from mnemic.model.values import State, Tier


class ListRequest(Request):
    """Which memories to list, and in which order."""

    namespace: Annotated[Namespace | None, Field(description="only this namespace")] = None
    kinds: Annotated[Tags | None, Field(description="only these kinds")] = None
    tags: Annotated[Tags | None, Field(description="only memories with one of these tags")] = None
    tier: Annotated[Tier | None, Field(description="only this tier")] = None
    state: Annotated[
        State, Field(description="in which state; archived and forgotten ones can be restored")
    ] = State.LIVING
    since: Annotated[
        When | None, Field(description="only memories since then, as 2026-01-31, yesterday or 7d")
    ] = None
    until: Annotated[When | None, Field(description="only memories until then")] = None
    order: Annotated[Order, Field(description="what comes first")] = Order.NEWEST
    limit: Annotated[int, Field(ge=1, le=10_000, description="most memories listed")] = 20
    offset: Annotated[int, Field(ge=0, lt=2**53, description="how many to skip")] = 0


class ListReply(Shape):
    """The memories, in the order asked for."""

    memories: list[MemoryShape]
    count: int


@MNEMIC.command(
    cli="list",
    title="List",
    examples=[
        Example("", {"tags": ["deploy"], "since": "7d"}),
        Example("what can be restored", {"state": "forgotten"}),
    ],
)
def list_(ctx: Context, request: ListRequest) -> ListReply:
    """List memories, newest first."""
    now = ctx.now()
    wanted = Filter(
        namespaces=ctx.scope(request.namespace),
        kinds=tuple(request.kinds) if request.kinds else None,
        tags=tuple(request.tags) if request.tags else None,
        tier=request.tier,
        since=ctx.moment(request.since, "since") if request.since else None,
        until=ctx.moment(request.until, "until") if request.until else None,
        states=frozenset({request.state}),
        alive_at=now if request.state is State.LIVING else None,
    )
    reader = ctx.store.read()
    found = reader.memories(
        reader.select(wanted, limit=request.limit, offset=request.offset, order=request.order)
    )
    return ListReply(memories=[shown(memory) for memory in found], count=len(found))


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
