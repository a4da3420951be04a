"""The lossless lines: every memory, link and change moved out, and in again."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from types import NoneType
from typing import Any, NamedTuple, TypeVar

from mnemic.core.batches import batches
from mnemic.core.context import Context
from mnemic.core.hidden import bearers, free_title
from mnemic.core.history import typed
from mnemic.core.memories import faithful
from mnemic.core.moving.arrivals import BATCH, Imported, put_edge, session_here, tell_session, within
from mnemic.core.reflections import ENTITY, TARGET_TYPE, aimed, target_of
from mnemic.errors import Conflict, Denied, Invalid, MnemicError, NotFound
from mnemic.formats import lines
from mnemic.model.graph import Edge
from mnemic.model.journal import Change, Subject
from mnemic.model.memory import Memory, Statement
from mnemic.model.session import Session
from mnemic.model.values import EARLIEST, LATEST, Moment, State
from mnemic.storage.base import Progress, Writer

T = TypeVar("T")
Entry = tuple[int, dict[str, Any]]
"""What a line holds, and the number of the line."""
CHANGED = "change"
"""The kind of the lines that tell a journal."""
LARGEST = 2**63 - 1
"""The largest number a store holds."""


class _Rule(NamedTuple):
    """What a field that came from a file may hold."""

    types: tuple[type, ...]
    least: int = -LARGEST
    most: int = LARGEST

    @property
    def or_nothing(self) -> _Rule:
        """The same for a field that need not be there."""
        return self._replace(types=(*self.types, NoneType))


_TEXT, _NUMBER, _REAL, _OBJECT = _Rule((str,)), _Rule((int,)), _Rule((int, float)), _Rule((dict,))
_COUNT, _MOMENT = _Rule((int,), least=0), _Rule((int,), EARLIEST, LATEST)
MEMORY: Mapping[str, _Rule] = {
    **dict.fromkeys(("uid", "namespace", "title", "kind"), _TEXT),
    **dict.fromkeys(("summary", "source", "state_reason"), _TEXT.or_nothing),
    **dict.fromkeys(("id", "rating_count", "access_count", "days_used"), _COUNT),
    **dict.fromkeys(("created_at", "updated_at"), _MOMENT),
    **dict.fromkeys(("accessed_at", "expires_at", "valid_from", "valid_to", "state_at"), _MOMENT.or_nothing),
    "session_id": _COUNT.or_nothing,
    "priority": _NUMBER,
    "confidence": _REAL,
    "quality": _REAL.or_nothing,
    "rating": _REAL.or_nothing,
    "metadata": _OBJECT,
}
EDGE: Mapping[str, _Rule] = {
    **dict.fromkeys(("id", "source_id", "target_id", "rating_count"), _COUNT),
    **dict.fromkeys(("valid_from", "valid_to", "updated_at"), _MOMENT.or_nothing),
    "type": _TEXT,
    "weight": _REAL,
    "reason": _TEXT.or_nothing,
    "created_at": _MOMENT,
    "quality": _REAL.or_nothing,
    "rating": _REAL.or_nothing,
}
SESSION: Mapping[str, _Rule] = {
    "id": _COUNT,
    "namespace": _TEXT,
    "name": _TEXT,
    "started_at": _MOMENT,
    "ended_at": _MOMENT.or_nothing,
    "topic": _TEXT.or_nothing,
    "summary": _TEXT.or_nothing,
    "metadata": _OBJECT,
}
USE: Mapping[str, _Rule] = {
    "access_count": _COUNT,
    "accessed_at": _MOMENT.or_nothing,
    "days_used": _COUNT,
}
TOGETHER: Mapping[str, _Rule] = {"count": _COUNT, "last": _MOMENT}
STANDARD: Mapping[str, _Rule] = {"namespace": _TEXT, "parent": _TEXT.or_nothing}
CHANGE: Mapping[str, _Rule] = {
    **dict.fromkeys(("sequence", "batch", "subject_id"), _COUNT),
    **dict.fromkeys(("actor", "operation"), _TEXT),
    **dict.fromkeys(("before", "after"), _OBJECT.or_nothing),
    "at": _MOMENT,
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
    """Take in a file of our own format. What is known by its uid is skipped, so importing twice changes nothing.

    Changes are taken in first, and all of them or none.
    """
    _must_see_all(ctx)
    changes: list[Entry] = []
    others: list[Entry] = []
    for number, content in lines.parsed(source):
        kind = content[lines.RECORD]
        if kind != CHANGED and kind not in TAKING:
            raise Invalid(f"line {number}: Unknown kind of line: {kind!r}", lines.RECORD)
        (changes if kind == CHANGED else others).append((number, content))
    run = _Run(ctx)
    if changes:
        run.replay(changes)
    for kind, group in groupby(others, key=lambda entry: entry[1][lines.RECORD]):
        run.take(TAKING[kind], list(group), progress)
    run.aim()
    ctx.wake()
    return run.done


def _must_see_all(ctx: Context) -> None:
    if ctx.granted is not None:
        raise Denied("This token may not move memories out or in: it is limited to some namespaces.")


@dataclass(slots=True)
class _Run:
    """One run of an import: the numbers that what is in the file has here, and how it went so far."""

    ctx: Context
    done: Imported = field(default_factory=Imported)
    sessions: dict[int, int] = field(default_factory=dict)
    memories: dict[int, int] = field(default_factory=dict)
    edges: dict[int, int] = field(default_factory=dict)
    fresh: set[tuple[int, int, str, Moment]] = field(default_factory=set)
    """The links that were not known before: their ends here, their type and when they were made."""
    thoughts: dict[int, Memory] = field(default_factory=dict)
    """Reflections as they are in the file, by their numbers here, on what had not come when they did."""

    def take(self, take: Taking, entries: Sequence[Entry], progress: Progress | None) -> None:
        """Take in entries of one kind, each with the number of its line, a transaction for every few hundred."""
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
        session = _checked_session(lines.session_of(content))
        others = self.sessions.values()
        known = session_here(tx, session.namespace, session.name, session.started_at, others)
        tell_session(tx, known, session)
        self.sessions[session.id] = known.id

    def take_memory(self, tx: Writer, content: Mapping[str, Any]) -> None:
        _must_be_lists(content)
        memory = _checked_memory(lines.memory_of(content))
        known = tx.ids_with_uid(str(uuid.UUID(memory.uid)), 1)
        if known:
            self.memories[memory.id] = known[0]
            self.done.skipped += 1
            return
        if memory.session_id is not None:
            memory = within(memory, _number_here(self.sessions, content, "session_id"))
        if memory.state is State.NAMED:
            self.memories[memory.id] = _taken_name(tx, memory)
            return
        if memory.state is State.LIVING:
            memory = replace(memory, title=free_title(tx, memory))
        told = memory if target_of(memory) is None else aimed(memory, self._target(memory))
        number = tx.take_in(told).id
        if target_of(memory) is not None and target_of(told) is None:
            self.thoughts[number] = memory
        self.memories[memory.id] = number
        self.done.imported += 1

    def _target(self, thought: Memory) -> int | None:
        """The number here of what a reflection is about, or None if that has not come."""
        numbers = self.memories if thought.metadata.get(TARGET_TYPE) == ENTITY else self.edges
        target = target_of(thought)
        return None if target is None else numbers.get(target)

    def aim(self) -> None:
        """Say of reflections what they are about, where that came after them."""
        found = {
            number: target
            for number, thought in self.thoughts.items()
            if (target := self._target(thought)) is not None
        }
        if not found:
            return
        with self.ctx.write("import") as tx:
            for memory in tx.memories(list(found)):
                told = aimed(self.thoughts[memory.id], found[memory.id])
                tx.change(memory, metadata=told.metadata, updated_at=memory.updated_at)

    def take_edge(self, tx: Writer, content: Mapping[str, Any]) -> None:
        edge = _checked_edge(lines.edge_of(content))
        source, target = (_number_here(self.memories, content, name) for name in ("source_id", "target_id"))
        key = (source, target, edge.type, edge.created_at)
        # One that ended may stand again beside itself, as if it had never ended.
        if key in self.fresh or not tx.has_edge(*key):
            self.fresh.add(key)
            self.edges[edge.id] = put_edge(tx, edge, source, target).id
        elif same := tx.edge_between(source, target, edge.type):
            self.edges[edge.id] = same.id

    def take_use(self, tx: Writer, content: Mapping[str, Any]) -> None:
        _check(content, USE)
        tx.set_use(_number_here(self.memories, content, "id"), **{name: content[name] for name in USE})

    def take_together(self, tx: Writer, content: Mapping[str, Any]) -> None:
        _check(content, TOGETHER)
        one, other = (_number_here(self.memories, content, name) for name in ("one_id", "other_id"))
        if one != other and not tx.companions([one, other]):
            tx.set_together(one, other, content["count"], content["last"])

    def take_standard(self, tx: Writer, content: Mapping[str, Any]) -> None:
        """What is set for a namespace; what is set here already stays."""
        _check({"parent": None, **content}, STANDARD)
        namespace, parent = content["namespace"], content.get("parent")
        has_memory = content.get("memory_id") is not None
        number = _number_here(self.memories, content, "memory_id") if has_memory else None
        if namespace not in {held for held, _, _ in tx.standards()}:
            tx.set_standard(namespace, number, parent)

    def replay(self, entries: Sequence[Entry]) -> None:
        """Build a store again from its journal, all of it or nothing. Only an empty one can take another's numbers."""
        with self.ctx.write("import") as tx:
            if self.ctx.store.sequence():
                raise Conflict(
                    "An export with its journal can only be imported into an empty database; export without it"
                )
            batch = None
            for number, content in entries:
                try:
                    change = _checked_change(content)
                    if change.batch != batch:
                        tx.journal_as(operation=change.operation, actor=change.actor, at=change.at)
                        batch = change.batch
                    self.done.imported += _redo(tx, change)
                except (Invalid, Conflict, NotFound, KeyError, TypeError, ValueError) as error:
                    raise Invalid(
                        f"line {number}: {_told(error).rstrip('.')}. The journal in this file does not fit together; "
                        "export without it",
                        "lines",
                    ) from error
                if change.subject is Subject.MEMORY:
                    self.memories[change.subject_id] = change.subject_id


