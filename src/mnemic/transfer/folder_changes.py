"""What changed in the store since a folder was written: by the journal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mnemic.core.history import typed
from mnemic.model.change import USE, Position, Subject
from mnemic.model.filter import ChangeFilter, EdgeFilter
from mnemic.model.memory import Memory, Statement
from mnemic.storage.base import Reader
from mnemic.storage.queries import edge_numbered


def rewound(reader: Reader, memory: Memory, at: str) -> Memory | None:
    """*memory* as it was *at* a position of the journal; None if it was not there."""
    before: dict[str, Any] = {}
    changes = reader.journal(_changes_of(memory, at), newest_first=True)
    for change in changes:
        if change.before is None:
            return None
        before |= change.before
    fields = typed(before)
    if "texts" in fields:
        fields["statements"] = tuple(Statement(0, text) for text in fields.pop("texts"))
    return replace(memory, **fields) if fields else memory


def has_changed(reader: Reader, memory: Memory, at: str) -> bool:
    """Whether a memory changed since a position, but for its uses."""
    return any(change.operation != USE for change in reader.journal(_changes_of(memory, at)))


def _changes_of(memory: Memory, at: str) -> ChangeFilter:
    """The changes of a memory since a position, or all of them."""
    after = Position.parse(at) if at else None
    return ChangeFilter(after=after, subject=Subject.MEMORY, subject_ids=(memory.id,))


def changed_ids(reader: Reader, position: Position) -> set[int]:
    """The memories that changed since, or a link of which did."""
    memories: set[int] = set()
    edges: set[int] = set()
    for change in reader.changes(position):
        if change.subject is Subject.MEMORY and change.operation != USE:
            memories.add(change.subject_id)
        elif change.subject is Subject.EDGE:
            edges.add(change.subject_id)
    # A file that got another name is named by those that link to it.
    linked = reader.edges(EdgeFilter(targets=tuple(memories))) if memories else []
    changed = [edge for number in edges if (edge := edge_numbered(reader, number))]
    return memories | {edge.source_id for edge in (*linked, *changed)}
