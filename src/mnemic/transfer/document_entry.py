"""The JSON document of an export: memories and links in one object, as ai-memory writes and reads it.

What ai-memory has no word for travels under further names, and only where there is something to say.
"""

from __future__ import annotations

import json
import math
import re
import uuid
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from mnemic.errors import Invalid
from mnemic.model.enums import State, Tier
from mnemic.model.graph import Edge
from mnemic.model.memory import Memory, Statement, body_of
from mnemic.model.session import Session
from mnemic.model.time import Moment, iso, parse_moment

RELATIONS = ("related_to", "supersedes", "contradicts", "derived_from")
"""The links that ai-memory knows."""
NO_SOURCE = "api"
"""What ai-memory takes for the source of a memory that names none."""
ORIGINAL_ID = "original_id"
"""Where the metadata of a memory keeps the id it came with, if that was no UUID."""
MANY = 2**53
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""Characters that ai-memory takes in no text: all that control something, but for tabs and the ends of lines."""
LEFT = (
    (State.ARCHIVED, "archived_at", "archive_reason"),
    (State.FORGOTTEN, "forgotten_at", "forget_reason"),
)
"""How an entry says that a memory is no longer in use, since when and why."""

_LONG_NUMBER = re.compile(rb"\d{19}")
_PLAIN_NAME = re.compile(r"[^\s/\\]+")
_PLAIN_SIZE = 65_536
_PLAIN_TITLE = 512
_PLAIN_NAMESPACE = 128
_PLAIN_TAGS = 50


def loaded(data: bytes) -> Any:
    """The JSON value in *data*, or Invalid."""
    data = data.removeprefix(BOM_UTF8)
    try:
        # orjson turns an integer of more than 64 bits into a float without a word.
        return json.loads(data) if _LONG_NUMBER.search(data) else orjson.loads(data)
    except (ValueError, RecursionError) as error:
        if _is_json(data.partition(b"\n")[0]):
            raise Invalid(
                "file: holds lines of JSON, not one document; --from takes the system that wrote it", "file"
            ) from None
        raise Invalid(f"file: not valid JSON: {str(error)[:200]}", "file") from None


def _is_json(line: bytes) -> bool:
    try:
        return isinstance(orjson.loads(line), dict)
    except ValueError:
        return False


def entry_of(memory: Memory, sessions: Mapping[int, Session]) -> dict[str, Any]:
    """A memory with all that the document says of it."""
    return {**memory_entry(memory), **_more(memory, sessions)}


def entry_of_link(edge: Edge, ends: Mapping[int, Memory]) -> dict[str, Any]:
    """A link between *ends* with all that the document says of it."""
    return {**link_entry(edge, ends), **_more_of_link(edge)}


def session_entries(
    held: Iterable[tuple[str, int]], sessions: Mapping[int, Session]
) -> Iterator[dict[str, Any]]:
    """These sessions as entries, each in the namespace of its memories."""
    for namespace, number in sorted(held):
        session = sessions[number]
        said = {
            "ended_at": None if session.ended_at is None else iso(session.ended_at),
            "topic": session.topic,
            "summary": session.summary,
        }
        if any(said.values()):
            key = {"namespace": namespace, "name": session.name, "started_at": iso(session.started_at)}
            yield key | {name: value for name, value in said.items() if value is not None}


def session_of(entry: Mapping[str, Any], now: Moment) -> Session:
    """The session of an entry, or Invalid."""
    filled = {name: value for name, value in entry.items() if value is not None}
    name, started_at = text(filled, "name"), moment(filled, "started_at", now)
    if not name or started_at is None:
        raise Invalid("name, started_at: both are needed", "name")
    return Session(
        id=0,
        namespace=text(filled, "namespace"),
        name=name,
        started_at=started_at,
        ended_at=moment(filled, "ended_at", now),
        topic=text(filled, "topic") or None,
        summary=text(filled, "summary") or None,
    )


def memory_entry(memory: Memory) -> dict[str, Any]:
    """The entry of a memory; unset fields are left out."""
    entry: dict[str, Any] = {
        "id": memory.uid,
        "tier": str(memory.tier),
        "namespace": memory.namespace,
        "title": memory.title,
        "content": memory.content,
        "tags": list(memory.tags),
        "priority": memory.priority,
        "confidence": memory.confidence,
        "source": memory.source or NO_SOURCE,
        "access_count": memory.access_count,
        "created_at": iso(memory.created_at),
        "updated_at": iso(memory.updated_at),
        "metadata": dict(memory.metadata),
        "kind": memory.kind,
    }
    if memory.accessed_at is not None:
        entry["last_accessed_at"] = iso(memory.accessed_at)
    if memory.expires_at is not None:
        entry["expires_at"] = iso(memory.expires_at)
    return entry


def _more(memory: Memory, sessions: Mapping[int, Session]) -> dict[str, Any]:
    """What an entry says beyond ai-memory's words, so that nothing is lost on the way.

    With `statements` it is marked as ours: it has several or none, or breaks a limit that only ai-memory has.
    """
    more: dict[str, Any] = {
        name: value
        for name in ("summary", "quality", "rating")
        if (value := getattr(memory, name)) is not None
    }
    more |= {name: value for name in ("rating_count", "days_used") if (value := getattr(memory, name))}
    more |= {
        name: iso(moment)
        for name in ("valid_from", "valid_to")
        if (moment := getattr(memory, name)) is not None
    }
    if memory.name is None:
        more["has_name"] = False
    if memory.source is None:
        more["has_source"] = False
    if memory.session_id is not None:
        session = sessions[memory.session_id]
        more |= {"session": session.name, "session_started_at": iso(session.started_at)}
    if not _is_plain(memory):
        more["statements"] = memory.texts
    return more


def _is_plain(memory: Memory) -> bool:
    """Whether ai-memory could have written *memory* itself."""
    texts = (memory.title, memory.content, *memory.tags)
    return (
        len(memory.statements) == 1
        and _PLAIN_NAME.fullmatch(memory.namespace) is not None
        and all(text.strip() and not CONTROL.search(text) for text in texts)
        and _fits(memory.title, _PLAIN_TITLE)
        and _fits(memory.namespace, _PLAIN_NAMESPACE)
        and len(memory.tags) <= _PLAIN_TAGS
        and _fits(memory.content, _PLAIN_SIZE)
    )


def _fits(text: str, most: int) -> bool:
    """Whether *text* is within the byte limit."""
    return len(text) * 4 <= most or len(text.encode()) <= most


def link_entry(edge: Edge, memories: Mapping[int, Memory]) -> dict[str, Any]:
    """A link in the document."""
    return {
        "source_id": memories[edge.source_id].uid,
        "target_id": memories[edge.target_id].uid,
        "relation": edge.type,
        "created_at": iso(edge.created_at),
    }


def _more_of_link(edge: Edge) -> dict[str, Any]:
    more: dict[str, Any] = {} if edge.weight == 1.0 else {"weight": edge.weight}
    if edge.reason is not None:
        more["reason"] = edge.reason
    if edge.valid_from is not None:
        more["valid_from"] = iso(edge.valid_from)
    if edge.rating_count or edge.quality is not None:
        figures = {name: getattr(edge, name) for name in ("quality", "rating", "rating_count")}
        more |= {name: value for name, value in figures.items() if value is not None}
    return more


def uid_of(id: str) -> str:
    """The uid of the memory that has *id* in a document: the same, or one derived from an id that is no UUID."""
    try:
        return str(uuid.UUID(id))
    except ValueError:
        return str(uuid.uuid5(uuid.NAMESPACE_OID, id))


def memory_of(entry: Mapping[str, Any], now: Moment) -> Memory:
    """The memory of an entry, or Invalid. Its uid, title and namespace are empty where it has none."""
    filled = {name: value for name, value in entry.items() if value is not None}
    id, source = key_of(filled), text(filled, "source")
    uid = uid_of(id) if id else ""
    metadata = filled.get("metadata", {})
    if not isinstance(metadata, dict):
        raise Invalid("metadata: must be an object", "metadata")
    created = moment(filled, "created_at", now)
    return Memory(
        id=0,
        uid=uid,
        namespace=text(filled, "namespace"),
        title=text(filled, "title"),
        kind=text(filled, "kind", "note"),
        summary=text(filled, "summary") or None,
        tags=tuple(dict.fromkeys(_texts(filled, "tags"))),
        priority=_whole(filled, "priority", 5, 1, 10),
        confidence=_number(filled, "confidence", 1.0, 0, 1),
        quality=_number(filled, "quality", 0, 0, 10) if "quality" in filled else None,
        rating=_number(filled, "rating", 0, -MANY, MANY) if "rating" in filled else None,
        rating_count=_whole(filled, "rating_count", 0, 0, MANY),
        tier=_tier(filled),
        source=None if filled.get("has_source") is False else source or None,
        metadata={**metadata, ORIGINAL_ID: id} if id and not _is_uuid(id) else metadata,
        created_at=now if created is None else created,
        updated_at=next((at for at in (moment(filled, "updated_at", now), created) if at is not None), now),
        accessed_at=moment(filled, "last_accessed_at", now),
        access_count=_whole(filled, "access_count", 0, 0, MANY),
        days_used=_whole(filled, "days_used", 0, 0, MANY),
        expires_at=moment(filled, "expires_at", now),
        valid_from=moment(filled, "valid_from", now),
        valid_to=moment(filled, "valid_to", now),
        statements=tuple(Statement(0, said) for said in _statements(filled)),
        **_state(filled, now),
    )


def _is_uuid(id: str) -> bool:
    try:
        uuid.UUID(id)
    except ValueError:
        return False
    return True


def key_of(filled: Mapping[str, Any], name: str = "id") -> str:
    """The id that an entry gives under *name*; empty if it gives none."""
    id = filled.get(name, "")
    return str(id) if isinstance(id, int) and not isinstance(id, bool) else text(filled, name)


def _statements(filled: Mapping[str, Any]) -> list[str]:
    """The body: its statements if they are given and match the content."""
    content = text(filled, "content")
    if "statements" in filled:
        statements = _texts(filled, "statements")
        if "\n".join(statements) == content:
            return statements
    if not content.strip():
        raise Invalid("content: must be a text that is not empty", "content")
    return list(body_of(content))


def _state(filled: Mapping[str, Any], now: Moment) -> dict[str, Any]:
    for state, at, reason in LEFT:
        left_at = moment(filled, at, now)
        if left_at is not None:
            return {"state": state, "state_at": left_at, "state_reason": text(filled, reason) or None}
    return {}


def _tier(filled: Mapping[str, Any]) -> Tier:
    try:
        return Tier(filled.get("tier", Tier.MID))
    except ValueError:
        raise Invalid(f"tier: must be short, mid or long, not {str(filled['tier'])[:40]!r}", "tier") from None


def text(filled: Mapping[str, Any], name: str, default: str = "") -> str:
    """The text under *name*, or Invalid if it is something else."""
    value = filled.get(name, default)
    if not isinstance(value, str):
        raise Invalid(f"{name}: must be a text", name)
    _encodable(value, name)
    return value


def _texts(filled: Mapping[str, Any], name: str) -> list[str]:
    values = filled.get(name, [])
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise Invalid(f"{name}: must be a list of texts", name)
    for value in values:
        _encodable(value, name)
    return values


def _encodable(value: str, name: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Invalid(f"{name}: is not valid Unicode", name) from None


def _whole(filled: Mapping[str, Any], name: str, default: int, low: int, high: int) -> int:
    value = filled.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise Invalid(f"{name}: must be a whole number from {low} to {high}", name)
    return value


def _number(filled: Mapping[str, Any], name: str, default: float, low: float, high: float) -> float:
    value = filled.get(name, default)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not low <= value <= high:
        raise Invalid(f"{name}: must be a number from {low} to {high}", name)
    return float(value)


def edge_of(link: Mapping[str, Any], now: Moment) -> Edge:
    """The fields of a link without its ends, which are given by id."""
    filled = {name: value for name, value in link.items() if value is not None}
    created = moment(filled, "created_at", now)
    return Edge(
        id=0,
        source_id=0,
        target_id=0,
        type=text(filled, "relation") or "related_to",
        weight=_number(filled, "weight", 1.0, -MANY, MANY),
        reason=text(filled, "reason") or None,
        created_at=now if created is None else created,
        valid_from=moment(filled, "valid_from", now),
        valid_to=moment(filled, "valid_to", now),
        updated_at=moment(filled, "updated_at", now),
        quality=_number(filled, "quality", 0, 0, 10) if "quality" in filled else None,
        rating=_number(filled, "rating", 0, -MANY, MANY) if "rating" in filled else None,
        rating_count=_whole(filled, "rating_count", 0, 0, MANY),
    )


def moment(entry: Mapping[str, Any], name: str, now: Moment) -> Moment | None:
    """The moment an entry gives under *name*, or None."""
    given = entry.get(name)
    if given is None:
        return None
    if not isinstance(given, str):
        raise Invalid(f"{name}: must be a text", name)
    return parse_moment(given, name, now)
