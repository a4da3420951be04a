"""JSON lines, Mnemic's own format: one JSON object a line, nothing left out.

The first line names the format and, where stores are synced, what the store knows. A plain export then holds sessions,
memories and links as they stand, with their versions. One with the journal holds every change instead, from which the
store can be built again, and then how often each memory was used. Both end with the pairs of memories that were found
together and with the standards of namespaces.
"""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from types import NoneType
from typing import IO, Any, NamedTuple, TypeVar

import orjson

from mnemic.core.context import Context
from mnemic.core.history import typed
from mnemic.core.memories import faithful
from mnemic.core.reflections import ENTITY, TARGET_TYPE, aimed, target_of
from mnemic.errors import Conflict, Denied, Invalid, MnemicError, NotFound
from mnemic.model.change import BEGINNING, Change, Subject
from mnemic.model.enums import State, Tier
from mnemic.model.filter import ANY_EDGE, AliasFilter
from mnemic.model.graph import Edge, EdgeDraft, EdgePatch
from mnemic.model.memory import Memory, MemoryPatch, Statement
from mnemic.model.session import Session, SessionDraft, SessionPatch
from mnemic.model.time import EARLIEST, LATEST, Moment
from mnemic.model.version import Stamp, Version
from mnemic.storage.base import Progress, Reader, Writer
from mnemic.storage.queries import (
    alias_uids,
    each_edge,
    each_memory,
    edge_numbered,
    memory_numbered,
    newest_change,
    session_numbered,
)
from mnemic.transfer import versions
from mnemic.transfer.exporter import batched, knowledge_of
from mnemic.transfer.importer import Importer
from mnemic.transfer.records import (
    End,
    FlawRecord,
    LinkKey,
    LinkRecord,
    MemoryRecord,
    PairRecord,
    PurgeRecord,
    Record,
    SessionKey,
    SessionRecord,
    StandardRecord,
    TargetRecord,
    UseRecord,
)
from mnemic.transfer.report import Report
from mnemic.transfer.session_keys import session_key
from mnemic.transfer.store_batch import StorePolicy
from mnemic.transfer.versions import Knowledge

T = TypeVar("T")
Entry = tuple[int, dict[str, Any]]
"""What a line holds, and the number of the line."""
RECORD = "record"
FORMAT = 1
HEADER, CHANGED = "mnemic", "change"
"""The kind of the first line, and of the lines that tell a journal."""
IN_MEMORY_BYTES = 1 << 24
"""A file that is being read is kept in memory up to this size, and in a temporary file beyond it."""
LARGEST = 2**63 - 1
"""The largest number a store holds."""
USES = ("access_count", "accessed_at", "days_used")


# -- writing


def export_lines(ctx: Context, *, journal: bool = False) -> Iterator[str]:
    """Every memory and link in every state, or every change, as lines."""
    _must_see_all(ctx)
    is_synced = bool(versions.known(ctx.store.read()).store)
    knowledge = knowledge_of(ctx) if is_synced else Knowledge("")
    with ctx.store.snapshot() as reader:
        yield _header_line(knowledge, journal)
        if journal:
            yield from map(_change_line, reader.journal())
            yield from (_use_line(memory) for memory in each_memory(reader) if memory.access_count)
        else:
            yield from _current_lines(reader)
        yield from (_pair_line(*pair) for pair in reader.companions())
        yield from (_standard_line(*held) for held in reader.standards())


def _current_lines(reader: Reader) -> Iterator[str]:
    """Sessions, purges, memories and links as they stand, with the versions that are kept of them."""
    for sessions in batched(reader.sessions()):
        kept = reader.versions(Subject.SESSION, [one.id for one in sessions])
        yield from (_session_line(one, kept.get(one.id)) for one in sessions)
    yield from (_line("purge", {"uid": uid}) for uid, _ in reader.aliases(AliasFilter(is_purged=True)))
    for memories in batched(each_memory(reader)):
        numbers = [one.id for one in memories]
        kept, aliases = reader.versions(Subject.MEMORY, numbers), alias_uids(reader, numbers)
        yield from (_memory_line(one, kept.get(one.id), aliases.get(one.id, ())) for one in memories)
    for edges in batched(each_edge(reader, ANY_EDGE)):
        kept = reader.versions(Subject.EDGE, [one.id for one in edges])
        yield from (_edge_line(one, kept.get(one.id)) for one in edges)


