"""Walking the graph of memories: explore."""

from __future__ import annotations

from typing import Annotated

from pydantic import model_validator

from mnemic.core import traversal
from mnemic.core.context import Context
from mnemic.core.trust import impact as impacts
from mnemic.dialects.framework import Example, Positional, Shape
from mnemic.dialects.native.as_of import AsOf, at
from mnemic.dialects.native.dialect import MEMORIES_APP, MNEMIC
from mnemic.dialects.native.types import (
    LinkShape,
    MemoryShape,
    Reference,
    Request,
    Tags,
    described,
    shown,
    shown_link,
)
from mnemic.model.graph import Direction

RESTING_DEPTH = 5


class ExploreRequest(Request):
    """Where to start, and how far to go."""

    id: Annotated[Reference, described("Where to start: id, uid or title"), Positional("MEMORY")]
    to: Annotated[Reference | None, described("Find the shortest path to it (default: none)")] = None
    impact: Annotated[bool, described("Show what depends on it instead")] = False
    direction: Annotated[Direction, described("Which links to follow")] = Direction.BOTH
    types: Annotated[Tags | None, described("Only these link types (default: all)")] = None
    depth: Annotated[int, described("How many links away", ge=1, le=10)] = 1
    limit: Annotated[int, described("Most memories", ge=1, le=500)] = 50
    as_of: Annotated[AsOf, described("At that moment (default: now)")] = None

    @model_validator(mode="after")
    def _one_way(self) -> ExploreRequest:
        if self.impact and self.model_fields_set & {"to", "direction", "types"}:
            raise ValueError("`impact` takes no `to`, `direction` or `types`")
        return self


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
    app=MEMORIES_APP,
    about="Follow links around a memory, to another one, or to what depends on it.",
    examples=[
        Example("around", {"id": "12", "depth": 2}),
        Example("path", {"id": "12", "to": "40"}),
        Example("impact of a change", {"id": "12", "impact": True}),
    ],
)
def explore(ctx: Context, request: ExploreRequest) -> ExploreReply:
    """Follow links to see what a memory is connected with, how two are connected, or what depends on one."""
    ctx = at(ctx, request.as_of)
    types = tuple(request.types) if request.types else None
    depth = request.depth if "depth" in request.model_fields_set else None
    if request.impact:
        found = impacts.impact(ctx, request.id, depth or RESTING_DEPTH, request.limit)
    elif request.to is not None:
        longest = depth or traversal.LONGEST_PATH
        found = traversal.path(ctx, request.id, request.to, request.direction, types, longest)
    else:
        found = traversal.explore(ctx, request.id, request.direction, types, request.depth, request.limit)
    return ExploreReply(
        memories=[
            ReachedShape.model_construct(None, **dict(shown(memory)), distance=distance)
            for memory, distance in found.memories
        ],
        links=[shown_link(edge) for edge in found.edges],
    )
