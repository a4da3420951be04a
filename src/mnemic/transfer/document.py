"""The JSON document: memories and links moved out in one object, and in again.

Known memories are merged by field. It holds the living memories; JSON lines (`jsonl.py`) are lossless.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

import orjson

from mnemic.core.context import Context
from mnemic.core.expiry import EXPIRED
from mnemic.core.memories import faithful, is_in_use
from mnemic.core.reflections import ABOUT, aimed, target_of
from mnemic.errors import Denied, Invalid
from mnemic.model.annotations import is_hidden
from mnemic.model.enums import State
from mnemic.model.filter import EdgeFilter
from mnemic.model.graph import Edge
from mnemic.model.memory import Memory, name_key, title_of
from mnemic.model.time import iso
from mnemic.storage.base import Progress, Reader
from mnemic.storage.queries import each_edge, each_memory, memory_numbered
from mnemic.transfer import document_entry
from mnemic.transfer.exporter import batched
from mnemic.transfer.file_batch import FilePolicy
from mnemic.transfer.import_report import Report
from mnemic.transfer.importer import Importer
from mnemic.transfer.records import (
    UNKNOWN,
    End,
    FlawRecord,
    GivenFields,
    LinkKey,
    LinkRecord,
    MemoryRecord,
    Record,
    SessionKey,
    SessionRecord,
    StandardRecord,
    TargetRecord,
)
from mnemic.transfer.system_files import RecordSource

LISTS = ("memories", "links", "sessions", "standards")
EMPTY = None
"""Begins a list that is there even if nothing is in it."""
Check = Callable[[Mapping[str, Any]], None]
"""Raises Invalid for an entry or a link that breaks the rules of a dialect."""


@dataclass(frozen=True, slots=True)
class DocumentSource(RecordSource):
    """The records of a document."""

    policy: FilePolicy = field(default_factory=FilePolicy)


def export_json(ctx: Context) -> dict[str, Any]:
    """Everything living as one JSON document."""
    document: dict[str, Any] = {}
    for name, value in _parts(ctx):
        if name not in LISTS:
            document[name] = value
        elif value is EMPTY:
            document[name] = []
        else:
            document.setdefault(name, []).append(value)
    return document


def write_json(ctx: Context) -> Iterator[bytes]:
    """The same as pieces of a file, of which none is larger than an entry."""
    separator = b"{"
    for name, parts in groupby(_parts(ctx), key=itemgetter(0)):
        yield separator + b'\n  "%s": ' % name.encode()
        values = (value for _, value in parts)
        yield from _listed(values) if name in LISTS else map(orjson.dumps, values)
        separator = b","
    yield b"\n}\n"


def _listed(values: Iterable[object]) -> Iterator[bytes]:
    comma = b""
    yield b"["
    for value in values:
        if value is not EMPTY:
            yield comma + _indented(value)
            comma = b","
    yield b"\n  ]" if comma else b"]"


def _indented(entry: object) -> bytes:
    """An entry of a list, on lines of its own."""
    return b"\n    " + orjson.dumps(entry, option=orjson.OPT_INDENT_2).replace(b"\n", b"\n    ")


def _parts(ctx: Context) -> Iterator[tuple[str, Any]]:
    """The document part by part, each with its name; those of a list one after another."""
    count, held = 0, set[tuple[str, int]]()
    yield "memories", EMPTY
    with ctx.snapshot() as reader:
        sessions = {session.id: session for session in reader.sessions()}
        for memory in each_memory(reader):
            if is_in_use(ctx, memory):
                count += 1
                if memory.session_id is not None:
                    held.add((memory.namespace, memory.session_id))
                yield "memories", document_entry.entry_of(memory, sessions)
        yield "links", EMPTY
        yield from (("links", link) for link in _links(ctx, reader))
        yield "count", count
        yield "exported_at", iso(ctx.now())
        yield from (("sessions", one) for one in document_entry.session_entries(sorted(held), sessions))
        yield from (("standards", one) for one in _standards(ctx, reader))


def _links(ctx: Context, reader: Reader) -> Iterator[dict[str, Any]]:
    """The current links between living memories."""
    for batch in batched(current_edges(reader)):
        numbers = sorted({number for edge in batch for number in (edge.source_id, edge.target_id)})
        ends = {memory.id: memory for memory in reader.get(numbers) if is_in_use(ctx, memory)}
        for edge in batch:
            if edge.source_id in ends and edge.target_id in ends:
                yield document_entry.entry_of_link(edge, ends)


def _standards(ctx: Context, reader: Reader) -> Iterator[dict[str, Any]]:
    """The settings of visible namespaces whose standard memory is living."""
    for namespace, number, parent in reader.standards():
        memory = None if number is None else memory_numbered(reader, number)
        is_seen = memory is None or is_in_use(ctx, memory)
        if is_seen and (memory or parent):
            uid = memory.uid if memory else None
            yield {"namespace": namespace, "standard_id": uid, "parent": parent}


def current_edges(reader: Reader) -> Iterator[Edge]:
    """The links that stand."""
    return each_edge(reader, EdgeFilter(is_current=True))


def import_json(
    ctx: Context,
    content: object,
    *,
    check: Check | None = None,
    check_link: Check | None = None,
    progress: Progress | None = None,
    revives: bool = True,
) -> Report:
    """Import a JSON document. Known memories are merged by field; entries that cannot be read or linked are reported.

    Unless it *revives*, a memory that was deleted here stays so, if it has not changed in the document since.
    """
    found = document_source(ctx, content, check=check, check_link=check_link)
    importer = Importer(ctx, replace(found.policy, revives=revives))
    importer.merge(found.records, progress, found.total)
    return importer.finish()


def document_source(
    ctx: Context, content: object, *, check: Check | None = None, check_link: Check | None = None
) -> DocumentSource:
    """The records of a JSON document, or Invalid if it is none."""
    if not isinstance(content, Mapping) or not isinstance(content.get("memories"), list):
        raise Invalid("The document has no list of memories", "memories")
    if not isinstance(content.get("links") or [], list):
        raise Invalid("The document's links are no list", "links")
    places = dict(_places(ctx, content["memories"]))
    # Two entries of one title in one namespace are one and the same.
    policy = FilePolicy(
        tells_apart=lambda known, coming: (
            places.get(known.uid) not in (None, (coming.namespace, coming.title))
        )
    )
    records = read_document(ctx, content, check, check_link)
    return DocumentSource(records, len(content["memories"]), policy)


def _places(ctx: Context, entries: Iterable[Any]) -> Iterator[tuple[str, tuple[str, Any]]]:
    """The namespace and title of the entries that have an id, by their uids."""
    for entry in entries:
        with suppress(Invalid, Denied):
            if isinstance(entry, Mapping) and (key := document_entry.key_of(entry)):
                namespace = entry.get("namespace")
                named = namespace.strip() if isinstance(namespace, str) else ""
                yield document_entry.uid_of(key), (named or ctx.home(), entry.get("title"))


def read_document(
    ctx: Context, content: Mapping[str, Any], check: Check | None = None, check_link: Check | None = None
) -> Iterator[Record]:
    """The records of a JSON document; what cannot be read becomes a flaw."""
    read_memory = partial(_memory, ctx, check, set())
    for name, read in (("sessions", partial(_session, ctx)), ("memories", read_memory)):
        yield from _read(name, content.get(name), read)
    links = list(_read("links", content.get("links"), partial(_link, ctx, check_link)))
    yield from links
    yield from (about for link in links if (about := _about(link)))
    yield from _read("standards", content.get("standards"), _standard)


def _read(name: str, entries: Any, read: Callable[[str, Mapping[str, Any]], Record]) -> Iterator[Record]:
    """The records of one list of the document."""
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        label = _label(f"{name}.{index}", entry)
        try:
            if not isinstance(entry, Mapping):
                raise Invalid("must be an object")
            yield read(label, entry)
        except (Invalid, Denied) as error:
            yield FlawRecord(label, str(error))


def _label(place: str, entry: Any) -> str:
    """What an entry is called in the report: a memory by its title."""
    title = entry.get("title") if isinstance(entry, Mapping) else None
    if not isinstance(title, str) or not title.strip():
        return place
    return title.encode(errors="replace").decode()


def _memory(
    ctx: Context, check: Check | None, seen: set[str], label: str, entry: Mapping[str, Any]
) -> MemoryRecord:
    """The memory of an entry, of several with one id the first. `text`, as the tools say, is its content too."""
    if "content" not in entry and "text" in entry:
        entry = {**entry, "content": entry["text"]}
    if check:
        check(entry)
    record = record_of(ctx, label, entry)
    # The number that what it is about has there means nothing here; its link tells, if that is a memory.
    record = replace(record, memory=aimed(record.memory, None)) if target_of(record.memory) else record
    uid = record.memory.uid
    if uid in seen:
        raise Invalid("id: an entry before has the same", "id")
    if uid:
        seen.add(uid)
    return record


def record_of(
    ctx: Context, label: str, entry: Mapping[str, Any], *, has_name: bool = True, adds: bool = False
) -> MemoryRecord:
    """The memory of an entry, or Invalid; its uid is empty if it has no id."""
    memory = document_entry.memory_of(entry, ctx.now())
    faithful(memory.metadata)
    is_told = entry.get("title") is not None
    if not memory.title.strip() and (is_told or not memory.content.strip()):
        raise Invalid("title: must be a text that is not empty; leave it out for none", "title")
    memory = replace(
        memory,
        namespace=ctx.home(memory.namespace.strip()),
        title=memory.title if memory.title.strip() else title_of(memory.content),
        name=name_key(memory.title) if _is_named(entry, memory, has_name) else None,
    )
    given = GivenFields(frozenset(name for name, value in entry.items() if value is not None), adds)
    return MemoryRecord(label, _over(ctx, memory), _session_key(ctx, entry, memory.namespace), given=given)


def _session_key(ctx: Context, entry: Mapping[str, Any], namespace: str) -> SessionKey | None:
    """The session of an entry; of many only the name is given."""
    name = document_entry.text(entry, "session") if entry.get("session") is not None else ""
    started_at = document_entry.moment(entry, "session_started_at", ctx.now())
    return (namespace, name, UNKNOWN if started_at is None else started_at) if name else None


def _is_named(entry: Mapping[str, Any], memory: Memory, has_name: bool) -> bool:
    """Whether the title of an entry is a name: in files of others it is, ours say so."""
    is_chosen = has_name and bool(memory.title.strip()) and not is_hidden(memory)
    return is_chosen and entry.get("has_name") is not False


def _over(ctx: Context, memory: Memory) -> Memory:
    """*memory*, in the archive if its time is over."""
    if memory.state is not State.LIVING or not memory.has_expired(ctx.now()):
        return memory
    return replace(memory, state=State.ARCHIVED, state_reason=EXPIRED, state_at=ctx.now())


def _link(ctx: Context, check: Check | None, label: str, link: Mapping[str, Any]) -> LinkRecord:
    source, target = (_end(link, name) for name in ("source_id", "target_id"))
    if not source or not target:
        raise Invalid("source_id, target_id: both are needed")
    if check:
        check(link)
    return link_of(ctx, label, link, source, target)


def _end(entry: Mapping[str, Any], name: str) -> End | None:
    """The memory that an entry names by its id."""
    key = document_entry.key_of(entry, name)
    return End(document_entry.uid_of(key), name=key) if key else None


def link_of(ctx: Context, label: str, link: Mapping[str, Any], source: End, target: End) -> LinkRecord:
    """The link of an entry between these ends, or Invalid."""
    edge = document_entry.edge_of(link, ctx.now())
    given = GivenFields(frozenset(name for name, value in link.items() if value is not None))
    return LinkRecord(label, edge, LinkKey(source, target, edge.type, edge.created_at), given=given)


def _about(record: Record) -> TargetRecord | None:
    """What a reflection is about, by its link."""
    if not isinstance(record, LinkRecord) or record.edge.type != ABOUT:
        return None
    return TargetRecord(record.label, record.key.source.uid, record.key.target)


def _session(ctx: Context, label: str, entry: Mapping[str, Any]) -> SessionRecord:
    session = document_entry.session_of(entry, ctx.now())
    return SessionRecord(label, replace(session, namespace=ctx.home(session.namespace)))


def _standard(label: str, entry: Mapping[str, Any]) -> StandardRecord:
    filled = {name: value for name, value in entry.items() if value is not None}
    namespace, parent = document_entry.text(filled, "namespace"), document_entry.text(filled, "parent")
    if not namespace:
        raise Invalid("namespace: must be a text that is not empty")
    return StandardRecord(label, namespace, _end(filled, "standard_id"), parent or None)
