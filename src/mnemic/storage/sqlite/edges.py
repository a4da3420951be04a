"""Rows of `edge`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import apsw

from mnemic.model.graph import Direction, Edge, Link, Relation
from mnemic.model.search import Filter
from mnemic.model.values import State
from mnemic.storage.sqlite.memories import STATES, WALKED_AT_ONCE, as_json, where
from mnemic.storage.sqlite.rows import Row, column, rows

COLUMNS = (
    "id",
    "source_id",
    "target_id",
    "type",
    "weight",
    "reason",
    "created_at",
    "valid_from",
    "valid_to",
    "state",
    "updated_at",
    "quality",
    "rating",
    "rating_count",
)
_LIST = ", ".join(COLUMNS)
_LINK = ", ".join(Link._fields)

INSERT = f"""
INSERT INTO edge ({_LIST}) VALUES ({", ".join("?" * len(COLUMNS))})
"""
BY_ID = f"""
SELECT {_LIST} FROM edge WHERE id = ?
"""
IDS_AT = """
SELECT id FROM edge WHERE source_id = :id OR target_id = :id
"""
BETWEEN = f"""
SELECT {_LIST} FROM edge
WHERE source_id = ? AND target_id = ? AND type = ? AND state = 'living' AND valid_to IS NULL
"""
MADE = """
SELECT 1 FROM edge WHERE source_id = ? AND target_id = ? AND type = ? AND created_at = ?
"""
PAGE = f"""
SELECT {_LIST} FROM edge WHERE id > ? ORDER BY id LIMIT ?
"""
TOUCHING = f"""
SELECT {_LIST} FROM edge
WHERE state = 'living' AND {{ends}} {{types}}
ORDER BY id
"""
LINKS = f"""
SELECT {_LINK} FROM edge
WHERE state = 'living' AND valid_to IS NULL AND {{ends}} {{types}}
ORDER BY id
"""
WITHIN = f"""
SELECT {_LINK} FROM edge
WHERE source_id IN (SELECT value FROM json_each(:ids)) AND target_id IN (SELECT value FROM json_each(:ids))
  AND state = 'living' AND valid_to IS NULL
ORDER BY id
"""
# CROSS: the links are walked once and their ends looked up by number, never the other way round.
TYPED = f"""
SELECT {", ".join(f"e.{name}" for name in COLUMNS)}
FROM edge e CROSS JOIN memory s ON s.id = e.source_id CROSS JOIN memory t ON t.id = e.target_id
WHERE e.type = :type AND e.state = 'living' AND e.valid_to IS NULL AND {{ends}}
ORDER BY e.id
"""
# Those that do not pass are few, and found once: looking up both ends of 500,000 links takes ten times as long.
TALLY = """
WITH failing AS MATERIALIZED (SELECT m.id FROM memory m WHERE NOT ({conditions}))
SELECT type, count(*) FROM edge
WHERE state = 'living' AND valid_to IS NULL
  AND source_id NOT IN (SELECT id FROM failing) AND target_id NOT IN (SELECT id FROM failing)
GROUP BY type
"""
UNLINKED = """
SELECT m.id FROM memory m WHERE {conditions} AND {lacking} ORDER BY m.id
"""
LACKING = """
NOT EXISTS (
  SELECT 1 FROM edge e CROSS JOIN memory o ON o.id = e.{other}
  WHERE e.{own} = m.id AND e.state = 'living' AND e.valid_to IS NULL {types}
    AND o.state IN ('living', 'named', 'superseded'))
"""
NAMED = """
SELECT e.id, s.title, t.title, e.type
FROM edge e CROSS JOIN memory s ON s.id = e.source_id CROSS JOIN memory t ON t.id = e.target_id
WHERE e.id > :after AND e.state = 'living' AND e.valid_to IS NULL AND {ends}
ORDER BY e.id LIMIT :limit
"""
AT_ANY = """
e.id IN (SELECT id FROM edge WHERE source_id IN (SELECT value FROM json_each(:at))
         UNION ALL SELECT id FROM edge WHERE target_id IN (SELECT value FROM json_each(:at)))
