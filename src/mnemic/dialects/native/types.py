"""Types shared by native operations: references, texts, and a memory in a reply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    AfterValidator,
    Field,
    PlainSerializer,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)
from typing_extensions import TypedDict

from mnemic.core.context import GLOBAL, Context
from mnemic.dialects.framework import Flags, Metavar, Shape
from mnemic.dialects.json_schema import ALWAYS, UNLISTED
from mnemic.dialects.validation import StorableText, storable
from mnemic.model.enums import State, Tier
from mnemic.model.graph import Edge
from mnemic.model.limits import CONFIDENCE, TOO_LONG, is_statement
from mnemic.model.memory import Memory
from mnemic.model.time import Moment, iso

if TYPE_CHECKING:
    from mnemic.core.trust.conflicts import Contradiction


def _fits(text: str) -> str:
    if not is_statement(text):
        raise ValueError(TOO_LONG)
    return text


def _blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


Text = Annotated[StorableText, AfterValidator(_blank), AfterValidator(_fits)]
Title = Annotated[
    str, StringConstraints(min_length=1, max_length=512, strip_whitespace=True), AfterValidator(storable)
]
Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=128, strip_whitespace=True),
    AfterValidator(storable),
    Metavar("NAME"),
]
Tags = Annotated[list[Name], Field(max_length=50)]
Namespace = Annotated[Name, Flags("-n", "--namespace")]
Reference = Annotated[
    Annotated[int, Field(ge=1, lt=2**63)] | Title,
    WithJsonSchema({"type": "string"}),
]
"""A memory by its id, uid or title. Some clients refuse a choice of types, so the schema says text; numbers do too."""
Everywhere = Annotated[
    Namespace | None,
    Field(description="Where to look; * is everywhere (default: this project and global)"),
]
Unit = Annotated[float, Field(**CONFIDENCE.bounds)]
When = Annotated[StorableText, StringConstraints(max_length=40), Metavar("TIME")]
Time = Annotated[Moment, PlainSerializer(iso, return_type=str, when_used="json")]


def to_the_minute(moment: Moment) -> str:
    """*moment* in UTC without seconds, as in 2026-01-31T09:30Z."""
    return f"{iso(moment)[:16]}Z"


Minute = Annotated[Moment, PlainSerializer(to_the_minute, return_type=str, when_used="json")]


def described(text: str, **limits: Any) -> Any:
    """A field that tool lists explain so."""
    return Field(description=text, **limits)


def unlisted(text: str, when: str = ALWAYS, **limits: Any) -> Any:
    """A field that is accepted and documented, but left out of tool lists."""
    return Field(description=text, json_schema_extra={UNLISTED: when}, **limits)


Recorded = Annotated[
    bool, unlisted("Count it as a use and keep the question in the recall log (default: true)")
]


class Request(Shape):
    """A native request. Null counts as not given: some clients send every field."""

    @model_validator(mode="before")
    @classmethod
    def _given(cls, fields: Any) -> Any:
        if not isinstance(fields, dict):
            return fields
        return {
            name: value for name, value in fields.items() if value is not None or name not in cls.model_fields
        }


class MemoryShape(Shape):
    """A memory in a native reply; empty fields are omitted."""

    id: int
    uid: str
    title: str
    text: str
    kind: str
    namespace: str
    tags: list[str] | None = None
    summary: str | None = None
    tier: Tier
    priority: int
    confidence: float
    source: str | None = None
    session: int | None = None
    metadata: dict[str, object] | None = None
    occurred_at: Time | None = None
    created_at: Time
    updated_at: Time
    last_accessed_at: Time | None = None
    access_count: int
    expires_at: Time | None = None
    state: State | None = None
    state_reason: str | None = None


class BriefShape(Shape):
    """A memory by its number and title."""

    id: int
    title: str


class TurnShape(Shape):
    """A neighbouring turn of a hit's session."""

    id: int
    text: str
    when: Minute


