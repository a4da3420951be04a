"""Rows of `mark`: the MinHash signatures of living memories (`storage/fingerprint.py`), for near-duplicate look-up."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import zip_longest

import apsw

from mnemic.model.filter import Filter
from mnemic.model.memory import Memory
from mnemic.storage import fingerprint
from mnemic.storage.sqlite import memories
from mnemic.storage.sqlite.memories import as_json, where
from mnemic.storage.sqlite.rows import rows

PUT = """
INSERT OR IGNORE INTO mark (number, memory_id) VALUES (?, ?)
"""
TAKE_OUT = """
DELETE FROM mark WHERE number IN (SELECT value FROM json_each(:numbers)) AND memory_id = :memory_id
"""
SHARING_ONE = """
SELECT * FROM (
  SELECT :{mark}, k.memory_id FROM mark k CROSS JOIN memory m ON m.id = k.memory_id
  WHERE k.number = :{mark} AND {conditions}
  ORDER BY k.memory_id DESC LIMIT :limit
)
"""
IN_ORDER = """
SELECT k.number, m.namespace, k.memory_id FROM mark k CROSS JOIN memory m ON m.id = k.memory_id
WHERE {conditions}
ORDER BY k.number
"""
NAMES = tuple(f"mark{place}" for place in range(fingerprint.MARKS))


def put(connection: apsw.Connection, waiting: Iterable[tuple[int, int]]) -> None:
    """Keep these marks, each with its memory; in order, since most of the time goes into finding their places."""
    connection.executemany(PUT, sorted(waiting))


def rebuild(connection: apsw.Connection) -> None:
    """Mark every living memory anew, where there are no marks."""
    put(connection, [mark for memory in memories.walk(connection, Filter()) for mark in of(memory)])


def of(memory: Memory) -> list[tuple[int, int]]:
    """The marks of *memory*, as `put` wants them."""
    return [(number, memory.id) for number in fingerprint.marks(memory.content)]


def take_out(connection: apsw.Connection, memory: Memory) -> None:
    """Drop the marks of *memory*, which has its body as it was when they were put."""
    values = {"numbers": as_json(fingerprint.marks(memory.content)), "memory_id": memory.id}
    connection.execute(TAKE_OUT, values)


def alike(connection: apsw.Connection, body: str, wanted: Filter, limit: int) -> list[int]:
    """The memories that share most marks with *body*.

    Of each mark only its newest holders count.
    """
    conditions, values = where(wanted)
    ours = fingerprint.marks(body)
    # A text of few words has fewer marks: the others are NULL, and found nowhere.
    values |= {**dict(zip_longest(NAMES, ours)), "limit": limit}
    found = rows(connection, _sharing(conditions), values)
    return fingerprint.sharing_most(found, len(ours), limit)


@cache  # a text made anew is hashed anew, to find the statement that was prepared for it
def _sharing(conditions: str) -> str:
    # One statement for all marks: after a commit nothing is left in the processor's cache, and each costs 30 µs.
    return "UNION ALL".join(SHARING_ONE.format(mark=name, conditions=conditions) for name in NAMES)


def pairs(connection: apsw.Connection, wanted: Filter, limit: int) -> list[tuple[int, int]]:
    """Up to *limit* pairs of memories of one namespace that share a mark, the smaller number first."""
    conditions, values = where(wanted)
    marked = connection.execute(IN_ORDER.format(conditions=conditions), values)
    return fingerprint.pairs_sharing(marked, limit)
