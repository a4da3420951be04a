"""Changing what a memory says: revise."""

from __future__ import annotations

from typing import Annotated

from pydantic import model_validator

from mnemic.core import memories
from mnemic.core.capture import review
from mnemic.core.context import Context
from mnemic.core.memories import Revision
from mnemic.dialects.framework import Example, Flags, Hidden, Positional, Shape
from mnemic.dialects.native.dialect import MNEMIC
from mnemic.dialects.native.types import (
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
    described,
    shown,
    unlisted,
)
from mnemic.dialects.validation import StorableText
from mnemic.model.enums import Tier
from mnemic.model.limits import PRIORITY
from mnemic.model.time import parse_span


class ReviseRequest(Request):
    """Which memory, and what to change."""

    id: Annotated[Reference, described("Its id, uid or title"), Positional("MEMORY")]
    text: Annotated[Text | None, described("New text (default: unchanged)"), Flags("--text", stdin=True)] = (
        None
    )
    append: Annotated[
        Text | None, described("Statement to add to the text (default: none)"), Flags("--append", stdin=True)
    ] = None
    supersede: Annotated[
        bool, described("Let text replace it as a new memory; the old one stays in history")
    ] = False
    title: Annotated[Title | None, described("New title (default: unchanged)")] = None
    tags: Annotated[Tags | None, described("All its tags from now on (default: unchanged)")] = None
    kind: Annotated[Name | None, described("New kind (default: unchanged)")] = None
    namespace: Annotated[Namespace | None, described("Move it there (default: unchanged)")] = None
    ttl: Annotated[When | None, described("Expires after e.g. 7d (default: unchanged)")] = None
    priority: Annotated[int | None, described("Importance (default: unchanged)", **PRIORITY.bounds)] = None
    confidence: Annotated[Unit | None, unlisted("How sure it is (default: unchanged)")] = None
    reason: Annotated[StorableText | None, described("Why (default: none)")] = None
    summary: Annotated[Text | None, unlisted("A short version (default: unchanged)")] = None
    tier: Annotated[Tier | None, unlisted("How long it is meant to live (default: unchanged)")] = None
    metadata: Annotated[
        dict[str, object] | None, unlisted("Any JSON object (default: unchanged)"), Hidden()
    ] = None

    @model_validator(mode="after")
    def _something(self) -> ReviseRequest:
        changes = self.model_fields_set - {"id", "reason", "supersede"}
        if self.supersede:  # in strict mode a model has to say something for every argument
            changes = {name for name in changes if getattr(self, name) not in ([], {})}
        if not changes:
            raise ValueError("nothing to change: give `text`, `append`, `title`, `tags` or another field")
        if self.supersede and (self.text is None or changes != {"text"}):
            raise ValueError("`supersede` takes `text` (the correction) and `reason`, no other change")
        return self

    def revision(self) -> Revision:
        """The changes asked for."""
        return Revision(
            text=self.text,
            append=self.append,
            name=self.title,
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
    """The revised memory, and the version it replaced."""

    memory: MemoryShape
    superseded: int | None = None


@MNEMIC.operation(
    title="Revise",
    idempotent=True,
    cli="revise",
    about="Change a memory, or replace it by a correction.",
    examples=[
        Example("correct it", {"id": "12", "text": "Deploys are on Mondays", "supersede": True}),
        Example("retag it", {"id": "12", "tags": ["deploy", "ci"]}),
    ],
)
def revise(ctx: Context, request: ReviseRequest) -> ReviseReply:
    """Correct or extend a memory when something known has changed or was wrong; `recall` gives its id.

    Set supersede for a fact that was true and no longer is.
    """
    if request.supersede and request.text:
        new, old = memories.supersede(ctx, request.id, request.text, request.reason)
        return ReviseReply(memory=shown(new), superseded=old.id)
    return ReviseReply(memory=shown(review.revise(ctx, request.id, request.revision())))
