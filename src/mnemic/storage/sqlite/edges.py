"""Rows of `edge`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import apsw

from mnemic.model.filter import ALL_STATES, LIVING_ONLY, EdgeFilter, Filter
from mnemic.model.graph import Direction, Edge
from mnemic.storage.decoders import EDGE_FIELDS, edge_of
from mnemic.storage.sqlite.memories import as_json, where
from mnemic.storage.sqlite.rows import Row, rows

S = TypeVar("S", bound=tuple[Any, ...])

COLUMNS = EDGE_FIELDS
_LIST = ", ".join(COLUMNS)

EXPRESSIONS = {name: f"e.{name}" for name in COLUMNS} | {"source": "s.title", "target": "t.title"}
"""What a field of a shape is read from."""

INSERT = f"""
INSERT INTO edge ({_LIST}, since) VALUES ({", ".join("?" * len(COLUMNS))}, ?)
"""
SELECT = """
SELECT {columns} FROM edge e {ends} WHERE {conditions} ORDER BY e.id LIMIT :limit
"""
# CROSS: the links are walked once and their ends looked up by number, never the other way round.
WITH_ENDS = "CROSS JOIN memory s ON s.id = e.source_id CROSS JOIN memory t ON t.id = e.target_id"
COUNT = """
SELECT e.type, count(*) FROM edge e {ends} WHERE {conditions} GROUP BY e.type
"""
# Those that do not pass are few, and found once: looking up both ends of 500,000 links takes ten times as long.
TALLY = """
WITH failing AS MATERIALIZED (SELECT m.id FROM memory m WHERE NOT ({failing}))
SELECT e.type, count(*) FROM edge e
WHERE {conditions}
  AND e.source_id NOT IN (SELECT id FROM failing) AND e.target_id NOT IN (SELECT id FROM failing)
GROUP BY e.type
"""
AT_ANY = """
e.id IN (SELECT id FROM edge WHERE source_id IN (SELECT value FROM json_each(:at))
         UNION ALL SELECT id FROM edge WHERE target_id IN (SELECT value FROM json_each(:at)))
"""
AT = {
    Direction.OUT: "e.source_id {among}",
    Direction.IN: "e.target_id {among}",
    Direction.BOTH: "(e.source_id {among} OR e.target_id {among})",
}
LISTS = {"ids": "e.id", "sources": "e.source_id", "targets": "e.target_id", "types": "e.type"}
_OF_MEMORY = re.compile(r"\bm\.")
_PARAMETER = re.compile(r":(\w+)")


def select(connection: apsw.Connection, wanted: EdgeFilter, after: int, limit: int | None) -> list[Edge]:
    """The edges that pass *wanted*, by number."""
    return [edge_of(row) for row in _found(connection, wanted, COLUMNS, after, limit)]


def look(
    connection: apsw.Connection, wanted: EdgeFilter, shape: type[S], after: int, limit: int | None
) -> list[S]:
    """The same as rows of *shape*."""
    fields: tuple[str, ...] = shape._fields  # type: ignore[attr-defined]
    make: Callable[[Row], S] = shape._make  # type: ignore[attr-defined]
    return list(map(make, _found(connection, wanted, fields, after, limit)))


def _found(
    connection: apsw.Connection, wanted: EdgeFilter, fields: Sequence[str], after: int, limit: int | None
) -> list[Row]:
    needs_ends = wanted.ends is not None or wanted.near is not None or "source" in fields
    conditions, values = _conditions(wanted, is_joined=needs_ends)
    if after:
        conditions.append("e.id > :after")
        values["after"] = after
    sql = SELECT.format(
        columns=", ".join(EXPRESSIONS[name] for name in fields),
        ends=WITH_ENDS if needs_ends else "",
        conditions=" AND ".join(conditions),
    )
    return rows(connection, sql, {**values, "limit": -1 if limit is None else limit})


def _conditions(wanted: EdgeFilter, *, is_joined: bool) -> tuple[list[str], dict[str, Any]]:
    """The conditions for the fields of *wanted* that are set, over `edge e`, and their parameters."""
    conditions, values = _state(wanted)
    for name, expression in LISTS.items():
        if (given := getattr(wanted, name)) is not None:
            conditions.append(f"{expression} {_among(name, given, values)}")
    if wanted.at is not None:
        if is_joined and wanted.direction is Direction.BOTH:
            conditions.append(AT_ANY)
            values["at"] = as_json(wanted.at)
        else:
            conditions.append(AT[wanted.direction].format(among=_among("at", wanted.at, values)))
    if wanted.is_current:
        conditions.append("e.valid_to IS NULL")
    if wanted.created_at is not None:
        conditions.append("e.created_at = :created_at")
        values["created_at"] = wanted.created_at
    if wanted.ends is not None:
        conditions += _both_ends(wanted.ends, values)
    if wanted.near is not None:
        conditions.append(f"({' OR '.join(_both_ends(wanted.near, values, prefix='near_'))})")
    return conditions, values


def _state(wanted: EdgeFilter) -> tuple[list[str], dict[str, Any]]:
    if wanted.states == LIVING_ONLY:
        return ["e.state = 'living'"], {}
    if wanted.states == ALL_STATES:
        return ["TRUE"], {}
    return ["e.state IN (SELECT value FROM json_each(:states))"], {"states": as_json(sorted(wanted.states))}


def _among(name: str, given: tuple[Any, ...], values: dict[str, Any]) -> str:
    """The comparison with the values *given*; reading a list takes longer than finding the links of one memory."""
    if len(given) == 1:
        values[name] = given[0]
        return f"= :{name}"
    values[name] = as_json(given)
    return f"IN (SELECT value FROM json_each(:{name}))"


def _both_ends(wanted: Filter, values: dict[str, Any], prefix: str = "end_") -> list[str]:
    """The conditions under which the source `s` and the target `t` pass *wanted*."""
    conditions, given = where(wanted)
    values |= {prefix + name: value for name, value in given.items()}
    named = _PARAMETER.sub(rf":{prefix}\1", conditions)
    return [_OF_MEMORY.sub(end, named) for end in ("s.", "t.")]


def tally(connection: apsw.Connection, wanted: EdgeFilter) -> dict[str, int]:
    """How many edges of each type pass *wanted*."""
    if wanted.ends is None or wanted.near is not None:
        joined = wanted.near is not None
        conditions, values = _conditions(wanted, is_joined=joined)
        sql = COUNT.format(ends=WITH_ENDS if joined else "", conditions=" AND ".join(conditions))
        return dict(rows(connection, sql, values))
    failing, ends = where(wanted.ends)
    conditions, values = _conditions(replace(wanted, ends=None), is_joined=False)
    sql = TALLY.format(failing=failing, conditions=" AND ".join(conditions))
    return dict(rows(connection, sql, {**ends, **values}))
