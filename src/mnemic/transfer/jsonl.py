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
from typing import IO, Any, TypeVar

import orjson

from mnemic.core.context import Context
from mnemic.core.reflections import ENTITY, TARGET_TYPE, aimed, target_of
from mnemic.errors import Denied, Invalid, MnemicError
from mnemic.model.change import Change, Subject
from mnemic.model.enums import State, Tier
from mnemic.model.filter import ANY_EDGE, AliasFilter
from mnemic.model.graph import Edge
from mnemic.model.memory import Memory, Statement
from mnemic.model.session import Session
from mnemic.model.time import Moment
from mnemic.model.version import Stamp, Version
from mnemic.storage.base import Progress, Reader
from mnemic.storage.queries import (
    alias_uids,
    each_edge,
    each_memory,
)
from mnemic.transfer import versions
from mnemic.transfer.exporter import batched, knowledge_of
from mnemic.transfer.field_checks import (
    CHANGE_FIELDS,
    STANDARD,
    TOGETHER,
    USE,
    check_fields,
    checked_edge,
    checked_memory,
    checked_session,
    fault_of,
    must_be_lists,
)
from mnemic.transfer.import_report import Report
from mnemic.transfer.importer import Importer
from mnemic.transfer.journal_replay import Entry, replay
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
from mnemic.transfer.session_keys import session_key
from mnemic.transfer.store_batch import StorePolicy
from mnemic.transfer.versions import Knowledge

T = TypeVar("T")
RECORD = "record"
FORMAT = 1
HEADER, CHANGED = "mnemic", "change"
"""The kind of the first line, and of the lines that tell a journal."""
IN_MEMORY_BYTES = 1 << 24
"""A file that is being read is kept in memory up to this size, and in a temporary file beyond it."""
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
    stamps = {} if version is None else {"version": version_entry(version)}
    return orjson.dumps({RECORD: kind, **content, **stamps}).decode()


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
            importer.report.imported += replay(ctx, (entry for entry in _parsed(copy) if _is_change(entry)))
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
            raise Invalid(
                f"line {number}: not from `mnemic export`; --from takes the system that wrote the file",
                "lines",
            )
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
                record = FlawRecord(label, fault_of(error))
            if isinstance(record, LinkRecord):
                pending.setdefault(replace(record.key, created_at=0), []).append(record)
            elif record:
                yield record
        yield from chain.from_iterable(pending.values())
        yield from self._targets()

    def session(self, label: str, content: Mapping[str, Any]) -> Record:
        """A line that tells a session."""
        given = {item.name: content[item.name] for item in fields(Session) if item.name in content}
        session = checked_session(Session(**given))
        self.sessions[session.id] = session_key(session)
        return SessionRecord(label, session, version_of(content.get("version")))

    def purge(self, label: str, content: Mapping[str, Any]) -> Record:
        """A line that tells that a memory was purged."""
        return PurgeRecord(label, str(uuid.UUID(content["uid"])))

    def memory(self, label: str, content: Mapping[str, Any]) -> Record | None:
        """A line that tells a memory."""
        must_be_lists(content)
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
        given = {item.name: content[item.name] for item in fields(Edge) if item.name in content}
        edge = checked_edge(Edge(**{**given, "state": State(content.get("state", State.LIVING))}))
        source, target = (self._end(content, name) for name in ("source_id", "target_id"))
        self.links[edge.id] = key = LinkKey(source, target, edge.type, edge.created_at)
        return LinkRecord(label, edge, key, version_of(content.get("version")))

    def use(self, label: str, content: Mapping[str, Any]) -> Record:
        """A line that tells how often a memory was used."""
        check_fields(content, USE)
        return UseRecord(label, self._end(content, "id").uid, *(content[name] for name in USES))

    def pair(self, label: str, content: Mapping[str, Any]) -> Record:
        """A line that tells that two memories were found together."""
        check_fields(content, TOGETHER)
        one, other = (self._end(content, name) for name in ("one_id", "other_id"))
        return PairRecord(label, one, other, content["count"], content["last"])

    def standard(self, label: str, content: Mapping[str, Any]) -> Record:
        """A line that tells the standard of a namespace."""
        check_fields({"parent": None, **content}, STANDARD)
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
