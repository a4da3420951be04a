"""Putting memories in: remember."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Field, WithJsonSchema, model_validator

from mnemic.core import memories, sessions
from mnemic.core.context import Context
from mnemic.core.memories import COMPARED_AT_ONCE, Kept, Note
from mnemic.dialects.framework import Example, Flags, Hidden, Positional, Shape
from mnemic.dialects.json_schema import IN_LISTS
from mnemic.dialects.native.dialect import MNEMIC
from mnemic.dialects.native.types import (
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
    unlisted,
)
from mnemic.model.enums import Tier
from mnemic.model.limits import MAX_ITEMS, PRIORITY
from mnemic.model.memory import Memory
from mnemic.model.text_size import cut
from mnemic.model.time import parse_span

SHOWN = 300
"""Bytes shown of a contradicted memory."""

SessionNumber = Annotated[int, Field(ge=1, lt=2**32)]
SessionName = Annotated[
    SessionNumber | Name, WithJsonSchema({"type": "string"}), Flags("--session", metavar="SESSION")
]


class NewLink(Request):
    """A link from the new memory to one that exists."""

    to: Annotated[Reference, described("The other memory: id, uid or title")]
    type: Annotated[Name, described("How they relate")] = "related_to"
    weight: Annotated[Unit, described("How strongly")] = 1.0


class Item(Request):
    """One thing to remember."""

    text: Annotated[Text, described("What to remember")]
    title: Annotated[Title | None, described("A name for it (default: its first sentence)")] = None
    tags: Annotated[Tags, described("Labels (default: none)")] = []
    kind: Annotated[Name, unlisted("E.g. decision, fact, preference", IN_LISTS)] = "note"
    namespace: Annotated[
        Namespace | None, unlisted("global: holds everywhere (default: this project)", IN_LISTS)
    ] = None
    occurred_at: Annotated[
        When | None, unlisted("When it happened, as 2026-01-31 or 2d (default: now)", IN_LISTS)
    ] = None
    ttl: Annotated[When | None, unlisted("Expires after e.g. 6h, 7d (default: never)", IN_LISTS)] = None
    priority: Annotated[int, unlisted("Importance", IN_LISTS, **PRIORITY.bounds)] = 5
    confidence: Annotated[Unit, unlisted("How sure it is")] = 1.0
    tier: Annotated[Tier | None, unlisted("How long it is meant to live (default: by ttl)")] = None
    source: Annotated[Name | None, unlisted("Where it comes from (default: nothing)")] = None
    session: Annotated[
        SessionName | None, unlisted("Its session by name or id (default: the current one)")
    ] = None
    metadata: Annotated[dict[str, object], unlisted("Any JSON object"), Hidden()] = {}
    links: Annotated[list[NewLink], unlisted("Links to known memories", max_length=100), Hidden()] = []

    def given(self) -> dict[str, object]:
        """The fields that were set."""
        return {name: getattr(self, name) for name in self.model_fields_set}

    def note(self, ctx: Context) -> Note:
        """What the core is asked to keep."""
        return Note(
            text=self.text,
            name=self.title,
            kind=self.kind,
            tags=tuple(self.tags),
            namespace=self.namespace,
            tier=self.tier,
            ttl=parse_span(self.ttl, "ttl") if self.ttl else None,
            confidence=self.confidence,
            priority=self.priority,
            source=self.source,
            session=self.session,
            metadata=self.metadata,
            occurred_at=ctx.moment(self.occurred_at, "occurred_at") if self.occurred_at else None,
            links=tuple((link.to, link.type, link.weight) for link in self.links),
        )


class RememberRequest(Item):
    """One text with its fields, or many items, for which the other fields are defaults."""

    text: Annotated[
        Text | None, described("What to remember (default: see items)"), Positional("TEXT", stdin=True)
    ] = None  # type: ignore[assignment]
    items: Annotated[
        list[Item] | None,
        described(
            "Several memories at once; arguments beside it are their defaults (default: see text)",
            max_length=MAX_ITEMS,
        ),
        Hidden(),
    ] = None
    force: Annotated[bool, described("Store a known text again")] = False

    @model_validator(mode="after")
    def _one_of(self) -> RememberRequest:
        if self.text is None and self.items is None:
            raise ValueError("nothing to remember: give `text`")
        if self.text is not None and self.items is not None:
            raise ValueError("give either `text` or `items`")
        return self

    def notes(self, ctx: Context, session_id: int | None) -> list[Note]:
        """The notes of this request, one or many, in this session where they name none."""
        return [replace(note, session_id=session_id) for note in self._notes(ctx)]

    def _notes(self, ctx: Context) -> list[Note]:
        if not self.items:
            return [self.note(ctx)]
        shared = {name: getattr(self, name) for name in self.model_fields_set & Item.model_fields.keys()}
        return [item.model_copy(update={**shared, **item.given()}).note(ctx) for item in self.items]


class KeptShape(Shape):
    """A memory that was stored, and those it resembles."""

    id: int
    uid: str
    title: str
    namespace: str
    similar: list[SimilarShape] | None = None
    contradicts: list[ContradictedShape] | None = None
    may_hold_secret: bool | None = None
    next: str | None = None
    """What to do about a contradiction or a secret."""


class ContradictedShape(Shape):
    """A known memory that cannot be true together with the new one, and why."""

    id: int
    text: str
    because: str


class SimilarShape(Shape):
    """A known memory that says nearly the same."""

    id: int
    title: str
    similarity: float


class RefusedShape(Shape):
    """An item that was not stored, and why."""

    index: int
    reason: str
    id: int


class RememberReply(Shape):
    """What was stored and what was not."""

    stored: list[KeptShape]
    refused: list[RefusedShape] | None = None


@MNEMIC.operation(
    title="Remember",
    cli="remember",
    about="Store a memory.",
    examples=[
        Example("keep a fact", {"text": "The API is deployed on Fridays", "tags": ["deploy"]}),
        Example("for a week", {"text": "Standup moved to 10:00", "ttl": "7d"}),
    ],
)
def remember(ctx: Context, request: RememberRequest) -> RememberReply:
    """Save what will matter in a later conversation: a decision and its reason, a fact, preference or correction.

    One self-contained statement a memory, names and dates written out; no secrets. If it changes something known, use
    `revise`. A known text is refused; similar and contradicting memories are reported.
    """
    now_in = sessions.enter(ctx)
    notes = request.notes(ctx, now_in.id if now_in else None)
    outcome = memories.remember(ctx, notes, force=request.force)
    return RememberReply(
        stored=[_kept(ctx, kept, is_compared=len(outcome.kept) <= COMPARED_AT_ONCE) for kept in outcome.kept],
        refused=[
            RefusedShape(index=refusal.index, reason=refusal.reason, id=refusal.known.id)
            for refusal in outcome.refused
        ]
        or None,
    )


def _kept(ctx: Context, kept: Kept, *, is_compared: bool) -> KeptShape:
    from mnemic.core.capture.secrets import redacted

    contradicted = _contradicted(ctx, kept.memory) if is_compared else None
    may_hold_secret = redacted(kept.memory.content) != kept.memory.content
    return KeptShape(
        id=kept.memory.id,
        uid=kept.memory.uid,
        title=kept.memory.title,
        namespace=kept.memory.namespace,
        similar=[
            SimilarShape(id=twin.id, title=twin.title, similarity=round(similarity, 3))
            for twin, similarity in kept.similar
        ]
        or None,
        contradicts=contradicted,
        may_hold_secret=may_hold_secret or None,
        next=" ".join(_next(kept.memory.id, contradicted or (), may_hold_secret)) or None,
    )


def _next(number: int, contradicted: Sequence[ContradictedShape], may_hold_secret: bool) -> Iterator[str]:
    for other in contradicted:
        yield f"If it replaces {other.id}: link with source {number}, target {other.id}, type supersedes."
    if may_hold_secret:
        yield f"If it holds a secret: forget with ids [{number}], purge true."


def _contradicted(ctx: Context, memory: Memory) -> list[ContradictedShape] | None:
    from mnemic.core.trust.rivals import rivals

    found = rivals(ctx, memory)
    return [
        ContradictedShape(id=one.memory.id, text=cut(one.memory.content, SHOWN), because=one.because)
        for one in found
    ] or None
