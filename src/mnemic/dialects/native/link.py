"""Relating memories: link."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, WithJsonSchema, model_validator

from mnemic.core import graph, link_suggestions, memories
from mnemic.core.context import Context
from mnemic.core.memories import SUPERSEDES
from mnemic.dialects.framework import Example, Positional, Shape
from mnemic.dialects.native.dialect import MNEMIC
from mnemic.dialects.native.types import (
    BriefShape,
    LinkShape,
    Name,
    Reference,
    Request,
    Unit,
    described,
    shown_link,
    unlisted,
)
from mnemic.dialects.validation import StorableText

MOST_SUGGESTED = 10


class LinkRequest(Request):
    """Two memories and how they are related, or one to find others for."""

    source: Annotated[Reference, described("From: id, uid or title"), Positional("SOURCE")]
    target: Annotated[
        Reference | None, described("To: id, uid or title (default: see suggest)"), Positional("TARGET")
    ] = None
    type: Annotated[Name, described("How, e.g. depends_on, because_of")] = "related_to"
    weight: Annotated[Unit, unlisted("How strongly")] = 1.0
    reason: Annotated[StorableText | None, described("Why (default: none)")] = None
    end: Annotated[bool, described("The link no longer holds")] = False
    suggest: Annotated[
        Annotated[int, Field(ge=0, le=50)] | bool,
        WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 50}),
        described("Only propose so many targets"),
    ] = 0

    @model_validator(mode="after")
    def _one_of(self) -> LinkRequest:
        if (self.target is None) != bool(self.suggest):
            raise ValueError("give either `target` or `suggest`")
        return self


class SuggestionShape(BriefShape):
    """A suggested link target with its reasons."""

    score: float
    terms: dict[str, float]


class LinkReply(Shape):
    """The link, or suggested links, best first."""

    linked: bool
    link: LinkShape | None = None
    suggestions: list[SuggestionShape] | None = None


@MNEMIC.operation(
    title="Link",
    idempotent=True,
    cli="link",
    about="Link two memories, end a link, or suggest links.",
    examples=[
        Example("", {"source": "12", "target": "7", "type": "depends_on", "reason": "CI runs first"}),
        Example("suggest links", {"source": "12", "suggest": 5}),
    ],
)
def link(ctx: Context, request: LinkRequest) -> LinkReply:
    """Relate two memories when one explains, causes, needs or contradicts the other; or end that link."""
    if request.target is None:
        return LinkReply(linked=False, suggestions=_suggested(ctx, request.source, request.suggest))
    if request.end:
        return LinkReply(
            linked=False, link=shown_link(graph.end_link(ctx, request.source, request.target, request.type))
        )
    made = graph.link(
        ctx,
        request.source,
        request.target,
        request.type,
        request.weight,
        request.reason,
        supersedes=request.type == SUPERSEDES,
    )
    return LinkReply(linked=True, link=shown_link(made))


def _suggested(ctx: Context, source: int | str, wanted: int | bool) -> list[SuggestionShape]:
    limit = MOST_SUGGESTED if isinstance(wanted, bool) else wanted
    found = link_suggestions.suggest(ctx, memories.find(ctx, source).id, namespaces=ctx.scope(), limit=limit)
    return [
        SuggestionShape(
            id=one.memory.id,
            title=one.memory.title,
            score=round(one.weighted, 4),
            terms={name: round(value, 4) for name, value in one.terms.items()},
        )
        for one in found
    ]
