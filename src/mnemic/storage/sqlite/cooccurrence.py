"""Rows of `companion`: how often two memories were recalled together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import apsw

from mnemic.model.time import Moment
from mnemic.storage.base import Companionship
from mnemic.storage.sqlite.memories import WALKED_AT_ONCE, as_json
from mnemic.storage.sqlite.rows import rows

# Joined with the memories: one that was answered may have been purged by the time it is counted.
# The WHERE is needed by the parser too: without one, SQLite takes the ON for that of a join.
NOTE = """
WITH present AS (SELECT m.id FROM json_each(:ids) x JOIN memory m ON m.id = x.value)
INSERT INTO companion (a, b, count, last)
SELECT x.id, y.id, :times, :now FROM present x, present y WHERE x.id < y.id
ON CONFLICT (a, b) DO UPDATE SET count = count + excluded.count, last = max(last, excluded.last)
"""
AMONG = """
SELECT a, b, count, last FROM companion
WHERE a IN (SELECT value FROM json_each(:ids)) AND b IN (SELECT value FROM json_each(:ids))
ORDER BY a, b
"""
PAGE = """
SELECT a, b, count, last FROM companion WHERE (a, b) > (?, ?) ORDER BY a, b LIMIT ?
"""


def note(connection: apsw.Connection, memory_ids: Sequence[int], now: Moment, times: int) -> None:
    """Count *times* more joint answers for every pair of these memories that still exist."""
    connection.execute(NOTE, {"ids": as_json(sorted(set(memory_ids))), "now": now, "times": times})


def among(connection: apsw.Connection, memory_ids: Sequence[int]) -> list[tuple[int, int, Companionship]]:
    """The companionships within these memories."""
    found = rows(connection, AMONG, {"ids": as_json(list(memory_ids))})
    return [(a, b, Companionship(count, last)) for a, b, count, last in found]


def every(connection: apsw.Connection) -> Iterator[tuple[int, int, Companionship]]:
    """All of them, a page at a time."""
    last = (0, 0)
    while page := rows(connection, PAGE, (*last, WALKED_AT_ONCE)):
        for a, b, count, moment in page:
            yield a, b, Companionship(count, moment)
        last = page[-1][:2]
