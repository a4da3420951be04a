"""The lossless lines: every memory, link and change moved out, and in again."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from types import NoneType
from typing import Any

from mnemic.core.batches import batches
from mnemic.core.context import Context
from mnemic.core.history import typed
from mnemic.core.memories import faithful
from mnemic.core.moving.arrivals import BATCH, Imported, put_edge
from mnemic.errors import Conflict, Denied, Invalid, MnemicError
from mnemic.formats import lines
from mnemic.model.graph import Edge
from mnemic.model.journal import Change, Subject
from mnemic.model.memory import Memory, Statement
from mnemic.model.values import State
from mnemic.storage.base import Progress, Writer

_TEXT, _NUMBER, _REAL = (str,), (int,), (int, float)
_MAYBE_TEXT, _MAYBE_NUMBER, _MAYBE_REAL = (str, NoneType), (int, NoneType), (int, float, NoneType)
MEMORY_TYPES: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("uid", "namespace", "title", "kind"), _TEXT),
    **dict.fromkeys(("summary", "source", "state_reason"), _MAYBE_TEXT),
    **dict.fromkeys(("id", "priority", "rating_count", "created_at", "updated_at"), _NUMBER),
    **dict.fromkeys(("access_count", "days_used"), _NUMBER),
    **dict.fromkeys(("session_id", "accessed_at", "expires_at"), _MAYBE_NUMBER),
    **dict.fromkeys(("valid_from", "valid_to", "state_at"), _MAYBE_NUMBER),
    "confidence": _REAL,
    "quality": _MAYBE_REAL,
    "rating": _MAYBE_REAL,
    "metadata": (dict,),
}
EDGE_TYPES: Mapping[str, tuple[type, ...]] = {
    "source_id": _NUMBER,
    "target_id": _NUMBER,
    "type": _TEXT,
    "weight": _REAL,
    "reason": _MAYBE_TEXT,
    "created_at": _NUMBER,
    "valid_from": _MAYBE_NUMBER,
    "valid_to": _MAYBE_NUMBER,
    "updated_at": _MAYBE_NUMBER,
    "quality": _MAYBE_REAL,
    "rating": _MAYBE_REAL,
    "rating_count": _NUMBER,
}


def export_lines(ctx: Context, *, journal: bool = False) -> Iterator[str]:
    """Every memory and link in every state, or every change, as lines of our own format."""
    _must_see_all(ctx)
    with ctx.store.snapshot() as reader:
        yield lines.line("mnemic", {"format": lines.FORMAT, "journal": journal})
        if journal:
            yield from map(lines.change_line, reader.journal())
            yield from (lines.use_line(memory) for memory in reader.all_memories() if memory.access_count)
            yield from (lines.together_line(*pair) for pair in reader.all_companions())
            yield from (lines.standard_line(*held) for held in reader.standards())
            return
        yield from map(lines.session_line, reader.sessions())
        yield from map(lines.memory_line, reader.all_memories())
        yield from map(lines.edge_line, reader.all_edges())
        yield from (lines.together_line(*pair) for pair in reader.all_companions())
        yield from (lines.standard_line(*held) for held in reader.standards())


def import_lines(ctx: Context, source: Iterable[str], progress: Progress | None = None) -> Imported:
    """Take in a file of our own format. What is known by its uid is skipped, so importing twice changes nothing."""
    _must_see_all(ctx)
    run = _Run(ctx)
    entries = lines.parsed(source)
    for kind, group in groupby(entries, key=lambda entry: entry[1][lines.RECORD]):
        if kind == "change":
            run.replay([content for _, content in group])
        else:
            run.take(kind, list(group), progress)
    ctx.wake()
    return run.done


def _must_see_all(ctx: Context) -> None:
    if ctx.granted is not None:
        raise Denied("This token may not move memories out or in: it is limited to some namespaces.")


@dataclass(slots=True)
class _Run:
    """One run of an import: the numbers that sessions and memories of the file have here, and how it went so far."""

    ctx: Context
    done: Imported = field(default_factory=Imported)
    sessions: dict[int, int] = field(default_factory=dict)
    memories: dict[int, int] = field(default_factory=dict)

    def take(
        self, kind: str, entries: Sequence[tuple[int, dict[str, Any]]], progress: Progress | None
    ) -> None:
        """Take in entries of one kind, each with the number of its line, a transaction for every few hundred."""
        take = TAKING.get(kind)
        if take is None:
            raise Invalid(f"Unknown kind of line: {kind!r}", lines.RECORD)
        count = 0
        for batch in batches(entries, BATCH):
            with self.ctx.write("import") as tx:
                for number, content in batch:
                    try:
                        take(self, tx, content)
                    except (MnemicError, KeyError, TypeError, ValueError) as error:
                        self.done.errors.append(f"line {number}: {_told(error)}")
            count += len(batch)
            if progress:
                progress(count, len(entries))

    def take_session(self, tx: Writer, content: Mapping[str, Any]) -> None:
        session = lines.session_of(content)
        number = tx.session(session.namespace, session.name, session.started_at)
        known = tx.session_numbered(number)
        assert known is not None
        more = {name: getattr(session, name) for name in ("ended_at", "topic", "summary", "metadata")}
        tx.change_session(known, **{name: value for name, value in more.items() if value not in (None, {})})
        self.sessions[session.id] = number

    def take_memory(self, tx: Writer, content: Mapping[str, Any]) -> None:
        memory = _checked_memory(lines.memory_of(content))
        known = tx.ids_with_uid(str(uuid.UUID(memory.uid)), 1)
        if known:
            self.memories[memory.id] = known[0]
            self.done.skipped += 1
            return
        if memory.session_id is not None:
            memory = replace(memory, session_id=self.sessions[memory.session_id])
        if memory.state is State.NAMED:
            self.memories[memory.id] = _taken_name(tx, memory)
            return
        if memory.state is State.LIVING:
            memory = replace(memory, title=tx.unused_title(memory.namespace, memory.title))
        self.memories[memory.id] = tx.take_in(memory).id
        self.done.imported += 1

    def take_edge(self, tx: Writer, content: Mapping[str, Any]) -> None:
        edge = lines.edge_of(content)
        _checked(edge, EDGE_TYPES)
        source, target = self.memories[edge.source_id], self.memories[edge.target_id]
        if not tx.has_edge(source, target, edge.type, edge.created_at):
            put_edge(tx, edge, source, target)

    def take_use(self, tx: Writer, content: Mapping[str, Any]) -> None:
        tx.set_use(content["id"], content["access_count"], content["accessed_at"], content["days_used"])

    def take_together(self, tx: Writer, content: Mapping[str, Any]) -> None:
        one, other = (self.memories[content[name]] for name in ("one_id", "other_id"))
        if not tx.companions([one, other]):
            tx.set_together(one, other, int(content["count"]), int(content["last"]))

    def take_standard(self, tx: Writer, content: Mapping[str, Any]) -> None:
        """What is set for a namespace; what is set here already stays."""
        namespace, number, parent = content["namespace"], content.get("memory_id"), content.get("parent")
        if not isinstance(namespace, str) or not isinstance(parent, str | None):
            raise Invalid("namespace, parent: must be texts")
        if namespace not in {held for held, _, _ in tx.standards()}:
            tx.set_standard(namespace, None if number is None else self.memories[number], parent)

    def replay(self, contents: Sequence[Mapping[str, Any]]) -> None:
        """Build a store again from its journal. Only an empty one can take the numbers of another."""
        if self.ctx.store.sequence():
            raise Conflict(
                "An export with its journal can only be imported into an empty database; export without it"
            )
        try:
            changes = [lines.change_of(content) for content in contents]
            for _, batch in groupby(changes, key=lambda change: change.batch):
                together = list(batch)
                first = together[0]
                with self.ctx.store.write(operation=first.operation, actor=first.actor, at=first.at) as tx:
                    for change in together:
                        self.done.imported += _redo(tx, change)
            self.memories |= {change.subject_id: change.subject_id for change in changes}
        except (AssertionError, KeyError, TypeError, ValueError) as error:
            raise Invalid(
                "The journal in this file does not fit together; export without it", "lines"
            ) from error


TAKING: Mapping[str, Callable[[_Run, Writer, Mapping[str, Any]], None]] = {
    "session": _Run.take_session,
    "memory": _Run.take_memory,
    "edge": _Run.take_edge,
    "use": _Run.take_use,
    "together": _Run.take_together,
    "standard": _Run.take_standard,
}
"""What is done with a line, by its kind."""


def _taken_name(tx: Writer, name: Memory) -> int:
    """What goes by *name* here already, or the name itself."""
    if tx.ids_titled(name.title, (name.namespace,)):
        return tx.named(name.namespace, name.title)
    try:
        return tx.take_in(name).id
    except Conflict:
        return tx.named(name.namespace, name.title)


def _checked(thing: Memory | Edge, types: Mapping[str, tuple[type, ...]]) -> None:
    """Invalid if a field that came from a file is not of its type."""
    for name, allowed in types.items():
        value = getattr(thing, name)
        if not isinstance(value, allowed) or isinstance(value, bool):
            raise Invalid(f"{name}: not of the right type: {str(value)[:40]!r}", name)


def _checked_memory(memory: Memory) -> Memory:
    _checked(memory, MEMORY_TYPES)
    faithful(memory.metadata)
    if not all(isinstance(tag, str) for tag in memory.tags):
        raise Invalid("tags: must be texts", "tags")
    if not all(isinstance(text, str) for text in memory.texts):
        raise Invalid("statements: must be texts", "statements")
    return memory


def _told(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    return str(error)


def _redo(tx: Writer, change: Change) -> bool:
    """Make *change* again; True if it brought a memory. What was purged leaves a gap in the numbers."""
    if change.after is None:
        tx.tombstone(change.subject, change.subject_id)
        return False
    match change.subject, change.before:
        case Subject.MEMORY, None:
            tx.take_in(_checked_memory(_born(change, change.after)))
            return True
        case Subject.MEMORY, _:
            memory = tx.memory(change.subject_id)
            assert memory is not None
            tx.change(memory, **typed(change.after))
        case Subject.EDGE, None:
            tx.add_edge(**typed(change.after))
        case Subject.EDGE, _:
            edge = tx.edge(change.subject_id)
            assert edge is not None
            tx.change_edge(edge, **typed(change.after))
        case Subject.SESSION, None:
            tx.add_session(id=change.subject_id, **change.after)  # type: ignore[arg-type]
        case Subject.SESSION, _:
            session = tx.session_numbered(change.subject_id)
            assert session is not None
            tx.change_session(session, **change.after)
    return False


def _born(change: Change, after: Mapping[str, Any]) -> Memory:
    fields = typed(after)
    texts = fields.pop("texts", ())
    return Memory(id=change.subject_id, statements=tuple(Statement(0, text) for text in texts), **fields)
