"""Records as JSON objects, in which two daemons, or a command and a daemon, exchange them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from mnemic.errors import Invalid, MnemicError
from mnemic.model.enums import State
from mnemic.model.graph import Edge
from mnemic.model.memory import Memory
from mnemic.model.session import Session
from mnemic.transfer.field_checks import checked_edge, checked_memory, checked_session
from mnemic.transfer.import_report import Clash, Report
from mnemic.transfer.jsonl import memory_of, version_entry, version_of
from mnemic.transfer.records import (
    End,
    FlawRecord,
    LinkKey,
    LinkRecord,
    MemoryRecord,
    PairRecord,
    PurgeRecord,
    Record,
    SessionRecord,
    StandardRecord,
    TargetRecord,
    UseRecord,
)
from mnemic.transfer.three_way_merge import FieldConflict

KIND, LABEL = "record", "label"


def encode(record: Record) -> dict[str, Any]:
    """*record* as a JSON object."""
    content: dict[str, Any] = {KIND: KINDS[type(record)], LABEL: record.label}
    for item in fields(record):
        value = getattr(record, item.name)
        if item.name != LABEL and value is not None and value != ():
            content[item.name] = _plain(value)
    return content


def _plain(value: Any) -> Any:
    match value:
        case Memory():
            values = {item.name: getattr(value, item.name) for item in fields(value)}
            return {**values, "statements": value.texts}
        case Edge() | Session() | End():
            return {item.name: getattr(value, item.name) for item in fields(value)}
        case LinkKey():
            ends = {"source": _plain(value.source), "target": _plain(value.target)}
            return {**ends, "type": value.type, "created_at": value.created_at}
    return version_entry(value) if hasattr(value, "stamps") else value


def decode(content: Any) -> Record:
    """The record that a JSON object tells; a flaw if it tells none."""
    try:
        return DECODERS[content[KIND]](str(content[LABEL]), content)
    except (MnemicError, AttributeError, KeyError, TypeError, ValueError) as error:
        label = content.get(LABEL) if isinstance(content, Mapping) else None
        reason = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
        return FlawRecord(str(label or "record"), reason)


def _session(label: str, content: Mapping[str, Any]) -> Record:
    session = checked_session(Session(**content["session"]))
    return SessionRecord(label, session, version_of(content.get("version")))


def _purge(label: str, content: Mapping[str, Any]) -> Record:
    return PurgeRecord(label, _uid(content["uid"]))


def _memory(label: str, content: Mapping[str, Any]) -> Record:
    memory = checked_memory(memory_of(content["memory"]))
    _uid(memory.uid)
    session = content.get("session")
    if session is not None:
        namespace, name, started_at = session
        session = (str(namespace), str(name), int(started_at))
    aliases = tuple(map(_uid, content.get("aliases", ())))
    return MemoryRecord(label, memory, session, version_of(content.get("version")), aliases)


def _link(label: str, content: Mapping[str, Any]) -> Record:
    fields_of_edge = content["edge"]
    edge = checked_edge(Edge(**{**fields_of_edge, "state": State(fields_of_edge.get("state", State.LIVING))}))
    return LinkRecord(label, edge, _link_key(content["key"]), version_of(content.get("version")))


def _target(label: str, content: Mapping[str, Any]) -> Record:
    target = content["target"]
    return TargetRecord(label, _uid(content["uid"]), _link_key(target) if "type" in target else _end(target))


def _standard(label: str, content: Mapping[str, Any]) -> Record:
    memory, parent = content.get("memory"), content.get("parent")
    end = None if memory is None else _end(memory)
    return StandardRecord(label, str(content["namespace"]), end, None if parent is None else str(parent))


def _pair(label: str, content: Mapping[str, Any]) -> Record:
    ends = _end(content["one"]), _end(content["other"])
    return PairRecord(label, *ends, int(content["count"]), int(content["last"]))


def _link_key(content: Mapping[str, Any]) -> LinkKey:
    ends = _end(content["source"]), _end(content["target"])
    return LinkKey(*ends, str(content["type"]), int(content["created_at"]))


def _end(content: Mapping[str, Any]) -> End:
    uid = content.get("uid") or ""
    return End(_uid(uid) if uid else "", str(content.get("namespace", "")), str(content.get("name", "")))


def _uid(text: object) -> str:
    try:
        return str(uuid.UUID(str(text)))
    except ValueError:
        raise Invalid(f"uid: not a UUID: {str(text)[:40]!r}", "uid") from None


# -- reports


def report_entry(report: Report) -> dict[str, Any]:
    """*report* as a JSON object."""
    content = {item.name: getattr(report, item.name) for item in fields(report) if item.name in COUNTS}
    return {
        **content,
        "conflicts": [conflict_entry(one) for one in report.conflicts],
        "errors": report.errors,
    }


def report_of(content: Mapping[str, Any]) -> Report:
    """The report that a JSON object tells."""
    conflicts = [
        Clash(
            str(one["title"]),
            FieldConflict(str(one["field"]), one.get("here"), one.get("there"), one.get("kept")),
        )
        for one in content.get("conflicts", ())
    ]
    report = Report(conflicts=conflicts, errors=list(map(str, content.get("errors", ()))))
    for name in COUNTS:
        setattr(report, name, int(content.get(name, 0)))
    return report


def conflict_entry(clash: Clash) -> dict[str, Any]:
    """A conflict as a JSON object."""
    conflict = clash.conflict
    return {
        "title": clash.title,
        "field": conflict.field,
        "here": conflict.here,
        "there": conflict.there,
        "kept": conflict.kept,
    }


COUNTS = (
    "imported",
    "added",
    "merged",
    "skipped",
    "deleted",
    "restored",
    "purged",
    "links",
    "ended",
    "relinked",
    "sessions",
)
KINDS: Mapping[type[Record], str] = {
    SessionRecord: "session",
    PurgeRecord: "purge",
    MemoryRecord: "memory",
    LinkRecord: "link",
    TargetRecord: "target",
    StandardRecord: "standard",
    UseRecord: "use",
    PairRecord: "pair",
    FlawRecord: "flaw",
}
DECODERS: Mapping[str, Callable[[str, Mapping[str, Any]], Record]] = {
    "session": _session,
    "purge": _purge,
    "memory": _memory,
    "link": _link,
    "target": _target,
    "standard": _standard,
    "pair": _pair,
}
