"""What happened and taking it back: history and undo."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import model_validator

from mnemic.core import history as past
from mnemic.core.context import Context
from mnemic.core.history import Changed
from mnemic.core.trust import beliefs
from mnemic.dialects.framework import Example, Positional, Shape
from mnemic.dialects.native.as_of import at
from mnemic.dialects.native.dialect import MNEMIC
from mnemic.dialects.native.types import (
    MemoryShape,
    Name,
    Namespace,
    Reference,
    Request,
    Time,
    When,
    described,
    shown,
    unlisted,
)
from mnemic.model.change import Change, Subject
from mnemic.model.time import iso

MOMENTS = ("_at", "valid_from", "valid_to")


class ChangeShape(Shape):
    """One change: who did what to which thing, and the fields before and after."""

    change: int
    at: Time
    actor: str
    operation: str
    subject: Subject
    id: int
    title: str | None = None
    """Of the memory, as it is called now."""
    before: dict[str, object] | None = None
    after: dict[str, object] | None = None


def shown_change(change: Change, title: str | None = None) -> ChangeShape:
    """*change* in the native reply, with the title of the memory it is about."""
    return ChangeShape(
        change=change.sequence,
        at=change.at,
        actor=change.actor,
        operation=change.operation,
        subject=change.subject,
        id=change.subject_id,
        title=title,
        before=_readable(change.before),
        after=_readable(change.after),
    )


def _readable(fields: Mapping[str, object] | None) -> dict[str, object] | None:
    """Changed fields with times as dates."""
    if fields is None:
        return None
    return {
        name: iso(value) if isinstance(value, int) and name.endswith(MOMENTS) else value
        for name, value in fields.items()
    }


class HistoryView(StrEnum):
    """Order and detail of a history."""

    CHANGES = "changes"
    VERSIONS = "versions"
    DIFF = "diff"


class HistoryRequest(Request):
    """Of one memory, or of everything since a moment: the changes, the versions, or the difference."""

    id: Annotated[
        Reference | None, described("Only this memory: id, uid or title (default: all)"), Positional("MEMORY")
    ] = None
    since: Annotated[When | None, described("Not older, as 2026-01-31 or 2h (default: no bound)")] = None
    until: Annotated[When | None, described("Not newer, likewise (default: now)")] = None
    actor: Annotated[Name | None, described("Only changes by this client (default: any)")] = None
    before: Annotated[
        int | None, unlisted("Only changes with a smaller number (default: all)", ge=1, lt=2**63)
    ] = None
    operation: Annotated[Name | None, unlisted("Only changes by this operation (default: any)")] = None
    namespace: Annotated[Namespace | None, unlisted("Only changes there (default: everywhere)")] = None
    limit: Annotated[int, described("Most entries", ge=1, le=1000)] = 20
    view: Annotated[
        HistoryView,
        described("versions: how a memory was corrected over time; diff: what since..until changed"),
    ] = HistoryView.CHANGES

    @model_validator(mode="after")
    def _enough(self) -> HistoryRequest:
        if self.view is HistoryView.VERSIONS and self.id is None:
            raise ValueError("versions needs `id`")
        if self.view is HistoryView.DIFF and (self.since is None or self.id is not None):
            raise ValueError("diff needs `since` and takes no `id`")
        return self


class DiffShape(Shape):
    """A memory that came, changed or left, with the fields that are not what they were."""

    id: int
    title: str | None = None
    before: dict[str, object] | None = None
    after: dict[str, object] | None = None


class HistoryReply(Shape):
    """The changes, newest first; or the versions of a belief, oldest first; or how two moments differ."""

    count: int
    changes: list[ChangeShape] | None = None
    versions: list[MemoryShape] | None = None
    added: list[DiffShape] | None = None
    changed: list[DiffShape] | None = None
    left: list[DiffShape] | None = None


@MNEMIC.operation(
    title="History",
    read_only=True,
    idempotent=True,
    cli="history",
    about="Show what changed, newest first.",
    examples=[
        Example("", {"id": "12"}),
        Example("", {"since": "2h"}),
        Example("versions of a memory", {"id": "12", "view": "versions"}),
        Example("changes of a week", {"since": "7d", "view": "diff"}),
    ],
)
def history(ctx: Context, request: HistoryRequest) -> HistoryReply:
    """See who changed what and when, newest first: of one memory, or everything since a moment."""
    if request.view is HistoryView.VERSIONS:
        versions = beliefs.history(at(ctx, request.until), request.id or 0)
        return HistoryReply(versions=[shown(memory) for memory in versions], count=len(versions))
    if request.view is HistoryView.DIFF:
        return _diff(ctx, request)
    since, until = ctx.period(request.since, request.until)
    changes = past.history(
        ctx,
        reference=request.id,
        since=since,
        until=until,
        actor=request.actor,
        before=request.before,
        operation=request.operation,
        namespace=request.namespace,
        limit=request.limit,
    )
    names = past.titles_of(ctx, changes)
    shown_ones = [shown_change(change, names.get((change.subject, change.subject_id))) for change in changes]
    return HistoryReply(changes=shown_ones, count=len(changes))


def _diff(ctx: Context, request: HistoryRequest) -> HistoryReply:
    now = ctx.now()
    until = ctx.moment(request.until, "until") if request.until else now
    found = past.difference(ctx, ctx.moment(request.since or "", "since"), until)
    return HistoryReply(
        count=len(found.added) + len(found.changed) + len(found.left),
        added=[_shown_diff(one) for one in found.added[: request.limit]],
        changed=[_shown_diff(one) for one in found.changed[: request.limit]],
        left=[_shown_diff(one) for one in found.left[: request.limit]],
    )


def _shown_diff(one: Changed) -> DiffShape:
    return DiffShape(
        id=one.id, title=one.title, before=_readable(one.before) or None, after=_readable(one.after) or None
    )


class UndoRequest(Request):
    """One change, or everything since a moment."""

    change: Annotated[
        int | None,
        described("The number of one change, from history (default: see since)", ge=1, lt=2**63),
        Positional("CHANGE"),
    ] = None
    since: Annotated[When | None, described("All changes since, as 10m (default: see change)")] = None
    dry_run: Annotated[bool, described("Only show what would be reverted")] = False

    @model_validator(mode="after")
    def _one_of(self) -> UndoRequest:
        if (self.change is None) == (self.since is None):
            raise ValueError("give either `change` or `since`")
        return self


class UndoReply(Shape):
    """The reverted changes."""

    undone: list[int]
    count: int
    dry_run: bool | None = None


@MNEMIC.operation(
    title="Undo",
    destructive=True,
    cli="undo",
    about="Undo a change, or everything since a moment.",
    examples=[Example("", {"change": 40}), Example("", {"since": "10m", "dry_run": True})],
)
def undo(ctx: Context, request: UndoRequest) -> UndoReply:
    """Revert one change of `history`, or everything since a moment. Can itself be undone."""
    if request.change is not None:
        taken_back = past.undo(ctx, request.change, dry_run=request.dry_run)
    else:
        moment = ctx.moment(request.since or "", "since")
        taken_back = past.undo_since(ctx, moment, dry_run=request.dry_run)
    return UndoReply(undone=taken_back, count=len(taken_back), dry_run=request.dry_run or None)