def _line(kind: str, content: Mapping[str, Any], version: Version | None = None) -> str:
    told = {} if version is None else {"version": version_entry(version)}
    return orjson.dumps({RECORD: kind, **content, **told}).decode()


def version_entry(version: Version) -> dict[str, Any]:
    """*version* in JSON."""
    stamps = {key: stamp.entry for key, stamp in version.stamps.items()}
    return {"stamps": stamps, **({"order": version.order} if version.order else {})}


def version_of(entry: Any) -> Version | None:
    """The version that JSON tells, or None; Invalid if it is none."""
    if entry is None:
        return None
    try:
        stamps = {str(key): Stamp.of(stamp) for key, stamp in entry["stamps"].items()}
        return Version(stamps, tuple(map(str, entry.get("order", ()))))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise Invalid("version: not as an export tells it", "version") from None


def _header_line(knowledge: Knowledge, journal: bool) -> str:
    known = {"store": knowledge.store, "knowledge": knowledge.entry} if knowledge.store else {}
    return _line(HEADER, {"format": FORMAT, "journal": journal, **known})


def _memory_line(memory: Memory, version: Version | None, aliases: Sequence[str]) -> str:
    content = {
        item.name: getattr(memory, item.name)
        for item in fields(memory)
        if item.name != "statements" and getattr(memory, item.name) not in (None, (), {})
    }
    others = {"aliases": list(aliases)} if aliases else {}
    return _line("memory", {**content, "statements": memory.texts, **others}, version)


def _edge_line(edge: Edge, version: Version | None) -> str:
    content = {item.name: getattr(edge, item.name) for item in fields(edge)}
    return _line("edge", {name: value for name, value in content.items() if value is not None}, version)


def _session_line(session: Session, version: Version | None) -> str:
    content = {item.name: getattr(session, item.name) for item in fields(session)}
    return _line(
        "session", {name: value for name, value in content.items() if value not in (None, {})}, version
    )


def _use_line(memory: Memory) -> str:
    return _line("use", {name: getattr(memory, name) for name in ("id", *USES)})


def _pair_line(one_id: int, other_id: int, found: tuple[int, Moment]) -> str:
    return _line("together", {"one_id": one_id, "other_id": other_id, "count": found[0], "last": found[1]})


def _standard_line(namespace: str, memory_id: int | None, parent: str | None) -> str:
    held = {"namespace": namespace, "memory_id": memory_id, "parent": parent}
    return _line("standard", {name: value for name, value in held.items() if value is not None})


def _change_line(change: Change) -> str:
    return _line(CHANGED, {name: getattr(change, name) for name in CHANGE_FIELDS})


# -- reading


def import_lines(ctx: Context, source: Iterable[str], progress: Progress | None = None) -> Report:
    """Import a file: known memories are merged by field and statement, so importing twice changes nothing.

    A file that is damaged changes nothing. A journal is replayed first, and all of it or none.
    """
    _must_see_all(ctx)
    with tempfile.SpooledTemporaryFile(IN_MEMORY_BYTES) as copy:
        header, count, has_journal = _checked_copy(source, copy)
        knowledge = Knowledge.of(header.get("store") or "", header.get("knowledge") or {})
        policy = StorePolicy(knowledge, is_versioned=bool(knowledge.store), keeps_numbers=True)
        importer = Importer(ctx, policy)
        lines = Lines()
        if has_journal:
            importer.report.imported += _replay(ctx, (entry for entry in _parsed(copy) if _is_change(entry)))
            lines = Lines(ctx.store.read())
        others = (entry for entry in _parsed(copy) if not _is_change(entry))
        importer.merge(lines.records(others), progress, count)
        return importer.finish()


