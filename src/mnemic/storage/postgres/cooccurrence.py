"""Rows of `companion`: how often two memories were recalled together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mnemic.model.time import Moment
from mnemic.storage.base import Companionship
from mnemic.storage.postgres.connection import Executor
from mnemic.storage.postgres.memories import WALKED_AT_ONCE
from mnemic.storage.postgres.rows import rows

# Joined with the memories: one that was answered may have been purged by the time it is counted.
NOTE = """
WITH present AS (SELECT m.id FROM memory m WHERE m.id = ANY(%(ids)s::bigint[]))
INSERT INTO companion (a, b, count, last)
SELECT x.id, y.id, %(times)s, %(now)s FROM present x, present y WHERE x.id < y.id ORDER BY x.id, y.id
ON CONFLICT (a, b) DO UPDATE SET
  count = companion.count + excluded.count, last = greatest(companion.last, excluded.last)
"""
AMONG = """
SELECT a, b, count, last FROM companion
WHERE a = ANY(%(ids)s::bigint[]) AND b = ANY(%(ids)s::bigint[])
ORDER BY a, b
"""
PAGE = """
SELECT a, b, count, last FROM companion WHERE (a, b) > (%s, %s) ORDER BY a, b LIMIT %s
"""


def note(db: Executor, memory_ids: Sequence[int], now: Moment, times: int) -> None:
    """Count *times* more joint answers for every pair of these memories that still exist."""
    db.run(NOTE, {"ids": sorted(set(memory_ids)), "now": now, "times": times})


def among(db: Executor, memory_ids: Sequence[int]) -> list[tuple[int, int, Companionship]]:
    """The companionships within these memories."""
    found = rows(db, AMONG, {"ids": list(memory_ids)})
    return [(a, b, Companionship(count, last)) for a, b, count, last in found]


def every(db: Executor) -> Iterator[tuple[int, int, Companionship]]:
    """All of them, a page at a time."""
    last = (0, 0)
    while page := rows(db, PAGE, (*last, WALKED_AT_ONCE)):
        for a, b, count, moment in page:
            yield a, b, Companionship(count, moment)
        last = page[-1][:2]
