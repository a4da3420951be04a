"""What happens in the store as it happens: changes and recalls after a place in both logs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from mnemic.core.context import Context
from mnemic.model.change import USE, Change, Position, Subject
from mnemic.model.filter import RecallFilter
from mnemic.model.recall_entry import RecallEntry

MOST_NEWS = 200
"""Changes and recalls reported at once; more follow."""


class Place(NamedTuple):
    """How far somebody has followed: the last change and the last recall."""

    change: Position
    recall: int


class NamedMemory(NamedTuple):
    """What a memory is called and where it is."""

    id: int
    title: str
    namespace: str


@dataclass(frozen=True, slots=True)
class News:
    """What happened after a place, oldest first, and the place after it."""

    changes: tuple[tuple[Change, NamedMemory | None], ...]
    """Each with the memory it is about, as far as it still exists."""
    recalls: tuple[RecallEntry, ...]
    place: Place


def present(ctx: Context) -> Place:
    """The place from which everything is still to come."""
    last = ctx.read().recalls(limit=1, newest_first=True)
    return Place(ctx.store.newest(), last[0].number if last else 0)


def news(ctx: Context, after: Place) -> News:
    """What the caller may see of what happened after a place; recalls, but no uses."""
    reader, newest = ctx.read(), ctx.store.newest()
    found = list(reader.changes(after.change, limit=MOST_NEWS)) if newest != after.change else []
    changes = [change for change in found if change.operation != USE]
    if len(found) == MOST_NEWS:
        newest = found[-1].position
    recalls = reader.recalls(RecallFilter(after=after.recall), limit=MOST_NEWS)
    numbers = {change.subject_id for change in changes if change.subject is Subject.MEMORY}
    names = {one.id: one for one in reader.look(sorted(numbers), NamedMemory)} if numbers else {}
    return News(
        tuple((change, _named(names, change)) for change in changes),
        tuple(recalls),
        Place(newest, recalls[-1].number if recalls else after.recall),
    )


def _named(names: dict[int, NamedMemory], change: Change) -> NamedMemory | None:
    return names.get(change.subject_id) if change.subject is Subject.MEMORY else None