def _must_see_all(ctx: Context) -> None:
    if ctx.granted is not None:
        raise Denied("This token may not move memories out or in: it is limited to some namespaces.")


def _is_change(entry: Entry) -> bool:
    return bool(entry[1][RECORD] == CHANGED)


def _checked_copy(source: Iterable[str], copy: IO[bytes]) -> tuple[dict[str, Any], int, bool]:
    """Copy *source*; its header, how many lines it has and whether a journal is in it. Invalid if it is damaged."""
    header: dict[str, Any] = {}
    count, has_journal = 0, False
    for text in source:
        copy.write(text.rstrip("\n").encode(errors="surrogatepass") + b"\n")
    for number, content in _parsed(copy):
        kind = content[RECORD]
        if kind == HEADER:
            header = _checked_header(content)
        elif kind != CHANGED and kind not in READERS:
            raise Invalid(f"line {number}: Unknown kind of line: {kind!r}", RECORD)
        count += 1
        has_journal |= kind == CHANGED
    return header, count, has_journal


def _parsed(copy: IO[bytes]) -> Iterator[Entry]:
    """The objects of a file with their line numbers; Invalid for a line that is none."""
    copy.seek(0)
    for number, text in enumerate(copy, 1):
        if not text.strip():
            continue
        try:
            content = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise Invalid(f"line {number}: not JSON: {error}", "lines") from None
        if not isinstance(content, dict) or not isinstance(content.get(RECORD), str):
            raise Invalid(f"line {number}: not an object with a record", "lines")
        yield number, content


def _checked_header(header: dict[str, Any]) -> dict[str, Any]:
    if header.get("format") != FORMAT:
        raise Invalid(
            "The file is in a newer format than this Mnemic reads. Upgrade Mnemic to import it.", "format"
        )
    known = header.get("knowledge", {})
    try:
        Knowledge.of(str(header.get("store", "")), known)
    except (AttributeError, ValueError):
        raise Invalid("line 1: knowledge: not as an export tells it", "knowledge") from None
    return header


