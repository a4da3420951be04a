"""Rows of `companion`: how often two memories were recalled together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mnemic.model.time import Moment
from mnemic.storage.base import Companionship
from mnemic.storage.postgres.connection import Executor
from mnemic.storage.postgres.memories import WALKED_AT_ONCE
from mnemic.storage.postgres.rows import routed, rows

# Joined with the memories: one that was answered may have been purged by the time it is counted.
NOTE = """
WITH present AS (SELECT m.namespace_id, m.id FROM memory m WHERE {here[m]} AND m.id = ANY(%(ids)s::bigint[]))
INSERT INTO companion (namespace_id, a, b, count, last)
SELECT x.namespace_id, x.id, y.id, %(times)s, %(now)s
FROM present x, present y WHERE x.id < y.id ORDER BY x.namespace_id, x.id, y.id
ON CONFLICT (namespace_id, a, b) DO UPDATE SET
  count = companion.count + excluded.count, last = greatest(companion.last, excluded.last)
"""
AMONG = """
SELECT a, b, count, last FROM companion c
WHERE {here[c]} AND a = ANY(%(ids)s::bigint[]) AND b = ANY(%(ids)s::bigint[])
ORDER BY a, b
"""
PAGE = """
SELECT a, b, count, last FROM companion c
WHERE {here[c]} AND (a, b) > (%(a)s, %(b)s) ORDER BY a, b LIMIT %(limit)s
"""


def note(db: Executor, memory_ids: Sequence[int], now: Moment, times: int) -> None:
    """Count *times* more joint answers for every pair of these memories that still exist."""
    db.run(*routed(db, NOTE, {"ids": sorted(set(memory_ids)), "now": now, "times": times}))


def among(db: Executor, memory_ids: Sequence[int]) -> list[tuple[int, int, Companionship]]:
    """The companionships within these memories."""
    found = rows(db, *routed(db, AMONG, {"ids": list(memory_ids)}))
    return [(a, b, Companionship(count, last)) for a, b, count, last in found]


def every(db: Executor) -> Iterator[tuple[int, int, Companionship]]:
    """All of them, a page at a time."""
    last = {"a": 0, "b": 0}
    while page := rows(db, *routed(db, PAGE, {**last, "limit": WALKED_AT_ONCE})):
        for a, b, count, moment in page:
            yield a, b, Companionship(count, moment)
        last = dict(zip(last, page[-1], strict=False))
