"""Rows of `memory` in the shape a caller asks for."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from mnemic.model.filter import Filter
from mnemic.storage import decoders
from mnemic.storage.postgres import memories
from mnemic.storage.postgres.connection import Executor, Row
from mnemic.storage.postgres.rows import rows

S = TypeVar("S", bound=tuple[Any, ...])

SELECT = """
SELECT {columns} FROM memory m WHERE {{here[m]}} AND {{conditions}} ORDER BY m.id {{end}}
"""
BODY = """FROM statement s
  WHERE s.namespace_id = m.namespace_id AND s.memory_id = m.id AND s.until IS NULL AND s.position > 0
    AND {within[s]}"""
LINKS = "SELECT count(*) FROM edge e WHERE {{here[e]}} AND e.{end} = m.id AND e.state = 'living'"
EXPRESSIONS = memories.EXPRESSIONS | {
    "content": f"(SELECT coalesce(string_agg(s.text, chr(10) ORDER BY s.position), '') {BODY})",
    "texts": f"(SELECT coalesce(array_agg(s.text ORDER BY s.position), ARRAY[]::text[]) {BODY})",
    "origins": f"(SELECT coalesce(array_agg(ARRAY[s.id, s.since]), ARRAY[]::bigint[]) {BODY})",
    "statements": f"(SELECT count(*) {BODY})",
    "has_grown": f"(SELECT coalesce(min(s.since) < max(s.since), FALSE) {BODY})",
    "links": f"({LINKS.format(end='source_id')}) + ({LINKS.format(end='target_id')})",
    "size_bytes": f"octet_length(m.title) + coalesce((SELECT sum(octet_length(s.text)) {BODY}), 0)::bigint",
    "is_living": "m.state = 'living'",
}
"""What a field of a shape is read from."""
DECODERS: dict[str, Callable[[Any], Any]] = {
    **{name: decoders.DECODERS[name] for name in ("uid", "tags", "metadata")},
    "origins": lambda pairs: tuple(map(tuple, pairs)),
}


def look(db: Executor, wanted: Filter, shape: type[S], after: int, limit: int | None) -> list[S]:
    """The first *limit* memories above number *after* that pass *wanted*, as rows of *shape*."""
    sql, decoders, make = _plan(shape)
    conditions, values = memories.where(wanted, db.here)
    within = db.here.within(wanted.namespaces)
    if after:
        conditions, values = f"m.id > %(after)s AND {conditions}", {**values, "after": after}
    end = "" if limit is None else "LIMIT %(limit)s"
    sql = sql.format(conditions=conditions, end=end, here=db.here, within=within)
    found = rows(db, sql, {**values, "limit": limit})
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
