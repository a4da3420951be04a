"""The graph of memories: link and explore."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from mnemic.core import graph, memories, suggesting
from mnemic.core import impact as impacts
from mnemic.core.context import Context
from mnemic.dialects.mnemic.finding import AsOf, at
from mnemic.dialects.mnemic.shapes import (
    BriefShape,
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

MOST_SUGGESTED = 10
RESTING_DEPTH = 5


class LinkRequest(Shape):
    """Two memories and how they are related, or one to find others for."""

    source: Reference
    target: Reference | None = None
    type: Name = "related_to"
    weight: Unit = 1.0
    reason: Words | None = None
    end: bool = False
    suggest: Annotated[int, Field(ge=1, le=50)] | bool = False

    @model_validator(mode="after")
    def _one_of(self) -> LinkRequest:
        if (self.target is None) != bool(self.suggest):
            raise ValueError("give either target or suggest")
        return self


class SuggestionShape(BriefShape):
    """A memory that could be linked, and what speaks for it."""

    score: float
    terms: dict[str, float]


class LinkReply(Shape):
    """The link as it now stands, or memories that could be linked, best first."""

    linked: bool
    link: LinkShape | None = None
    suggestions: list[SuggestionShape] | None = None


@MNEMIC.operation(
    title="Link",
    idempotent=True,
    examples=[
        Example("", {"source": 12, "target": 7, "type": "depends_on", "reason": "CI runs first"}),
        Example("what could be linked", {"source": 12, "suggest": True}),
    ],
)
def link(ctx: Context, request: LinkRequest) -> LinkReply:
    """Relate two memories, change that link or end it; or suggest so many to link with source."""
    if request.target is None:
        return LinkReply(linked=False, suggestions=_suggested(ctx, request.source, request.suggest))
    if request.end:
        return LinkReply(
            linked=False, link=shown_link(graph.end_link(ctx, request.source, request.target, request.type))
        )
    made = graph.link(ctx, request.source, request.target, request.type, request.weight, request.reason)
    return LinkReply(linked=True, link=shown_link(made))


def _suggested(ctx: Context, source: int | str, wanted: int | bool) -> list[SuggestionShape]:
    limit = MOST_SUGGESTED if isinstance(wanted, bool) else wanted
    found = suggesting.suggest(ctx, memories.find(ctx, source).id, namespaces=ctx.scope(), limit=limit)
    return [
        SuggestionShape(
            id=one.memory.id,
            title=one.memory.title,
            score=round(one.weighted, 4),
            terms={name: round(getattr(one, name), 4) for name in ("cosine", "bm25", "entity", "temporal")},
        )
        for one in found
    ]


class ExploreRequest(Shape):
    """Where to start, and how far to go."""

    id: Annotated[Reference, Positional("MEMORY")]
    to: Reference | None = None
    impact: Annotated[bool, Field(description="what rests on it")] = False
    direction: Direction = Direction.BOTH
    types: Tags | None = None
    depth: Annotated[int, Field(ge=1, le=10)] = 1
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    as_of: AsOf = None

    @model_validator(mode="after")
    def _one_way(self) -> ExploreRequest:
        if self.impact and self.model_fields_set & {"to", "direction", "types"}:
            raise ValueError("impact takes no to, direction or types")
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
    examples=[
        Example("around", {"id": 12, "depth": 2}),
        Example("path", {"id": 12, "to": 40}),
        Example("before it changes", {"id": 12, "impact": True}),
    ],
)
def explore(ctx: Context, request: ExploreRequest) -> ExploreReply:
    """Walk the links around a memory, or find the shortest path `to` another."""
    ctx = at(ctx, request.as_of)
    types = tuple(request.types) if request.types else None
    if request.impact:
        depth = request.depth if "depth" in request.model_fields_set else RESTING_DEPTH
        found = impacts.impact(ctx, request.id, depth, request.limit)
    elif request.to is not None:
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
