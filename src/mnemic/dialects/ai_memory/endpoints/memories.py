"""Memories one by one, and many at a time: create, read, change, delete, promote."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from typing_extensions import TypedDict

from mnemic.core import upsert
from mnemic.core.context import Context
from mnemic.core.memories import Note, forget, promote
from mnemic.dialects.ai_memory import validation
from mnemic.dialects.ai_memory.dialect import AI_MEMORY
from mnemic.dialects.ai_memory.endpoints.types import (
    Confidence,
    EndpointRequest,
    IdRequest,
    MemoryEntry,
    Metadata,
    OpenedMemory,
    Priority,
    Seconds,
    Source,
    Text,
    Texts,
    TierName,
    Time,
    shown,
    shown_links,
)
from mnemic.dialects.ai_memory.ids import meant
from mnemic.dialects.framework import Example, WholeBody
from mnemic.errors import Denied, Invalid

MOST_AT_ONCE = 1_000
SOURCE = "api"
MISSING = "not found"


class CreateRequest(EndpointRequest):
    """A memory to be. A title and a content are required."""

    title: Text = None
    content: Text = None
    tier: TierName = None
    namespace: Text = None
    tags: Texts = None
    priority: Priority = None
    confidence: Confidence = None
    source: Source = None
    expires_at: Time = None
    ttl_secs: Seconds = None
    metadata: Metadata = None


class Created(TypedDict):
    """The memory that was stored, and the ids of those with similar titles."""

    id: str
    tier: str
    namespace: str
    title: str
    potential_contradictions: list[str]


@AI_MEMORY.endpoint(
    "POST /memories",
    title="Create a memory",
    status=201,
    examples=[Example("", {"title": "Project uses Axum", "content": "The HTTP server is built with Axum."})],
)
def create_memory(ctx: Context, request: CreateRequest) -> Created:
    """Store a memory; if its title is taken in its namespace, that memory is updated."""
    stored = upsert.store(ctx, validation.note(dict(request), ctx.now(), default_source=SOURCE))
    return {
        "id": stored.memory.uid,
        "tier": stored.memory.tier,
        "namespace": stored.memory.namespace,
        "title": stored.memory.title,
        "potential_contradictions": [memory.uid for memory in stored.contradictions],
    }


class BulkRequest(EndpointRequest):
    """Memories to be."""

    memories: Annotated[list[Any], WholeBody()]


class BulkCreated(TypedDict):
    """How many were stored, their ids, and for each that was not its title and the reason."""

    created: int
    ids: list[str]
    errors: list[str]


@AI_MEMORY.endpoint("POST /memories/bulk", title="Create many memories")
def create_memories(ctx: Context, request: BulkRequest) -> BulkCreated:
    """Store up to 1000 memories in one transaction. Invalid ones are reported and skipped."""
    if len(request.memories) > MOST_AT_ONCE:
        raise Invalid(f"bulk operations limited to {MOST_AT_ONCE} items")
    read = list(_notes(ctx, request.memories))
    stored = upsert.store_all(ctx, [note for note in read if isinstance(note, Note)])
    ids = [one.memory.uid for one in stored]
    return {"created": len(ids), "ids": ids, "errors": [note for note in read if isinstance(note, str)]}


def _notes(ctx: Context, items: list[Any]) -> Iterator[Note | str]:
    """What each of *items* says is to be stored, or why it cannot be."""
    now = ctx.now()
    for number, item in enumerate(items, 1):
        try:
            yield _note(ctx, item, now)
        except (Invalid, Denied) as error:
            title = item.get("title") if isinstance(item, dict) else None
            yield f"{title if isinstance(title, str) and title else f'item {number}'}: {error}"


def _note(ctx: Context, item: Any, now: int) -> Note:
    if not isinstance(item, dict):
        raise Invalid("must be a JSON object")
    note = validation.note(item, now, default_source=SOURCE)
    ctx.home(note.namespace)
    return note


@AI_MEMORY.endpoint("GET /memories/{id}", title="Read a memory")
def get_memory(ctx: Context, request: IdRequest) -> OpenedMemory:
    """A memory with its links."""
    memory = meant(ctx, request.id, missing=MISSING)
    entry = shown(memory)
    return {**entry, "memory": entry, "links": shown_links(ctx, memory)}


class UpdateRequest(IdRequest):
    """Changes to a memory; an empty `expires_at` takes its end away."""

    title: Text = None
    content: Text = None
    tier: TierName = None
    namespace: Text = None
    tags: Texts = None
    priority: Priority = None
    confidence: Confidence = None
    expires_at: Time = None
    metadata: Metadata = None


@AI_MEMORY.endpoint("PUT /memories/{id}", title="Change a memory")
def update_memory(ctx: Context, request: UpdateRequest) -> MemoryEntry:
    """Change the given fields of a memory and no others. A tier is never lowered."""
    memory = meant(ctx, request.id, missing=MISSING)
    return shown(upsert.update(ctx, memory.id, validation.revision(dict(request), ctx.now())))


class Deleted(TypedDict):
    """That a memory is gone."""

    deleted: bool


@AI_MEMORY.endpoint("DELETE /memories/{id}", title="Delete a memory")
def delete_memory(ctx: Context, request: IdRequest) -> Deleted:
    """Delete a memory and its links."""
    forget(ctx, [meant(ctx, request.id, missing=MISSING).id], reason="deleted")
    return {"deleted": True}


class Promoted(TypedDict):
    """The memory that is long now."""

    promoted: bool
    id: str
    tier: str


@AI_MEMORY.endpoint("POST /memories/{id}/promote", title="Promote a memory")
def promote_memory(ctx: Context, request: IdRequest) -> Promoted:
    """Make a memory long, without an end."""
    memory = promote(ctx, meant(ctx, request.id, missing=MISSING).id)
    return {"promoted": True, "id": memory.uid, "tier": memory.tier}
