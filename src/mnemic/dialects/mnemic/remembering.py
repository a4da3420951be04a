"""Putting memories in: remember."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field, model_validator

from mnemic.core import memories, sessions
from mnemic.core.context import Context
from mnemic.core.memories import COMPARED_AT_ONCE, Note
from mnemic.core.trust.rivals import rivals
from mnemic.dialects.mnemic.shapes import (
    MAX_ITEMS,
    Name,
    Namespace,
    Reference,
    Request,
    Tags,
    Text,
    Title,
    Unit,
    When,
)
from mnemic.dialects.mnemic.vocabulary import MNEMIC
from mnemic.dialects.operation import Example, Flags, Hidden, Positional, Shape
from mnemic.model.memory import Memory
from mnemic.model.texts import cut
from mnemic.model.values import Tier, parse_span

SHOWN = 300
"""So many bytes of a contradicted memory are shown."""

SessionNumber = Annotated[int, Field(ge=1, lt=2**32)]
SessionName = Annotated[SessionNumber | Name, Flags("--session", metavar="SESSION")]


class NewLink(Request):
    """A link from the new memory to one that exists."""

    to: Reference
    type: Name = "related_to"
    weight: Unit = 1.0


class Item(Request):
    """One thing to remember."""

    text: Text
    title: Title | None = None
    kind: Name = "note"
    tags: Tags = []
    namespace: Namespace | None = None
    tier: Tier | None = None
    ttl: Annotated[When | None, Field(description="e.g. 6h, 7d")] = None
    confidence: Unit = 1.0
    priority: Annotated[int, Field(ge=1, le=10)] = 5
    source: Name | None = None
    session: Annotated[SessionName | None, Field(description="name or id")] = None
    metadata: Annotated[dict[str, object], Hidden()] = {}
    links: Annotated[list[NewLink], Field(max_length=100), Hidden()] = []

    def given(self) -> dict[str, object]:
        """The fields that were set."""
        return {name: getattr(self, name) for name in self.model_fields_set}

    def note(self) -> Note:
        """What the core is asked to keep."""
        return Note(
            text=self.text,
            title=self.title,
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
            links=tuple((link.to, link.type, link.weight) for link in self.links),
        )


class RememberRequest(Item):
    """One text with its fields, or many items, for which the other fields are defaults."""

    text: Annotated[Text | None, Positional("TEXT", stdin=True)] = None  # type: ignore[assignment]
    items: Annotated[list[Item] | None, Field(min_length=1, max_length=MAX_ITEMS), Hidden()] = None
    force: bool = False

    @model_validator(mode="after")
    def _one_of(self) -> RememberRequest:
        if self.text is None and self.items is None:
            raise ValueError("there is nothing to remember; give text")
        if self.text is not None and self.items is not None:
            raise ValueError("give either text or items")
        return self

    def notes(self, session_id: int | None) -> list[Note]:
        """The notes of this request, one or many, in this session where they name none."""
        return [replace(note, session_id=session_id) for note in self._notes()]

    def _notes(self) -> list[Note]:
        if not self.items:
            return [self.note()]
        shared = {name: getattr(self, name) for name in self.model_fields_set & Item.model_fields.keys()}
        return [item.model_copy(update={**shared, **item.given()}).note() for item in self.items]


class KeptShape(Shape):
    """A memory that was stored, and those it resembles."""

    id: int
    uid: str
    title: str
    namespace: str
    similar: list[SimilarShape] | None = None
    contradicts: list[ContradictedShape] | None = None


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
    examples=[
        Example("keep a fact", {"text": "The API is deployed on Fridays", "tags": ["deploy"]}),
        Example("for a week", {"text": "Standup moved to 10:00", "ttl": "7d"}),
    ],
)
def remember(ctx: Context, request: RememberRequest) -> RememberReply:
    """Keep one text, or many items. The same text is refused unless forced; near or contradicting ones are reported."""
    now_in = sessions.enter(ctx)
    notes = request.notes(now_in.id if now_in else None)
    outcome = memories.remember(ctx, notes, force=request.force)
    return RememberReply(
        stored=[
            KeptShape(
                id=kept.memory.id,
                uid=kept.memory.uid,
                title=kept.memory.title,
                namespace=kept.memory.namespace,
                similar=[
                    SimilarShape(id=twin.id, title=twin.title, similarity=round(likeness, 3))
                    for twin, likeness in kept.similar
                ]
                or None,
                contradicts=_contradicted(ctx, kept.memory)
                if len(outcome.kept) <= COMPARED_AT_ONCE
                else None,
            )
            for kept in outcome.kept
        ],
        refused=[
            RefusedShape(index=refusal.index, reason=refusal.reason, id=refusal.known.id)
            for refusal in outcome.refused
        ]
        or None,
    )


def _contradicted(ctx: Context, memory: Memory) -> list[ContradictedShape] | None:
    found = rivals(ctx, memory)
    return [
        ContradictedShape(id=one.memory.id, text=cut(one.memory.content, SHOWN), because=one.because)
        for one in found
    ] or None
