"""What the endpoints are given and what they answer with.

A request lets every value through that `rules` words a refusal for, and ignores what it does not know. An answer is a
plain dictionary: a recall is made hundreds of times a second, and building models would take longer than the search.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, cast

from pydantic import ConfigDict, Field, WithJsonSchema
from typing_extensions import TypedDict

from mnemic.core.context import Context
from mnemic.dialects.ai_memory import validation
from mnemic.dialects.ai_memory.archive_entry import archived_entry
from mnemic.dialects.ai_memory.link_list import links_of
from mnemic.dialects.framework import Shape
from mnemic.errors import Invalid
from mnemic.model.enums import Tier
from mnemic.model.filter import Filter
from mnemic.model.memory import Memory
from mnemic.model.time import Moment
from mnemic.transfer import document_entry

MOST_LISTED = 200

Text = Annotated[Any, WithJsonSchema({"type": "string"})]
Texts = Annotated[Any, WithJsonSchema({"type": "array", "items": {"type": "string"}})]
TierName = Annotated[Any, WithJsonSchema({"type": "string", "enum": list(Tier)})]
Priority = Annotated[Any, WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 10})]
Confidence = Annotated[Any, WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})]
Source = Annotated[Any, WithJsonSchema({"type": "string", "enum": list(validation.SOURCES)})]
Relation = Annotated[Any, WithJsonSchema({"type": "string", "enum": list(validation.RELATIONS)})]
Time = Annotated[Any, WithJsonSchema({"type": "string", "format": "date-time"})]
Seconds = Annotated[
    Any, WithJsonSchema({"type": "integer", "minimum": 1, "maximum": validation.MAX_TTL_SECS})
]
Metadata = Annotated[Any, WithJsonSchema({"type": "object"})]
Limit = Annotated[int, Field(ge=1, description="what is above the maximum counts as the maximum")]
Offset = Annotated[int, Field(ge=0, le=2**53)]


class EndpointRequest(Shape):
    """A request; unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore")


class NoFields(EndpointRequest):
    """A request that needs no arguments."""


class IdRequest(EndpointRequest):
    """A memory by its id or the beginning of it."""

    id: Text


class Among(EndpointRequest):
    """Which memories count."""

    namespace: str | None = None
    tags: str | None = Field(None, description="one tag")
    since: Time = None
    until: Time = None

    def wanted(self, ctx: Context, now: Moment, **more: Any) -> Filter:
        """The filter that this is."""
        return Filter(
            namespaces=ctx.scope(self.namespace or None),
            tags=(self.tags,) if self.tags else None,
            since=validation.moment(self.since, "since", now) if self.since else None,
            until=validation.moment(self.until, "until", now) if self.until else None,
            alive_at=now,
            **more,
        )


class AmongMore(Among):
    """The same, with what only lists and searches take."""

    tier: TierName = None
    min_priority: int | None = Field(None, ge=0, le=100)
    limit: Limit | None = None

    def wanted(self, ctx: Context, now: Moment, **more: Any) -> Filter:
        """The filter that this is."""
        tier = validation.tier(self.tier) if self.tier else None
        return super().wanted(ctx, now, tier=tier, min_priority=self.min_priority, **more)


class MemoryEntry(TypedDict):
    """A memory; unset fields are omitted."""

    id: str
    tier: str
    namespace: str
    title: str
    content: str
    tags: list[str]
    priority: int
    confidence: float
    source: str
    access_count: int
    created_at: str
    updated_at: str
    last_accessed_at: NotRequired[str]
    expires_at: NotRequired[str]
    metadata: dict[str, Any]
    kind: NotRequired[str]


class FoundEntry(MemoryEntry):
    """A memory that was found, and how well it fits."""

    score: float


class LinkEntry(TypedDict):
    """A link from one memory to another."""

    source_id: str
    target_id: str
    relation: str
    created_at: str


class OpenedMemory(MemoryEntry):
    """A memory as its own fields and once more under `memory`, with its links."""

    memory: MemoryEntry
    links: list[LinkEntry]


class ArchivedEntry(MemoryEntry):
    """A memory in the archive, since when and why."""

    archived_at: str
    archive_reason: str


class NamespaceCount(TypedDict):
    """How many memories a namespace holds."""

    namespace: str
    count: int


class TierCount(TypedDict):
    """How many memories a tier holds."""

    tier: str
    count: int


def required(value: Any, field: str) -> Any:
    """*value*, or Invalid if it was not given."""
    if value is None:
        raise Invalid(f"{field} is required", field)
    return value


def at_most(limit: int | None, usual: int, most: int) -> int:
    """How many to answer with."""
    return min(usual if limit is None else limit, most)


def shown(memory: Memory) -> MemoryEntry:
    """*memory* in an answer."""
    return cast(MemoryEntry, document_entry.memory_entry(memory))


def shown_found(memory: Memory, score: float) -> FoundEntry:
    """*memory* in an answer to a question."""
    return {**shown(memory), "score": round(score, 3)}


def shown_archived(memory: Memory) -> ArchivedEntry:
    """*memory* in a list of the archive."""
    return cast(ArchivedEntry, archived_entry(memory))


def shown_links(ctx: Context, memory: Memory) -> list[LinkEntry]:
    """The links of *memory* in an answer."""
    return cast(list[LinkEntry], links_of(ctx, memory))


def counted(by_namespace: Mapping[str, int]) -> list[NamespaceCount]:
    """Counts by namespace as a list, the largest first."""
    ordered = sorted(by_namespace.items(), key=lambda item: (-item[1], item[0]))
    return [{"namespace": name, "count": count} for name, count in ordered]