class HitShape(Shape):
    """A memory that answers a query, in as few words as the next step needs."""

    id: int
    title: str | None = None
    """Only where the text does not begin with it."""
    text: str
    tags: list[str] | None = None
    when: Minute
    relevance: float | None = None
    namespace: str | None = None
    """Only where it is not the one this connection writes to."""
    before: list[TurnShape] | None = None
    after: list[TurnShape] | None = None
    signals: dict[str, float] | None = None
    """On request: what the relevance is computed from, and the terms of the score that orders the hits."""
    terms: dict[str, float] | None = None


class ExcerptShape(Shape):
    """What a memory says, in as few words as it takes to know whether to open it."""

    id: int
    title: str | None = None
    """Only where the text does not begin with it."""
    text: str
    kind: str | None = None
    """Only where it is no note."""
    tags: list[str] | None = None
    when: Minute
    namespace: str | None = None
    """Only where it is not the one this connection writes to."""


class FullHitShape(MemoryShape):
    """The same with everything that is known of the memory."""

    when: Minute
    relevance: float | None = None
    score: float
    before: list[TurnShape] | None = None
    after: list[TurnShape] | None = None
    signals: dict[str, float] | None = None
    terms: dict[str, float] | None = None


class ConflictShape(Shape):
    """Two contradicting memories; *linked* if by a link, else by their texts."""

    one: BriefShape
    other: BriefShape
    linked: bool
    reason: str | None = None


class LinkShape(Shape):
    """A link between two memories."""

    id: int
    source: int
    target: int
    type: str
    weight: float
    reason: str | None = None
    created_at: Time
    ended_at: Time | None = None


def fields_of(memory: Memory) -> dict[str, object]:
    """The fields of a MemoryShape."""
    return {
        "id": memory.id,
        "uid": memory.uid,
        "title": memory.title,
        "text": memory.content,
        "kind": memory.kind,
        "namespace": memory.namespace,
        "tags": list(memory.tags) or None,
        "summary": memory.summary,
        "tier": memory.tier,
        "priority": memory.priority,
        "confidence": memory.confidence,
        "source": memory.source,
        "session": memory.session_id,
        "metadata": dict(memory.metadata) or None,
        "occurred_at": memory.valid_from,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "last_accessed_at": memory.accessed_at,
        "access_count": memory.access_count,
        "expires_at": memory.expires_at,
        "state": None if memory.state is State.LIVING else memory.state,
        "state_reason": memory.state_reason,
    }


def excerpt_of(ctx: Context, memory: Memory, longest: int) -> ExcerptShape:
    """*memory* in short, its text cut after *longest* characters."""
    kind = None if memory.kind == "note" else memory.kind
    return ExcerptShape.model_construct(
        None, **brief_fields(ctx, memory, longest), kind=kind, when=memory.occurred_at
    )


def brief_fields(ctx: Context, memory: Memory, longest: int) -> dict[str, Any]:
    """What an answer of few words says of *memory*; a text of more than *longest* characters is cut at its end."""
    text, home = memory.content, ctx.namespace or GLOBAL
    return {
        "id": memory.id,
        "title": None if text.startswith(memory.title.rstrip("…. ")) else memory.title,
        "text": text if len(text) <= longest else f"{text[:longest]}… (`open` {memory.id} for all)",
        "tags": list(memory.tags) or None,
        "namespace": None if memory.namespace == home else memory.namespace,
    }


def shown(memory: Memory) -> MemoryShape:
    """*memory* as the native dialect shows it."""
    return MemoryShape.model_construct(None, **fields_of(memory))


def brief(memory: Memory) -> BriefShape:
    """*memory* by its number and title."""
    return BriefShape(id=memory.id, title=memory.title)


def shown_conflict(conflict: Contradiction) -> ConflictShape:
    """*conflict* in a native reply."""
    return ConflictShape(
        one=brief(conflict.one),
        other=brief(conflict.other),
        linked=conflict.is_linked,
        reason=conflict.reason,
    )


class ConflictEntry(TypedDict):
    """A field that both sides changed."""

    title: str
    field: str
    here: Any
    there: Any
    kept: Any


def shown_link(edge: Edge) -> LinkShape:
    """*edge* in a native reply."""
    return LinkShape(
        id=edge.id,
        source=edge.source_id,
        target=edge.target_id,
        type=edge.type,
        weight=edge.weight,
        reason=edge.reason,
        created_at=edge.created_at,
        ended_at=edge.valid_to,
    )