@dataclass(slots=True)
class Lines:
    """Lines as records: the numbers of a file become uids."""

    replayed: Reader | None = None
    """The store that has the numbers of the file already."""
    memories: dict[int, End] = field(default_factory=dict)
    links: dict[int, LinkKey] = field(default_factory=dict)
    sessions: dict[int, SessionKey] = field(default_factory=dict)
    reflections: list[Memory] = field(default_factory=list)

    def records(self, entries: Iterable[Entry]) -> Iterator[Record]:
        """The records of *entries*; a line that cannot be read becomes a flaw."""
        pending: dict[object, list[LinkRecord]] = {}
        for number, content in entries:
            if content[RECORD] == HEADER:
                continue
            label = f"line {number}"
            try:
                record = READERS[content[RECORD]](self, label, content)
            except (MnemicError, KeyError, TypeError, ValueError) as error:
                record = FlawRecord(label, _told(error))
            if isinstance(record, LinkRecord):
                pending.setdefault(replace(record.key, created_at=0), []).append(record)
            elif record:
                yield record
        yield from chain.from_iterable(pending.values())
        yield from self._targets()

    def session(self, label: str, content: Mapping[str, Any]) -> Record:
        """A line that tells a session."""
        told = {item.name: content[item.name] for item in fields(Session) if item.name in content}
        session = checked_session(Session(**told))
        self.sessions[session.id] = session_key(session)
        return SessionRecord(label, session, version_of(content.get("version")))

    def purge(self, label: str, content: Mapping[str, Any]) -> Record:
        """A line that tells that a memory was purged."""
        return PurgeRecord(label, str(uuid.UUID(content["uid"])))

    def memory(self, label: str, content: Mapping[str, Any]) -> Record | None:
        """A line that tells a memory."""
        _must_be_lists(content)
        memory = checked_memory(memory_of(content))
        memory = replace(memory, uid=str(uuid.UUID(memory.uid)))
        session = None
        if memory.session_id is not None:
            session = _known(self.sessions, content, "session_id")
        is_placeholder = memory.state is State.NAMED
        self.memories[memory.id] = (
            End("", memory.namespace, memory.title) if is_placeholder else End(memory.uid)
        )
        if target_of(memory) is not None:
            self.reflections.append(memory)
            memory = aimed(memory, None)
        aliases = tuple(str(uuid.UUID(uid)) for uid in content.get("aliases", ()))
        return MemoryRecord(label, memory, session, version_of(content.get("version")), aliases)

    def edge(self, label: str, content: Mapping[str, Any]) -> Record:
        """A line that tells a link."""
        told = {item.name: content[item.name] for item in fields(Edge) if item.name in content}
        edge = checked_edge(Edge(**{**told, "state": State(content.get("state", State.LIVING))}))
        source, target = (self._end(content, name) for name in ("source_id", "target_id"))
        self.links[edge.id] = key = LinkKey(source, target, edge.type, edge.created_at)
        return LinkRecord(label, edge, key, version_of(content.get("version")))

    def use(self, label: str, content: Mapping[str, Any]) -> Record:
        """A line that tells how often a memory was used."""
        _check(content, USE)
        return UseRecord(label, self._end(content, "id").uid, *(content[name] for name in USES))

    def pair(self, label: str, content: Mapping[str, Any]) -> Record:
        """A line that tells that two memories were found together."""
        _check(content, TOGETHER)
        one, other = (self._end(content, name) for name in ("one_id", "other_id"))
        return PairRecord(label, one, other, content["count"], content["last"])

    def standard(self, label: str, content: Mapping[str, Any]) -> Record:
        """A line that tells the standard of a namespace."""
        _check({"parent": None, **content}, STANDARD)
        memory = None if content.get("memory_id") is None else self._end(content, "memory_id")
        return StandardRecord(label, content["namespace"], memory, content.get("parent"))

    def _end(self, content: Mapping[str, Any], name: str) -> End:
        number = content[name]
        if self.replayed and isinstance(number, int) and number not in self.memories:
            for memory in self.replayed.get([number]):
                self.memories[number] = End(memory.uid)
        return _known(self.memories, content, name)

    def _targets(self) -> Iterator[TargetRecord]:
        """What the reflections are about."""
        for memory in self.reflections:
            ends: Mapping[int, End | LinkKey] = self.links
            if memory.metadata.get(TARGET_TYPE) == ENTITY:
                ends = self.memories
            target = ends.get(target_of(memory) or 0)
            if target:
                yield TargetRecord(memory.title, memory.uid, target)


READERS: Mapping[str, Callable[[Lines, str, Mapping[str, Any]], Record | None]] = {
    "session": Lines.session,
    "purge": Lines.purge,
    "memory": Lines.memory,
    "edge": Lines.edge,
    "use": Lines.use,
    "together": Lines.pair,
    "standard": Lines.standard,
}
"""Who reads a line, by its kind."""


def _known(found: Mapping[int, T], content: Mapping[str, Any], name: str) -> T:
    """What a line means by a number of the file."""
    number = content[name]
    if not isinstance(number, int) or number not in found:
        raise Invalid(f"{name}: nothing in this file has the number {str(number)[:40]}", name)
    return found[number]


def memory_of(content: Mapping[str, Any]) -> Memory:
    """The memory of a JSON object; missing fields have their defaults."""
    values = {item.name: content[item.name] for item in fields(Memory) if item.name in content}
    values["tags"] = tuple(content.get("tags", ()))
    values["tier"] = Tier(content.get("tier", Tier.LONG))
    values["state"] = State(content.get("state", State.LIVING))
    values["statements"] = tuple(Statement(0, text) for text in content.get("statements", ()))
    return Memory(**values)


def _told(error: Exception) -> str:
    return f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)


