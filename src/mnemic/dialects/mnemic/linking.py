"""The graph of memories: link and explore."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mnemic.core import graph
from mnemic.core.context import Context
from mnemic.dialects.mnemic.finding import AsOf, at
from mnemic.dialects.mnemic.shapes import (
    LinkShape,
    MemoryShape,
    Name,
    Reference,
    Tags,
    Unit,
    shown,
    shown_link,
)
from mnemic.dialects.mnemic.vocabulary import MNEMIC
from mnemic.dialects.operation import Example, Positional, Shape
from mnemic.dialects.texts import Words
from mnemic.model.graph import Direction


class LinkRequest(Shape):
    """Two memories and how they are related."""

    source: Reference
    target: Reference
    type: Name = "related_to"
    weight: Unit = 1.0
    reason: Words | None = None
    end: Annotated[bool, Field(description="end the link instead")] = False


class LinkReply(Shape):
    """The link as it now stands."""

    linked: bool
    link: LinkShape


@MNEMIC.operation(
    title="Link",
    idempotent=True,
    examples=[Example("", {"source": 12, "target": 7, "type": "depends_on", "reason": "CI runs first"})],
)
def link(ctx: Context, request: LinkRequest) -> LinkReply:
    """Relate two memories, update that link's weight or reason, or end it."""
    if request.end:
        return LinkReply(
            linked=False, link=shown_link(graph.end_link(ctx, request.source, request.target, request.type))
        )
    made = graph.link(ctx, request.source, request.target, request.type, request.weight, request.reason)
    return LinkReply(linked=True, link=shown_link(made))


class ExploreRequest(Shape):
    """Where to start, and how far to go."""

    id: Annotated[Reference, Positional("MEMORY")]
    to: Annotated[Reference | None, Field(description="shortest path to this one")] = None
    direction: Direction = Direction.BOTH
    types: Tags | None = None
    depth: Annotated[int, Field(ge=1, le=10)] = 1
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    as_of: AsOf = None


class ReachedShape(MemoryShape):
    """A memory and how many links away it is."""

    distance: int


class ExploreReply(Shape):
    """The memories reached, nearest first, and the links between them. No path: both empty."""

    memories: list[ReachedShape]
    links: list[LinkShape]


@MNEMIC.operation(
    title="Explore",
    read_only=True,
    idempotent=True,
    cli="explore",
    examples=[Example("around", {"id": 12, "depth": 2}), Example("path", {"id": 12, "to": 40})],
)
def explore(ctx: Context, request: ExploreRequest) -> ExploreReply:
    """Walk the links around a memory, or find the shortest path to another."""
    ctx = at(ctx, request.as_of)
    types = tuple(request.types) if request.types else None
    if request.to is not None:
        found = graph.path(ctx, request.id, request.to, request.direction, types)
    else:
        found = graph.explore(ctx, request.id, request.direction, types, request.depth, request.limit)
    return ExploreReply(
        memories=[
            ReachedShape.model_construct(None, **dict(shown(memory)), distance=distance)
            for memory, distance in found.memories
        ],
        links=[shown_link(edge) for edge in found.edges],
    )
