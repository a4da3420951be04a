"""Rows of `companion`, and the other figures of use and size that tidying and association look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import apsw

from mnemic.model.search import Filter
from mnemic.model.values import Moment
from mnemic.storage.base import Companionship, Outline, Usage
from mnemic.storage.sqlite.memories import WALKED_AT_ONCE, as_json, where
from mnemic.storage.sqlite.rows import rows

# Joined with the memories: one that was answered may have been purged by the time it is counted.
# The WHERE is needed by the parser too: without one, SQLite takes the ON for that of a join.
NOTE = """
WITH present AS (SELECT m.id FROM json_each(:ids) x JOIN memory m ON m.id = x.value)
INSERT INTO companion (a, b, count, last)
SELECT x.id, y.id, 1, :now FROM present x, present y WHERE x.id < y.id
ON CONFLICT (a, b) DO UPDATE SET count = count + 1, last = max(last, excluded.last)
"""
SET = """
INSERT INTO companion (a, b, count, last) VALUES (min(:a, :b), max(:a, :b), :count, :last)
ON CONFLICT (a, b) DO UPDATE SET count = excluded.count, last = excluded.last
"""
AMONG = """
SELECT a, b, count, last FROM companion
WHERE a IN (SELECT value FROM json_each(:ids)) AND b IN (SELECT value FROM json_each(:ids))
"""
PAGE = """
SELECT a, b, count, last FROM companion WHERE (a, b) > (?, ?) ORDER BY a, b LIMIT ?
"""
USAGE = """
SELECT m.id, m.created_at, m.accessed_at, m.access_count, m.days_used,
    (SELECT count(*) FROM edge e WHERE e.source_id = m.id AND e.state = 'living')
    + (SELECT count(*) FROM edge e WHERE e.target_id = m.id AND e.state = 'living')
FROM memory m WHERE m.id IN (SELECT value FROM json_each(?))
"""
OUTLINES = """
SELECT m.id, m.title, m.kind, m.created_at, m.accessed_at, m.access_count,
    count(s.id), coalesce(min(s.since) < max(s.since), FALSE)
FROM memory m LEFT JOIN statement s ON s.memory_id = m.id AND s.until IS NULL AND s.position > 0
WHERE {conditions}
GROUP BY m.id ORDER BY m.id
"""
ORIGINS = """
SELECT id, since FROM statement
WHERE memory_id IN (SELECT value FROM json_each(?)) AND until IS NULL AND position > 0
"""


def note(connection: apsw.Connection, memory_ids: Sequence[int], now: Moment) -> None:
    """Count one more time that those of these that are still there were answered together."""
    connection.execute(NOTE, {"ids": as_json(sorted(set(memory_ids))), "now": now})


def among(connection: apsw.Connection, memory_ids: Sequence[int]) -> dict[tuple[int, int], Companionship]:
    """The companionships within these memories."""
    found = rows(connection, AMONG, {"ids": as_json(list(memory_ids))})
    return {(a, b): Companionship(count, last) for a, b, count, last in found}


def every(connection: apsw.Connection) -> Iterator[tuple[int, int, Companionship]]:
    """All of them, a page at a time."""
    last = (0, 0)
    while page := rows(connection, PAGE, (*last, WALKED_AT_ONCE)):
        for a, b, count, moment in page:
            yield a, b, Companionship(count, moment)
        last = page[-1][:2]


def usage(connection: apsw.Connection, memory_ids: Sequence[int]) -> dict[int, Usage]:
    """How these memories are used and linked."""
    found = rows(connection, USAGE, (as_json(list(memory_ids)),))
    return {number: Usage(*figures) for number, *figures in found}


def outlines(connection: apsw.Connection, wanted: Filter) -> list[Outline]:
    """The memories that pass, without their texts."""
    conditions, values = where(wanted)
    found = rows(connection, OUTLINES.format(conditions=conditions), values)
    return [Outline._make((*figures, bool(has_grown))) for *figures, has_grown in found]


def origins(connection: apsw.Connection, memory_ids: Sequence[int]) -> dict[int, int]:
    """The change that each living statement of these memories came with."""
    return dict(rows(connection, ORIGINS, (as_json(list(memory_ids)),)))