"""
ENDS = {
    Direction.OUT: "source_id {among}",
    Direction.IN: "target_id {among}",
    Direction.BOTH: "(source_id {among} OR target_id {among})",
}
# To open a memory asks for the links of one, and reading a list takes longer than finding them.
AMONG_ONE, AMONG_MANY = "= :id", "IN (SELECT value FROM json_each(:ids))"
_OF_MEMORY = re.compile(r"\bm\.")


def decode(row: Row) -> Edge:
    """A row of COLUMNS as an Edge."""
    return Edge(
        id=row[0],
        source_id=row[1],
        target_id=row[2],
        type=row[3],
        weight=row[4],
        reason=row[5],
        created_at=row[6],
        valid_from=row[7],
        valid_to=row[8],
        state=STATES[row[9]],
        updated_at=row[10],
        quality=row[11],
        rating=row[12],
        rating_count=row[13],
    )


def named(
    connection: apsw.Connection, wanted: Filter, at: Sequence[int] | None, after: int, limit: int | None
) -> list[Relation]:
    """The current edges with the titles of their ends, which both pass *wanted* or are no more than names."""
    ends, values = _both_ends(replace(wanted, states=wanted.states | {State.NAMED}))
    if at is not None:
        ends.append(AT_ANY)
        values["at"] = as_json(list(at))
    sql = NAMED.format(ends=" AND ".join(ends))
    values |= {"after": after, "limit": -1 if limit is None else limit}
    return [Relation(*row) for row in rows(connection, sql, values)]


def _both_ends(wanted: Filter) -> tuple[list[str], dict[str, Any]]:
    """The conditions under which the source `s` and the target `t` pass *wanted*, and their parameters."""
    conditions, values = where(wanted)
    return [_OF_MEMORY.sub(end, conditions) for end in ("s.", "t.")], values


def walk(connection: apsw.Connection) -> Iterator[Edge]:
    """Every edge in every state, by number, without holding them all."""
    last = 0
    while page := rows(connection, PAGE, (last, WALKED_AT_ONCE)):
        yield from map(decode, page)
        last = page[-1][0]


def between(connection: apsw.Connection, memory_ids: Sequence[int]) -> list[Link]:
    """The current edges from one of these memories to another."""
    return list(map(Link._make, rows(connection, WITHIN, {"ids": as_json(list(memory_ids))})))


def links(
    connection: apsw.Connection, memory_ids: Sequence[int], direction: Direction, types: Sequence[str] | None
) -> list[Link]:
    """The current edges at any of these memories, in short."""
    return list(map(Link._make, _at(connection, LINKS, memory_ids, direction, types)))


def typed(connection: apsw.Connection, type: str, wanted: Filter) -> list[Edge]:
    """The current edges of a type between memories that pass."""
    ends, values = _both_ends(wanted)
    sql = TYPED.format(ends=" AND ".join(ends))
    return [decode(row) for row in rows(connection, sql, {**values, "type": type})]


def tally(connection: apsw.Connection, wanted: Filter) -> dict[str, int]:
    """How many current edges of each type lead between memories that pass."""
    conditions, values = where(wanted)
    return dict(rows(connection, TALLY.format(conditions=conditions), values))


def unlinked(
    connection: apsw.Connection, wanted: Filter, direction: Direction, types: Sequence[str] | None
) -> list[int]:
    """The memories that pass and have no current edge in this direction, of these types or of any."""
    conditions, values = where(wanted)
    only = "AND e.type IN (SELECT value FROM json_each(:types))" if types else ""
    lacking = [
        LACKING.format(own=own, other=other, types=only)
        for way, own, other in (
            (Direction.OUT, "source_id", "target_id"),
            (Direction.IN, "target_id", "source_id"),
        )
        if direction in (way, Direction.BOTH)
    ]
    if types:
        values["types"] = as_json(list(types))
    return column(connection, UNLINKED.format(conditions=conditions, lacking=" AND ".join(lacking)), values)


def touching(
    connection: apsw.Connection, memory_ids: Sequence[int], direction: Direction, types: Sequence[str] | None
) -> list[Edge]:
    """The living edges at any of these memories."""
    return [decode(row) for row in _at(connection, TOUCHING, memory_ids, direction, types)]


def _at(
    connection: apsw.Connection,
    sql: str,
    memory_ids: Sequence[int],
    direction: Direction,
    types: Sequence[str] | None,
) -> list[Row]:
    """The rows of *sql* at any of these memories."""
    only = "AND type IN (SELECT value FROM json_each(:types))" if types else ""
    is_one = len(memory_ids) == 1
    ends = ENDS[direction].format(among=AMONG_ONE if is_one else AMONG_MANY)
    values: dict[str, Any] = {"id": memory_ids[0]} if is_one else {"ids": as_json(list(memory_ids))}
    if types:
        values["types"] = as_json(list(types))
    return rows(connection, sql.format(ends=ends, types=only), values)
