"""Replay of a journal: an empty store built again, change by change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

from mnemic.core.context import Context
from mnemic.core.history import typed
from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.model.change import Change, Subject
from mnemic.model.graph import Edge, EdgeDraft, EdgePatch
from mnemic.model.memory import Memory, MemoryPatch, Statement
from mnemic.model.session import Session, SessionDraft, SessionPatch
from mnemic.storage.base import Writer
from mnemic.storage.queries import (
    edge_numbered,
    memory_numbered,
    newest_change,
    session_numbered,
)
from mnemic.transfer.field_checks import (
    checked_change,
    checked_edge,
    checked_memory,
    checked_session,
    fault_of,
)

T = TypeVar("T")
Entry = tuple[int, dict[str, Any]]
"""What a line holds, and the number of the line."""


def replay(ctx: Context, entries: Iterable[Entry]) -> int:
    """Build a store again from its journal, all of it or nothing; how many memories it created.

    Only an empty store can take another's numbers.
    """
    if newest_change(ctx.store.read()):
        raise Conflict(
            "An export with its journal can only be imported into an empty database; export without it"
        )
    waiting = list(entries)

    def work(tx: Writer) -> int:
        batch, made = None, 0
        for number, content in waiting:
            try:
                change = checked_change(content)
                if change.batch != batch:
                    tx.journal_as(operation=change.operation, actor=change.actor, at=change.at)
                    batch = change.batch
                made += _redo(tx, change)
            except (Invalid, Conflict, NotFound, KeyError, TypeError, ValueError) as error:
                raise Invalid(
                    f"line {number}: {fault_of(error).rstrip('.')}. The journal in this file does not fit together; "
                    "export without it",
                    "lines",
                ) from error
        return made

    return ctx.change("import", work)


def _redo(tx: Writer, change: Change) -> bool:
    """Replay *change*; True if it created a memory. A purged one leaves a gap in the ids."""
    if change.after is None:
        tx.tombstone(change.subject, change.subject_id)
        return False
    if change.before is None:
        _bear(tx, change, typed(change.after))
        return change.subject is Subject.MEMORY
    _alter(tx, change, typed(change.after))
    return False


def _bear(tx: Writer, change: Change, fields: dict[str, Any]) -> None:
    """Make what *change* made, under the same number."""
    match change.subject:
        case Subject.MEMORY:
            statements = tuple(Statement(0, text) for text in fields.pop("texts", ()))
            memory = Memory(id=change.subject_id, statements=statements, **fields)
            number = tx.import_memory(checked_memory(memory)).id
        case Subject.EDGE:
            checked_edge(Edge(id=change.subject_id, **fields))
            number = tx.insert_edge(EdgeDraft(id=change.subject_id, **fields)).id
        case Subject.SESSION:
            checked_session(Session(id=change.subject_id, **fields))
            number = tx.insert_session(SessionDraft(id=change.subject_id, **fields)).id
    if number != change.subject_id:
        raise Invalid(f"subject_id: the number {change.subject_id} cannot be had", "subject_id")


def _alter(tx: Writer, change: Change, fields: dict[str, Any]) -> None:
    """Change what *change* changed."""
    match change.subject:
        case Subject.MEMORY:
            memory = _there(change, memory_numbered(tx, change.subject_id))
            texts = fields.get("texts", memory.texts)
            others = {name: value for name, value in fields.items() if name != "texts"}
            statements = tuple(Statement(0, text) for text in texts)
            checked_memory(replace(memory, **others, statements=statements))
            # Where a change does not say when, it was none that counts as one.
            tx.update(memory, MemoryPatch(**{"updated_at": memory.updated_at, **fields}))
        case Subject.EDGE:
            edge = _there(change, edge_numbered(tx, change.subject_id))
            checked_edge(replace(edge, **fields))
            tx.update_edge(edge, EdgePatch(**fields))
        case Subject.SESSION:
            session = _there(change, session_numbered(tx, change.subject_id))
            checked_session(replace(session, **fields))
            tx.update_session(session, SessionPatch(**fields))


def _there(change: Change, known: T | None) -> T:
    """What a change was made to, if it was ever made itself."""
    if known is None:
        raise Invalid(f"subject_id: there is no {change.subject} {change.subject_id} to change", "subject_id")
    return known
