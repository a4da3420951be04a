"""Rows of `memory` in the shape a caller asks for."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

import apsw
import orjson

from mnemic.storage import decoders
from mnemic.storage.sqlite.memories import COLUMNS
from mnemic.storage.sqlite.rows import Row, rows

S = TypeVar("S", bound=tuple[Any, ...])

SELECT = """
SELECT {columns} FROM memory m WHERE {{conditions}} ORDER BY m.id {{end}}
"""
BODY = "FROM statement s WHERE s.memory_id = m.id AND s.until IS NULL AND s.position > 0"
LINKS = "SELECT count(*) FROM edge e WHERE e.{end} = m.id AND e.state = 'living'"
EXPRESSIONS = {name: f"m.{name}" for name in COLUMNS} | {
    "content": f"(SELECT coalesce(group_concat(s.text, char(10) ORDER BY s.position), '') {BODY})",
    "texts": f"(SELECT json_group_array(s.text ORDER BY s.position) {BODY})",
    "origins": f"(SELECT json_group_array(json_array(s.id, s.since)) {BODY})",
    "statements": f"(SELECT count(*) {BODY})",
    "has_grown": f"(SELECT coalesce(min(s.since) < max(s.since), FALSE) {BODY})",
    "links": f"({LINKS.format(end='source_id')}) + ({LINKS.format(end='target_id')})",
    "size_bytes": f"octet_length(m.title) + coalesce((SELECT sum(octet_length(s.text)) {BODY}), 0)",
    "is_living": "m.state = 'living'",
}
"""What a field of a shape is read from."""
DECODERS: dict[str, Callable[[Any], Any]] = {
    **{name: decoders.DECODERS[name] for name in ("uid", "tags", "metadata")},
    "texts": orjson.loads,
    "origins": lambda text: tuple(map(tuple, orjson.loads(text))),
    "has_grown": bool,
    "is_living": bool,
}


def look(
    connection: apsw.Connection,
    conditions: str,
    values: dict[str, Any],
    shape: type[S],
    after: int,
    limit: int | None,
) -> list[S]:
    """The first *limit* memories above number *after* under *conditions*, as rows of *shape*."""
    sql, decoders, make = _plan(shape)
    if after:
        conditions, values = f"m.id > :after AND {conditions}", {**values, "after": after}
    end = "" if limit is None else "LIMIT :limit"
    found = rows(connection, sql.format(conditions=conditions, end=end), {**values, "limit": limit})
    if decoders:
        found = [_decoded(row, decoders) for row in found]
    return list(map(make, found))


@lru_cache(maxsize=128)
def _plan(shape: type[S]) -> tuple[str, tuple[tuple[int, Callable[[Any], Any]], ...], Callable[[Row], S]]:
    """The statement for a shape, what to decode at which place, and its constructor."""
    fields: tuple[str, ...] = shape._fields  # type: ignore[attr-defined]
    make: Callable[[Row], S] = shape._make  # type: ignore[attr-defined]
    decoders = tuple((place, DECODERS[name]) for place, name in enumerate(fields) if name in DECODERS)
    return SELECT.format(columns=", ".join(EXPRESSIONS[name] for name in fields)), decoders, make


def _decoded(row: Row, decoders: tuple[tuple[int, Callable[[Any], Any]], ...]) -> Row:
    values = list(row)
    for place, decode in decoders:
        values[place] = decode(values[place])
    return tuple(values)