# -- checks


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
_BY_TYPE = {
    "str": _TEXT,
    "int": _COUNT,
    "float": _REAL,
    "Moment": _MOMENT,
    "Mapping[str, object]": _OBJECT,
}


def _rules(model: type, **narrower: _Rule) -> dict[str, _Rule]:
    """What each plain field of *model* may hold, by its annotation; *narrower* rules for some."""
    rules: dict[str, _Rule] = {}
    for item in fields(model):
        plain = str(item.type).removesuffix(" | None")
        rule = narrower.get(item.name) or _BY_TYPE.get(plain)
        if rule is not None:
            rules[item.name] = rule if plain == item.type else rule.or_nothing
    return rules


MEMORY = _rules(
    Memory,
    priority=_Rule((int,), 1, 10),
    confidence=_Rule((int, float), 0, 1),
    quality=_Rule((int, float), 0, 10),
)
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
CHANGE_FIELDS = tuple(item.name for item in fields(Change) if item.name != "position")
"""A position means something in its own store alone."""
CHANGE: Mapping[str, _Rule] = {
    **dict.fromkeys(("sequence", "batch", "subject_id"), _COUNT),
    **dict.fromkeys(("actor", "operation"), _TEXT),
    **dict.fromkeys(("before", "after"), _OBJECT.or_nothing),
    "at": _MOMENT,
}


def _check(values: Mapping[str, Any], rules: Mapping[str, _Rule]) -> None:
    """Invalid if a field that came from a file holds what it may not."""
    for name, rule in rules.items():
        value = values[name]
        if not isinstance(value, rule.types) or isinstance(value, bool):
            raise Invalid(f"{name}: not of the right type: {str(value)[:40]!r}", name)
        if isinstance(value, int | float) and not rule.least <= value <= rule.most:
            raise Invalid(f"{name}: out of range: {str(value)[:40]}", name)


def _must_be_lists(content: Mapping[str, Any]) -> None:
    """Invalid if a text is given instead of a list of texts, since a text has parts too."""
    for name in ("tags", "statements"):
        if not isinstance(content.get(name, []), list):
            raise Invalid(f"{name}: must be a list", name)


def checked_memory(memory: Memory) -> Memory:
    """*memory*, or Invalid if a field holds what it may not."""
    _check({name: getattr(memory, name) for name in MEMORY}, MEMORY)
    faithful(memory.metadata)
    if not memory.title.strip():
        raise Invalid("title: must not be empty", "title")
    if not all(isinstance(tag, str) for tag in memory.tags):
        raise Invalid("tags: must be texts", "tags")
    if not all(isinstance(text, str) for text in memory.texts):
        raise Invalid("statements: must be texts", "statements")
    return memory


def checked_edge(edge: Edge) -> Edge:
    """*edge*, or Invalid if a field holds what it may not."""
    _check({name: getattr(edge, name) for name in EDGE}, EDGE)
    return edge


def checked_session(session: Session) -> Session:
    """*session*, or Invalid if a field holds what it may not."""
    _check({name: getattr(session, name) for name in SESSION}, SESSION)
    faithful(session.metadata)
    return session


def _checked_change(content: Mapping[str, Any]) -> Change:
    _check(content, CHANGE)
    told = {name: content[name] for name in CHANGE_FIELDS}
    change = Change(**{**told, "subject": Subject(content["subject"]), "position": BEGINNING})
    _must_be_lists(change.after or {})
    return change


# -- the journal


def _replay(ctx: Context, entries: Iterable[Entry]) -> int:
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
                change = _checked_change(content)
                if change.batch != batch:
                    tx.journal_as(operation=change.operation, actor=change.actor, at=change.at)
                    batch = change.batch
                made += _redo(tx, change)
            except (Invalid, Conflict, NotFound, KeyError, TypeError, ValueError) as error:
                raise Invalid(
                    f"line {number}: {_told(error).rstrip('.')}. The journal in this file does not fit together; "
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
