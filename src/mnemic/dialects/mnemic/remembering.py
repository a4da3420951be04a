"""Putting memories in and taking them out: remember, revise, forget, restore."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field, model_validator

from mnemic.core import memories, sessions
from mnemic.core.context import Context
from mnemic.core.impact import count_resting
from mnemic.core.memories import Fate, Note, Revision
from mnemic.dialects.mnemic.shapes import (
    MAX_ITEMS,
    BriefShape,
    MemoryShape,
    Name,
    Namespace,
    Reference,
    Tags,
    Text,
    Title,
    Unit,
    When,
    brief,
    shown,
)
from mnemic.dialects.mnemic.vocabulary import MNEMIC
from mnemic.dialects.operation import Example, Hidden, Positional, Shape
from mnemic.dialects.texts import Words
from mnemic.model.search import Filter
from mnemic.model.values import Tier, parse_moment, parse_span


class NewLink(Shape):
    """A link from the new memory to one that exists."""

    to: Reference
    type: Name = "related_to"
    weight: Unit = 1.0


class Item(Shape):
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
    session: Name | None = None
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
        if (self.text is None) == (self.items is None):
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
    """Keep one text, or many items. The same text is refused unless forced; near ones are reported."""
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
            )
            for kept in outcome.kept
        ],
        refused=[
            RefusedShape(index=refusal.index, reason=refusal.reason, id=refusal.known.id)
            for refusal in outcome.refused
        ]
        or None,
    )


class ReviseRequest(Shape):
    """Which memory, and what to change."""

    id: Annotated[Reference, Positional("MEMORY")]
    text: Text | None = None
    append: Text | None = None
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


class ForgetRequest(Shape):
    """Which memories: ids, or a filter of which at least one part is given."""

    ids: Annotated[list[Reference], Field(max_length=MAX_ITEMS)] = []
    namespace: Namespace | None = None
    pattern: Annotated[Words | None, Field(description="words it contains")] = None
    kinds: Tags | None = None
    tags: Tags | None = None
    tier: Tier | None = None
    until: Annotated[When | None, Field(description="created before")] = None
    reason: Words | None = None
    dry_run: bool = False
    archive: bool = False
    purge: Annotated[bool, Field(description="for good")] = False

    @model_validator(mode="after")
    def _one_way(self) -> ForgetRequest:
        if self.archive and self.purge:
            raise ValueError("archive and purge exclude each other")
        parts = (self.namespace, self.pattern, self.kinds, self.tags, self.tier, self.until)
        if bool(self.ids) == any(
            parts
        ):  # an empty part restricts nothing, and must not pass for one that does
            raise ValueError("give ids, or at least one of namespace, pattern, kinds, tags, tier, until")
        return self


class ForgetReply(Shape):
    """How many were forgotten, and the first of them."""

    deleted: int
    memories: list[BriefShape]
    dry_run: bool | None = None
    dependents: int | None = None
    """Of a dry run: how many other memories rest on them."""


@MNEMIC.operation(
    title="Forget",
    destructive=True,
    idempotent=True,
    examples=[Example("see first", {"tags": ["scratch"], "until": "30d", "dry_run": True})],
)
def forget(ctx: Context, request: ForgetRequest) -> ForgetReply:
    """Take memories out of use, by id or by filter. Restore brings them back."""
    fate = Fate.ARCHIVED if request.archive else Fate.PURGED if request.purge else Fate.FORGOTTEN
    if request.ids:
        gone = memories.forget(ctx, request.ids, reason=request.reason, dry_run=request.dry_run, fate=fate)
    else:
        wanted = Filter(
            namespaces=ctx.scope(request.namespace),
            kinds=tuple(request.kinds) if request.kinds else None,
            tags=tuple(request.tags) if request.tags else None,
            tier=request.tier,
            until=parse_moment(request.until, "until", ctx.now()) if request.until else None,
        )
        gone = memories.forget_matching(
            ctx,
            wanted,
            pattern=request.pattern,
            reason=request.reason,
            dry_run=request.dry_run,
            fate=fate,
        )
    resting = count_resting(ctx, [memory.id for memory in gone]) if request.dry_run else None
    return ForgetReply(
        deleted=len(gone),
        memories=[brief(memory) for memory in gone[:50]],
        dry_run=request.dry_run or None,
        dependents=resting,
    )


class RestoreRequest(Shape):
    """Which forgotten, archived or superseded memories to bring back."""

    ids: Annotated[list[Reference], Field(min_length=1, max_length=MAX_ITEMS), Positional("MEMORY")]


class RestoreReply(Shape):
    """The memories that are back."""

    memories: list[MemoryShape]
    count: int


@MNEMIC.operation(title="Restore", idempotent=True, cli="restore", examples=[Example("", {"ids": [12]})])
def restore(ctx: Context, request: RestoreRequest) -> RestoreReply:
    """Bring back forgotten, archived, expired or superseded memories."""
    back = memories.restore(ctx, request.ids)
    return RestoreReply(memories=[shown(memory) for memory in back], count=len(back))
