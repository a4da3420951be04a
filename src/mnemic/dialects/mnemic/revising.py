"""Changing what a memory says: revise."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from mnemic.core import memories
from mnemic.core.context import Context
from mnemic.core.memories import Revision
from mnemic.dialects.mnemic.shapes import (
    MemoryShape,
    Name,
    Namespace,
    Reference,
    Request,
    Tags,
    Text,
    Title,
    Unit,
    When,
    shown,
)
from mnemic.dialects.mnemic.vocabulary import MNEMIC
from mnemic.dialects.operation import Example, Flags, Hidden, Positional, Shape
from mnemic.dialects.texts import Words
from mnemic.model.values import Tier, parse_span


class ReviseRequest(Request):
    """Which memory, and what to change."""

    id: Annotated[Reference, Positional("MEMORY")]
    text: Annotated[Text | None, Flags("--text", stdin=True)] = None
    append: Annotated[Text | None, Flags("--append", stdin=True)] = None
    supersede: bool = False
    title: Title | None = None
    kind: Name | None = None
    summary: Text | None = None
    tags: Tags | None = None
    namespace: Namespace | None = None
    tier: Tier | None = None
    ttl: When | None = None
    confidence: Unit | None = None
    priority: Annotated[int | None, Field(ge=1, le=10)] = None
    metadata: Annotated[dict[str, object] | None, Hidden()] = None
    reason: Words | None = None

    @model_validator(mode="after")
    def _something(self) -> ReviseRequest:
        changes = self.model_fields_set - {"id", "reason", "supersede"}
        if not changes:
            raise ValueError("nothing to change: give text, append, title, tags or another field")
        if self.supersede and (self.text is None or changes != {"text"}):
            raise ValueError("supersede takes text (the correction) and reason, no other change")
        return self

    def revision(self) -> Revision:
        """The changes asked for."""
        return Revision(
            text=self.text,
            append=self.append,
            title=self.title,
            kind=self.kind,
            summary=self.summary,
            tags=None if self.tags is None else tuple(self.tags),
            namespace=self.namespace,
            tier=self.tier,
            ttl=parse_span(self.ttl, "ttl") if self.ttl else None,
            confidence=self.confidence,
            priority=self.priority,
            metadata=self.metadata,
        )


class ReviseReply(Shape):
    """The memory as it now stands, and the one it replaced."""

    memory: MemoryShape
    superseded: int | None = None


@MNEMIC.operation(
    title="Revise",
    idempotent=True,
    cli="revise",
    examples=[
        Example("correct it", {"id": 12, "text": "Deploys are on Mondays", "supersede": True}),
        Example("retag it", {"id": 12, "tags": ["deploy", "ci"]}),
    ],
)
def revise(ctx: Context, request: ReviseRequest) -> ReviseReply:
    """Change a memory's text or fields, or supersede it with a correction."""
    if request.supersede and request.text:
        new, old = memories.supersede(ctx, request.id, request.text, request.reason)
        return ReviseReply(memory=shown(new), superseded=old.id)
    return ReviseReply(memory=shown(memories.revise(ctx, request.id, request.revision())))
