"""The files of the graph dialects: JSON lines (the reference server) and one JSON object (Simple Memory).

Reading continues after a fault. A record is a
Sketch, a Triple or a Flaw. One with more fields than we store is followed by a Surplus.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

import orjson

from mnemic.model.graph import Entity, Relation, Sketch, Triple

NO_JSON, NO_FIELDS, NO_KIND, NO_LIST = "not JSON", "incomplete", "of an unknown type", "not a list"
TYPE = "type"
ENTITY_KEYS = frozenset((TYPE, "name", "entityType", "observations"))
RELATION_KEYS = frozenset((TYPE, "from", "to", "relationType"))
ENTITIES, RELATIONS = "entities", "relations"


@dataclass(frozen=True, slots=True)
class Flaw:
    """A part of a file that is no entity and no relation: where, and why."""

    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Surplus:
    """Fields of a record that are not stored: where, and which."""

    where: str
    what: str


GraphRecord = Sketch | Triple | Flaw | Surplus


def read_lines(text: str) -> Iterator[GraphRecord]:
    """The records of a file of JSON lines; blank lines are nothing."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield from _line(f"line {number}", line)


def _line(where: str, line: str) -> Iterator[GraphRecord]:
    try:
        content = orjson.loads(line.encode(errors="surrogatepass"))
    except orjson.JSONDecodeError:
        yield Flaw(where, NO_JSON)
        return
    match content:
        case {"type": "entity"}:
            yield from _whole(entity(where, content), where, content, ENTITY_KEYS)
        case {"type": "relation"}:
            yield from _whole(relation(where, content), where, content, RELATION_KEYS)
        case _:
            yield Flaw(where, NO_KIND)


def read_document(text: str) -> Iterator[GraphRecord]:
    """The records of a file that is one JSON object. Text behind it is left from an older, longer file."""
    try:
        content, end = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        yield Flaw("the file", NO_JSON)
        return
    if text.lstrip()[end:].strip():
        yield Flaw("the end of the file", NO_JSON)
    if not isinstance(content, dict):
        yield Flaw("the file", NO_FIELDS)
        return
    if content and ENTITIES not in content and RELATIONS not in content:
        yield Flaw("the file", NO_KIND)
        return
    for name, read, keys in ((ENTITIES, entity, ENTITY_KEYS), (RELATIONS, relation, RELATION_KEYS)):
        found = content.get(name) or []
        if not isinstance(found, list):
            yield Flaw(name, NO_LIST)
            continue
        for place, item in enumerate(found):
            where = f"{name}.{place}"
            yield from _whole(read(where, item), where, item, keys)
    yield from _surplus("the file", content, {ENTITIES, RELATIONS})


def read_document_or_lines(text: str) -> Iterator[GraphRecord]:
    """The records of a file that should be one JSON object, though it may also hold JSON lines."""
    is_lines = isinstance(next(read_lines(text), None), Sketch | Triple)
    return read_lines(text) if is_lines else read_document(text)


def _whole(
    record: GraphRecord, where: str, content: Mapping[str, Any], keys: Set[str]
) -> Iterator[GraphRecord]:
    """*record*, and what else *content* says of it."""
    yield record
    if not isinstance(record, Flaw):
        yield from _surplus(where, content, keys)


def _surplus(where: str, content: Mapping[str, Any], keys: Set[str]) -> Iterator[Surplus]:
    if more := [key for key in content if key not in keys]:
        yield Surplus(where, f"no place for {', '.join(more)}")


def entity(where: str, content: Any) -> Sketch | Flaw:
    """An entity as the files write it."""
    match content:
        case {"name": str(name)}:
            kind, texts = content.get("entityType", ""), content.get("observations", [])
            if isinstance(kind, str) and isinstance(texts, list) and _storable(name, kind, *texts):
                return Sketch(name, kind, tuple(texts))
    return Flaw(where, NO_FIELDS)


def relation(where: str, content: Any) -> Triple | Flaw:
    """A relation as the files write it."""
    match content:
        case {"from": str(source), "to": str(target), "relationType": str(type)}:
            if _storable(source, target, type):
                return Triple(source, target, type)
    return Flaw(where, NO_FIELDS)


def _storable(*texts: Any) -> bool:
    """Whether these are texts that a database gives back as they are."""
    return all(isinstance(text, str) and "\0" not in text and _has_no_half(text) for text in texts)


def _has_no_half(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def write_lines(entities: Iterable[Entity], relations: Iterable[Relation]) -> bytes:
    """The graph as JSON lines, entities first, without a line break at the end."""
    told = [orjson.dumps({"type": "entity", **shown(one)}) for one in entities]
    told += [orjson.dumps({"type": "relation", **linked(one)}) for one in relations]
    return b"\n".join(told)


def write_document(entities: Iterable[Entity], relations: Iterable[Relation]) -> bytes:
    """The graph as one JSON object, indented by two spaces."""
    content = {"entities": [shown(one) for one in entities], "relations": [linked(one) for one in relations]}
    return orjson.dumps(content, option=orjson.OPT_INDENT_2)


def shown(entity: Entity) -> dict[str, Any]:
    """An entity as the graph dialects write it."""
    return {"name": entity.title, "entityType": entity.kind, "observations": entity.texts}


def linked(relation: Relation | Triple) -> dict[str, str]:
    """A relation as the graph dialects write it."""
    return {"from": relation.source, "to": relation.target, "relationType": relation.type}
