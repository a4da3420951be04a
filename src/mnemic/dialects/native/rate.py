"""What proved useful: rate."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from mnemic.core.context import Context
from mnemic.core.trust import ratings
from mnemic.core.trust.ratings import Rated
from mnemic.dialects.framework import Example, Flags, Positional, Shape
from mnemic.dialects.native.dialect import MNEMIC
from mnemic.dialects.native.types import BriefShape, Reference, Request, described
from mnemic.model.limits import MAX_ITEMS


class RateRequest(Request):
    """Memories, links by their numbers, and whether they helped."""

    ids: Annotated[
        list[Reference],
        described("The memories: ids, uids or titles (default: see links)", max_length=MAX_ITEMS),
        Positional("MEMORY"),
    ] = []
    links: Annotated[
        list[Annotated[int, Field(ge=1, lt=2**63)]],
        described("Links by id, from open (default: see ids)", max_length=MAX_ITEMS),
    ] = []
    useful: Annotated[bool, described("Whether they helped"), Flags("--useful/--useless")]
    confidence: Annotated[float | None, described("How good the match was (default: none)", ge=1, le=10)] = (
        None
    )

    @model_validator(mode="after")
    def _something(self) -> RateRequest:
        if not self.ids and not self.links:
            raise ValueError("give `ids` or `links`")
        return self


class RatedShape(BriefShape):
    """A memory and how good it now counts for, 0 to 10."""

    quality: float | None = None
    rating: float | None = None
    ratings: int
    forgotten: bool | None = None


class RatedLinkShape(Shape):
    """A link and how good it now counts for."""

    id: int
    quality: float | None = None
    rating: float | None = None
    ratings: int


class RateReply(Shape):
    """What was rated."""

    memories: list[RatedShape]
    links: list[RatedLinkShape] | None = None


@MNEMIC.operation(
    title="Rate",
    cli="rate",
    about="Say whether memories or links helped.",
    examples=[Example("", {"ids": ["12"], "useful": True, "confidence": 8})],
)
def rate(ctx: Context, request: RateRequest) -> RateReply:
    """Say whether recalled memories or links helped, so that better ones come first.

    A memory that was useless at confidence 1 or 2 is deleted.
    """
    return _rated(ratings.rate_named(ctx, request.ids, request.links, request.useful, request.confidence))


def _rated(rated: Rated) -> RateReply:
    gone = {memory.id for memory in rated.forgotten}
    return RateReply(
        memories=[
            RatedShape(
                id=memory.id,
                title=memory.title,
                quality=_short(memory.quality),
                rating=_short(memory.rating),
                ratings=memory.rating_count,
                forgotten=memory.id in gone or None,
            )
            for memory in rated.memories
        ],
        links=[
            RatedLinkShape(
                id=edge.id,
                quality=_short(edge.quality),
                rating=_short(edge.rating),
                ratings=edge.rating_count,
            )
            for edge in rated.links
        ]
        or None,
    )


def _short(figure: float | None) -> float | None:
    return None if figure is None else round(figure, 2)
