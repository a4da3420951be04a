"""One memory: storing, reading, changing, deleting and promoting it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from mnemic.core import memories
from mnemic.core import upsert as core
from mnemic.core.context import Context
from mnemic.core.memories import Note, Revision
from mnemic.core.upsert import Stored
from mnemic.dialects.ai_memory import validation
from mnemic.dialects.ai_memory.arguments import (
    Arguments,
    Confidence,
    Content,
    End,
    IdArguments,
    Metadata,
    Namespace,
    Priority,
    Source,
    Tags,
    TierName,
    Title,
)
from mnemic.dialects.ai_memory.dialect import AI_MEMORY, AN_ID, AiMemoryReply, answer
from mnemic.dialects.ai_memory.ids import meant
from mnemic.dialects.ai_memory.link_list import links_of
from mnemic.dialects.framework import Example
from mnemic.model.enums import Tier
from mnemic.transfer.document_entry import memory_entry

UPDATED = "updated existing memory"


class StoreArguments(Arguments):
    """A memory to be."""

    title: Title
    content: Content
    tier: TierName = Tier.MID
    namespace: Annotated[Namespace | None, Field(description="namespace to store in (global)")] = None
    tags: Tags = ()
    priority: Priority = 5
    confidence: Confidence = 1.0
    source: Source = "claude"
    metadata: Metadata = {}

    def note(self) -> Note:
        """The memory as the core takes it."""
        return Note(
            text=self.content,
            name=self.title,
            tier=self.tier,
            namespace=self.namespace,
            tags=self.tags,
            priority=self.priority,
            confidence=self.confidence,
            source=self.source,
            metadata=self.metadata,
        )


@AI_MEMORY.operation(
    title="Store a memory",
    idempotent=True,
    examples=[
        Example(
            "",
            {
                "title": "Project uses Axum",
                "content": "The HTTP server is built with Axum 0.8.",
                "namespace": "web-app",
                "tags": ["rust", "web"],
            },
        ),
    ],
)
def memory_store(ctx: Context, request: StoreArguments) -> AiMemoryReply:
    """Store a memory. A title that its namespace has already updates that memory. Names possible contradictions."""
    stored = core.store(ctx, request.note())
    memory = stored.memory
    return answer(
        id=memory.uid,
        tier=memory.tier,
        title=memory.title,
        namespace=memory.namespace,
        **_remarks(stored),
    )


def _remarks(stored: Stored) -> dict[str, Any]:
    """What else is to be said about a memory that was stored."""
    remarks: dict[str, Any] = {"duplicate": True, "action": UPDATED} if stored.is_known else {}
    if stored.contradictions:
        remarks["potential_contradictions"] = [memory.uid for memory in stored.contradictions]
    return remarks


@AI_MEMORY.operation(
    title="Get a memory", read_only=True, idempotent=True, examples=[Example("", {"id": AN_ID})]
)
def memory_get(ctx: Context, request: IdArguments) -> AiMemoryReply:
    """Get one memory with all its fields and its links."""
    memory = meant(ctx, request.id)
    return answer(**memory_entry(memory), links=links_of(ctx, memory))


class UpdateArguments(IdArguments):
    """What to change."""

    title: Title | None = None
    content: Content | None = None
    tier: TierName | None = None
    namespace: Annotated[Namespace | None, Field(description="namespace to move it to")] = None
    tags: Annotated[Tags | None, Field(description="tags in place of the old ones")] = None
    priority: Priority | None = None
    confidence: Confidence | None = None
    expires_at: End | None = None
    metadata: Annotated[Metadata | None, Field(description="object in place of the old one")] = None


@AI_MEMORY.operation(
    title="Update a memory",
    idempotent=True,
    examples=[Example("", {"id": AN_ID, "content": "It is built with Axum 0.9.", "priority": 8})],
)
def memory_update(ctx: Context, request: UpdateArguments) -> AiMemoryReply:
    """Change the given fields of a memory. The tier is only ever raised."""
    end = request.expires_at
    changes = Revision(
        text=request.content,
        name=request.title,
        tags=request.tags,
        namespace=request.namespace,
        tier=request.tier,
        expires_at=None if end is None else validation.new_end(end, ctx.now()),
        confidence=request.confidence,
        priority=request.priority,
        metadata=request.metadata,
    )
    changed = core.update(ctx, meant(ctx, request.id).id, changes)
    return answer(updated=True, memory=memory_entry(changed))


@AI_MEMORY.operation(title="Delete a memory", destructive=True, examples=[Example("", {"id": AN_ID})])
def memory_delete(ctx: Context, request: IdArguments) -> AiMemoryReply:
    """Delete one memory and its links. It does not go into the archive."""
    memories.forget(ctx, [meant(ctx, request.id).id], reason="delete")
    return answer(deleted=True)


@AI_MEMORY.operation(title="Promote a memory", idempotent=True, examples=[Example("", {"id": AN_ID})])
def memory_promote(ctx: Context, request: IdArguments) -> AiMemoryReply:
    """Make a memory long-term: it no longer expires."""
    memory = memories.promote(ctx, meant(ctx, request.id).id)
    return answer(promoted=True, id=memory.uid, tier=memory.tier)
