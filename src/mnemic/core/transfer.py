"""Moving memories out and in again: the lossless lines, and the JSON document."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from types import NoneType
from typing import Any

from mnemic.core.arrivals import BATCH, LABEL_LENGTH, SAID, Arrival, Imported, Intake, Rules, Tie, put_edge
from mnemic.core.batches import batches
from mnemic.core.context import Context
from mnemic.core.history import typed
from mnemic.core.memories import faithful, is_in_use, title_of
from mnemic.core.upkeep import EXPIRED
from mnemic.errors import Conflict, Denied, Invalid, MnemicError
from mnemic.formats import document, lines
from mnemic.model.graph import Edge
from mnemic.model.journal import Change, Subject
from mnemic.model.memory import Memory, Statement
from mnemic.model.values import State
from mnemic.storage.base import Progress, Reader, Writer

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
    done = Imported()
    numbers: dict[str, dict[int, int]] = {"memory": {}, "edge": {}, "session": {}}
    entries = lines.parsed(source)
    for kind, group in groupby(entries, key=lambda entry: entry[1][lines.RECORD]):
        if kind == "change":
            _replay(ctx, [content for _, content in group], numbers, done)
        else:
            _take_in(ctx, kind, group, numbers, done, progress)
    ctx.wake()
    return done


def _take_in(
    ctx: Context,
    kind: str,
    group: Iterable[tuple[int, dict[str, Any]]],
    numbers: dict[str, dict[int, int]],
    done: Imported,
    progress: Progress | None,
) -> None:
    """Entries of one kind, a transaction for every few hundred."""
    take = TAKING.get(kind)
    if take is None:
        raise Invalid(f"Unknown kind of line: {kind!r}", lines.RECORD)
    waiting, count = list(group), 0
    for batch in batches(waiting, BATCH):
        with ctx.write("import") as tx:
            for number, content in batch:
                try:
                    take(tx, ctx, content, numbers, done)
                except (MnemicError, KeyError, TypeError, ValueError) as error:
                    done.errors.append(f"line {number}: {_told(error)}")
        count += len(batch)
        if progress:
            progress(count, len(waiting))


def _must_see_all(ctx: Context) -> None:
    if ctx.granted is not None:
        raise Denied("This token may not move memories out or in: it is limited to some namespaces.")


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
    if not all(isinstance(statement.text, str) for statement in memory.statements):
        raise Invalid("statements: must be texts", "statements")
    return memory


def _told(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    return str(error)


Numbers = dict[str, dict[int, int]]


def _take_session(
    tx: Writer, ctx: Context, content: Mapping[str, Any], numbers: Numbers, done: Imported
) -> None:
    session = lines.session_of(content)
    number = tx.session(session.namespace, session.name, session.started_at)
    known = tx.session_numbered(number)
    assert known is not None
    more = {name: getattr(session, name) for name in ("ended_at", "topic", "summary", "metadata")}
    tx.change_session(known, **{name: value for name, value in more.items() if value not in (None, {})})
    numbers["session"][session.id] = number


def _take_memory(
    tx: Writer, ctx: Context, content: Mapping[str, Any], numbers: Numbers, done: Imported
) -> None:
    memory = _checked_memory(lines.memory_of(content))
    known = tx.ids_with_uid(str(uuid.UUID(memory.uid)), 1)
    if known:
        numbers["memory"][memory.id] = known[0]
        done.skipped += 1
        return
    if memory.session_id is not None:
        memory = replace(memory, session_id=numbers["session"][memory.session_id])
    if memory.state is State.NAMED:
        numbers["memory"][memory.id] = _take_name(tx, memory)
        return
    if memory.state is State.LIVING:
        memory = replace(memory, title=tx.unused_title(memory.namespace, memory.title))
    numbers["memory"][memory.id] = tx.take_in(memory).id
    done.imported += 1


def _take_name(tx: Writer, name: Memory) -> int:
    """What goes by *name* here already, or the name itself."""
    if tx.ids_titled(name.title, (name.namespace,)):
        return tx.named(name.namespace, name.title)
    try:
        return tx.take_in(name).id
    except Conflict:
        return tx.named(name.namespace, name.title)


def _take_edge(
    tx: Writer, ctx: Context, content: Mapping[str, Any], numbers: Numbers, done: Imported
) -> None:
    edge = lines.edge_of(content)
    _checked(edge, EDGE_TYPES)
    source, target = numbers["memory"][edge.source_id], numbers["memory"][edge.target_id]
    if tx.has_edge(source, target, edge.type, edge.created_at):
        return
    put_edge(tx, edge, source, target)


def _take_use(tx: Writer, ctx: Context, content: Mapping[str, Any], numbers: Numbers, done: Imported) -> None:
    tx.set_use(content["id"], content["access_count"], content["accessed_at"], content["days_used"])


def _take_together(
    tx: Writer, ctx: Context, content: Mapping[str, Any], numbers: Numbers, done: Imported
) -> None:
    one, other = (numbers["memory"][content[name]] for name in ("one_id", "other_id"))
    if not tx.companions([one, other]):
        tx.set_together(one, other, int(content["count"]), int(content["last"]))


def _take_standard(
    tx: Writer, ctx: Context, content: Mapping[str, Any], numbers: Numbers, done: Imported
) -> None:
    """What is set for a namespace; what is set here already stays."""
    namespace, number, parent = content["namespace"], content.get("memory_id"), content.get("parent")
    if not isinstance(namespace, str) or not isinstance(parent, str | None):
        raise Invalid("namespace, parent: must be texts")
    if namespace not in {held for held, _, _ in tx.standards()}:
        tx.set_standard(namespace, None if number is None else numbers["memory"][number], parent)


TAKING = {
    "session": _take_session,
    "memory": _take_memory,
    "edge": _take_edge,
    "use": _take_use,
    "together": _take_together,
    "standard": _take_standard,
}


def _replay(ctx: Context, contents: list[dict[str, Any]], numbers: Numbers, done: Imported) -> None:
    """Build a store again from its journal. Only an empty one can take the numbers of another."""
    if ctx.store.sequence():
        raise Conflict(
            "An export with its journal can only be imported into an empty database; export without it"
        )
    try:
        changes = [lines.change_of(content) for content in contents]
        for _, batch in groupby(changes, key=lambda change: change.batch):
            together = list(batch)
            first = together[0]
            with ctx.store.write(operation=first.operation, actor=first.actor, at=first.at) as tx:
                for change in together:
                    done.imported += _redo(tx, change)
        numbers["memory"] |= {change.subject_id: change.subject_id for change in changes}
    except (AssertionError, KeyError, TypeError, ValueError) as error:
        raise Invalid("The journal in this file does not fit together; export without it", "lines") from error


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


def export_json(ctx: Context) -> dict[str, Any]:
    """Everything living as one JSON document."""
    now = ctx.now()
    with ctx.store.snapshot() as reader:
        living = (memory for memory in reader.all_memories() if is_in_use(ctx, memory))
        sessions = {session.id: session.name for session in reader.sessions()}
        content = document.document(living, current_edges(reader), sessions, now)
        standards = [
            {"namespace": rules.namespace, "standard_id": rules.standard, "parent": rules.parent}
            for rules in rules_of(ctx, reader)
        ]
    return {**content, "standards": standards} if standards else content


def rules_of(ctx: Context, reader: Reader) -> Iterator[Rules]:
    """What is set for the namespaces that may be seen, as far as the memory meant is in use."""
    for namespace, number, parent in reader.standards():
        memory = None if number is None else reader.memory(number)
        is_seen = ctx.may_see(namespace) and (memory is None or is_in_use(ctx, memory))
        if is_seen and (memory or parent):
            yield Rules(namespace, namespace, memory.uid if memory else None, parent)


def current_edges(reader: Reader) -> Iterator[Edge]:
    """The links that stand."""
    return (edge for edge in reader.all_edges() if edge.state is State.LIVING and edge.valid_to is None)


Check = Callable[[Mapping[str, Any]], None]
"""Raises Invalid for an entry that breaks the rules of a vocabulary."""


def import_json(
    ctx: Context,
    content: object,
    *,
    check: Check | None = None,
    progress: Progress | None = None,
    keeps_forgotten: bool = False,
) -> Imported:
    """Take in a JSON document. What is known is brought up to date; what cannot be read or linked is reported.

    With *keeps_forgotten* a memory that was forgotten here stays so, unless it changed there since.
    """
    if not isinstance(content, Mapping) or not isinstance(content.get("memories"), list):
        raise Invalid("The document has no list of memories", "memories")
    links = content.get("links") or []
    if not isinstance(links, list):
        raise Invalid("The document's links are no list", "links")
    intake = Intake(ctx, keeps_forgotten)
    entries = content["memories"]
    intake.take(_arrivals(ctx, entries, check, intake.done), len(entries), progress)
    intake.tie(ties_of(ctx, links, intake.done))
    intake.set_standards(_rules(content.get("standards"), intake.done))
    ctx.wake()
    return intake.done


def _arrivals(ctx: Context, entries: Iterable[Any], check: Check | None, done: Imported) -> Iterator[Arrival]:
    """The entries that can be read; the others are told in *done*."""
    for index, entry in enumerate(entries):
        try:
            yield _arrival(ctx, index, entry, check)
        except (Invalid, Denied) as error:
            done.errors.append(f"{_label(index, entry)}: {error}")


def _arrival(ctx: Context, index: int, entry: Any, check: Check | None) -> Arrival:
    if not isinstance(entry, Mapping):
        raise Invalid("must be an object")
    if check:
        check(entry)
    return arrival_of(ctx, _label(index, entry), entry)


def arrival_of(
    ctx: Context,
    label: str,
    entry: Mapping[str, Any],
    *,
    key: str = "",
    has_name: bool = True,
    adds: bool = False,
) -> Arrival:
    """What an entry of the JSON document tells of, or Invalid; links know it by *key*, else by its id."""
    memory = document.memory_of(entry, ctx.now())
    faithful(memory.metadata)
    if not memory.title.strip() and not memory.content.strip():
        raise Invalid("title: must be a text that is not empty", "title")
    memory = replace(
        memory,
        uid=memory.uid or ctx.new_uid(),
        namespace=ctx.home(memory.namespace.strip()),
        title=memory.title if memory.title.strip() else title_of(memory.content),
    )
    session = document.text(entry, "session") if entry.get("session") is not None else None
    says = SAID.intersection(name for name, value in entry.items() if value is not None)
    key = key or (document.key_of(entry) if entry.get("id") is not None else "")
    return Arrival(label, key, _over(ctx, memory), session, says, has_name, adds)


def _over(ctx: Context, memory: Memory) -> Memory:
    """*memory*, in the archive if its time is over."""
    if memory.state is not State.LIVING or memory.expires_at is None or memory.expires_at > ctx.now():
        return memory
    return replace(memory, state=State.ARCHIVED, state_reason=EXPIRED, state_at=ctx.now())


def _label(index: int, entry: Any) -> str:
    title = entry.get("title") if isinstance(entry, Mapping) else None
    if not isinstance(title, str) or not title.strip():
        return f"memories.{index}"
    return title[:LABEL_LENGTH].encode(errors="replace").decode()


def ties_of(ctx: Context, links: Iterable[Any], done: Imported) -> Iterator[Tie]:
    """The links that can be read; the others are told in *done*."""
    for index, link in enumerate(links):
        label = f"links.{index}"
        try:
            if not isinstance(link, Mapping):
                raise Invalid("must be an object")
            source, target = (document.key_of(link, name) for name in ("source_id", "target_id"))
            if not source or not target:
                raise Invalid("source_id, target_id: both are needed")
            yield Tie(label, source, target, document.edge_of(link, ctx.now()))
        except Invalid as error:
            done.errors.append(f"{label}: {error}")


def _rules(standards: Any, done: Imported) -> Iterator[Rules]:
    """What is set for namespaces, as far as it can be read; the rest is told in *done*."""
    for index, entry in enumerate(standards if isinstance(standards, list) else ()):
        label = f"standards.{index}"
        try:
            if not isinstance(entry, Mapping):
                raise Invalid("must be an object")
            told = {name: value for name, value in entry.items() if value is not None}
            namespace, parent = document.text(told, "namespace"), document.text(told, "parent")
            if not namespace:
                raise Invalid("namespace: must be a text that is not empty")
            yield Rules(label, namespace, document.key_of(told, "standard_id") or None, parent or None)
        except Invalid as error:
            done.errors.append(f"{label}: {error}")