Taking = Callable[[_Run, Writer, Mapping[str, Any]], None]
TAKING: Mapping[str, Taking] = {
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
    if bearers(tx, name.title, (name.namespace,)):
        return tx.named(name.namespace, name.title)
    try:
        return tx.take_in(name).id
    except Conflict:
        return tx.named(name.namespace, name.title)


def _number_here(numbers: Mapping[int, int], content: Mapping[str, Any], name: str) -> int:
    """The number here of what a line names by its number in the file."""
    number = content[name]
    if not isinstance(number, int) or number not in numbers:
        raise Invalid(f"{name}: nothing in this file has the number {str(number)[:40]}", name)
    return numbers[number]


def _check(values: Mapping[str, Any], rules: Mapping[str, _Rule]) -> None:
    """Invalid if a field that came from a file holds what it may not."""
    for name, rule in rules.items():
        value = values[name]
        if not isinstance(value, rule.types) or isinstance(value, bool):
            raise Invalid(f"{name}: not of the right type: {str(value)[:40]!r}", name)
        if isinstance(value, int | float) and not rule.least <= value <= rule.most:
            raise Invalid(f"{name}: out of range: {str(value)[:40]}", name)


def _must_be_lists(content: Mapping[str, Any]) -> None:
    """Invalid if a text stands where a list of them should, since that has parts too."""
    for name in ("tags", "statements"):
        if not isinstance(content.get(name, []), list):
            raise Invalid(f"{name}: must be a list", name)


def _checked_memory(memory: Memory) -> Memory:
    _check({name: getattr(memory, name) for name in MEMORY}, MEMORY)
    faithful(memory.metadata)
    if not all(isinstance(tag, str) for tag in memory.tags):
        raise Invalid("tags: must be texts", "tags")
    if not all(isinstance(text, str) for text in memory.texts):
        raise Invalid("statements: must be texts", "statements")
    return memory


def _checked_edge(edge: Edge) -> Edge:
    _check({name: getattr(edge, name) for name in EDGE}, EDGE)
    return edge


def _checked_session(session: Session) -> Session:
    _check({name: getattr(session, name) for name in SESSION}, SESSION)
    faithful(session.metadata)
    return session


def _checked_change(content: Mapping[str, Any]) -> Change:
    _check(content, CHANGE)
    change = lines.change_of(content)
    _must_be_lists(change.after or {})
    return change


def _told(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    return str(error)


def _redo(tx: Writer, change: Change) -> bool:
    """Make *change* again; True if it brought a memory. What was purged leaves a gap in the numbers."""
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
            number = tx.take_in(_checked_memory(memory)).id
        case Subject.EDGE:
            _checked_edge(Edge(id=change.subject_id, **fields))
            number = tx.add_edge(id=change.subject_id, **fields).id
        case Subject.SESSION:
            _checked_session(Session(id=change.subject_id, **fields))
            number = tx.add_session(id=change.subject_id, **fields).id
    if number != change.subject_id:
        raise Invalid(f"subject_id: the number {change.subject_id} cannot be had", "subject_id")


def _alter(tx: Writer, change: Change, fields: dict[str, Any]) -> None:
    """Change what *change* changed."""
    match change.subject:
        case Subject.MEMORY:
            memory = _there(change, tx.memory(change.subject_id))
            texts = fields.get("texts", memory.texts)
            others = {name: value for name, value in fields.items() if name != "texts"}
            statements = tuple(Statement(0, text) for text in texts)
            _checked_memory(replace(memory, **others, statements=statements))
            # Where a change does not say when, it was none that counts as one.
            tx.change(memory, **{"updated_at": memory.updated_at, **fields})
        case Subject.EDGE:
            edge = _there(change, tx.edge(change.subject_id))
            _checked_edge(replace(edge, **fields))
            tx.change_edge(edge, **fields)
        case Subject.SESSION:
            session = _there(change, tx.session_numbered(change.subject_id))
            _checked_session(replace(session, **fields))
            tx.change_session(session, **fields)


def _there(change: Change, known: T | None) -> T:
    """What a change was made to, if it was ever made itself."""
    if known is None:
        raise Invalid(f"subject_id: there is no {change.subject} {change.subject_id} to change", "subject_id")
    return known
