"""Rows of `edge`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from mnemic.model.filter import ALL_STATES, LIVING_ONLY, EdgeFilter, Filter
from mnemic.model.graph import Direction, Edge
from mnemic.storage.decoders import EDGE_FIELDS, edge_of
from mnemic.storage.postgres.connection import Executor, Row
from mnemic.storage.postgres.memories import where
from mnemic.storage.postgres.namespace_filter import NamespaceFilter
from mnemic.storage.postgres.rows import routed, rows

S = TypeVar("S", bound=tuple[Any, ...])

COLUMNS = EDGE_FIELDS
EXPRESSIONS = {name: f"e.{name}" for name in COLUMNS} | {"source": "s.title", "target": "t.title"}
"""What a field of a shape is read from."""

INSERT = f"""
INSERT INTO edge (namespace_id, {", ".join(COLUMNS)}, since) VALUES ({", ".join(["%s"] * (len(COLUMNS) + 2))})
"""
NEXT = """
SELECT nextval('edge_number')
"""
# A number from elsewhere may lie beyond those that were drawn.
DRAWN = """
SELECT setval('edge_number', greatest(%(id)s, (SELECT last_value FROM edge_number)))
"""
# The namespace of the source, if both ends are there.
ENDS = """
SELECT s.namespace_id FROM memory s, memory t
WHERE {here[s]} AND s.id = %(source_id)s AND {here[t]} AND t.id = %(target_id)s
"""
# Numbers are unique in the whole store.
IS_TAKEN = """
SELECT 1 FROM edge WHERE id = %(id)s
"""
SELECT = """
SELECT {columns} FROM edge e {ends} WHERE {here[e]} AND {conditions} ORDER BY e.id LIMIT %(limit)s
"""
WITH_ENDS = """JOIN memory s ON {here[s]} AND s.id = e.source_id
JOIN memory t ON {here[t]} AND t.id = e.target_id"""
COUNT = """
SELECT e.type, count(*) FROM edge e {ends} WHERE {here[e]} AND {conditions} GROUP BY e.type
"""
AT = {
    Direction.OUT: "e.source_id = ANY(%(at)s::bigint[])",
    Direction.IN: "e.target_id = ANY(%(at)s::bigint[])",
    Direction.BOTH: "(e.source_id = ANY(%(at)s::bigint[]) OR e.target_id = ANY(%(at)s::bigint[]))",
}
LISTS = {
    "ids": "e.id = ANY(%(ids)s::bigint[])",
    "sources": "e.source_id = ANY(%(sources)s::bigint[])",
    "targets": "e.target_id = ANY(%(targets)s::bigint[])",
    "types": "e.type = ANY(%(types)s::text[])",
}
_OF_MEMORY = re.compile(r"\bm\.")
_PARAMETER = re.compile(r"%\((\w+)\)s")


def select(db: Executor, wanted: EdgeFilter, after: int, limit: int | None) -> list[Edge]:
    """The edges that pass *wanted*, by number."""
    return [edge_of(row) for row in _found(db, wanted, COLUMNS, after, limit)]


def look(db: Executor, wanted: EdgeFilter, shape: type[S], after: int, limit: int | None) -> list[S]:
    """The same as rows of *shape*."""
    fields: tuple[str, ...] = shape._fields  # type: ignore[attr-defined]
    make: Callable[[Row], S] = shape._make  # type: ignore[attr-defined]
    return list(map(make, _found(db, wanted, fields, after, limit)))


def _found(
    db: Executor, wanted: EdgeFilter, fields: Sequence[str], after: int, limit: int | None
) -> list[Row]:
    needs_ends = wanted.ends is not None or wanted.near is not None or "source" in fields
    conditions, values = _conditions(wanted, db.here)
    if after:
        conditions.append("e.id > %(after)s")
        values["after"] = after
    sql = SELECT.format(
        columns=", ".join(EXPRESSIONS[name] for name in fields),
        ends=_with_ends(db.here) if needs_ends else "",
        conditions=" AND ".join(conditions),
        here=db.here,
    )
    return rows(db, sql, {**values, "limit": limit})


def _with_ends(here: NamespaceFilter) -> str:
    return WITH_ENDS.format(here=here)


def _conditions(wanted: EdgeFilter, here: NamespaceFilter) -> tuple[list[str], dict[str, Any]]:
    """The conditions for the fields of *wanted* that are set, over `edge e`, and their parameters."""
    conditions, values = _state(wanted)
    values |= here.values
    for name, condition in LISTS.items():
        if (given := getattr(wanted, name)) is not None:
            conditions.append(condition)
            values[name] = list(given)
    if wanted.at is not None:
        conditions.append(AT[wanted.direction])
        values["at"] = list(wanted.at)
    if wanted.is_current:
        conditions.append("e.valid_to IS NULL")
    if wanted.created_at is not None:
        conditions.append("e.created_at = %(created_at)s")
        values["created_at"] = wanted.created_at
    if wanted.ends is not None:
        conditions += _both_ends(wanted.ends, here, values)
    if wanted.near is not None:
        conditions.append(f"({' OR '.join(_both_ends(wanted.near, here, values, 'near_'))})")
    return conditions, values


def _state(wanted: EdgeFilter) -> tuple[list[str], dict[str, Any]]:
    if wanted.states == LIVING_ONLY:
        return ["e.state = 'living'"], {}
    if wanted.states == ALL_STATES:
        return ["TRUE"], {}
    return ["e.state = ANY(%(states)s::text[])"], {"states": [str(state) for state in sorted(wanted.states)]}


def _both_ends(
    wanted: Filter, here: NamespaceFilter, values: dict[str, Any], prefix: str = "end_"
) -> list[str]:
    """The conditions under which the source `s` and the target `t` pass *wanted*."""
    conditions, given = where(wanted, here)
    values |= {prefix + name: value for name, value in given.items()}
    named = _PARAMETER.sub(rf"%({prefix}\1)s", conditions)
    return [_OF_MEMORY.sub(end, named) for end in ("s.", "t.")]


def tally(db: Executor, wanted: EdgeFilter) -> dict[str, int]:
    """How many edges of each type pass *wanted*."""
    joined = wanted.ends is not None or wanted.near is not None
    conditions, values = _conditions(wanted, db.here)
    ends = _with_ends(db.here) if joined else ""
    return dict(rows(db, *routed(db, COUNT, values, ends=ends, conditions=" AND ".join(conditions))))
