"""Rows of `mark`: a few numbers of each living memory, by which those that say nearly the same are found."""

from __future__ import annotations

from collections import Counter

import apsw

from mnemic.model.memory import Memory
from mnemic.model.search import Filter
from mnemic.storage import text
from mnemic.storage.sqlite.memories import as_json, where
from mnemic.storage.sqlite.rows import column

PUT = """
INSERT OR IGNORE INTO mark (number, memory_id) SELECT value, :memory_id FROM json_each(:numbers)
"""
TAKE_OUT = """
DELETE FROM mark WHERE number IN (SELECT value FROM json_each(:numbers)) AND memory_id = :memory_id
"""
SHARING = """
SELECT k.memory_id FROM mark k CROSS JOIN memory m ON m.id = k.memory_id
WHERE k.number = :number AND {conditions}
ORDER BY k.memory_id DESC LIMIT :limit
"""


def put(connection: apsw.Connection, memory: Memory) -> None:
    """Keep the marks of *memory*."""
    connection.execute(PUT, _values(memory))


def take_out(connection: apsw.Connection, memory: Memory) -> None:
    """Drop the marks of *memory*, which has its body as it was when they were put."""
    connection.execute(TAKE_OUT, _values(memory))


def _values(memory: Memory) -> dict[str, object]:
    return {"numbers": as_json(text.marks(memory.content)), "memory_id": memory.id}


def alike(connection: apsw.Connection, body: str, wanted: Filter, limit: int) -> list[int]:
    """The memories that share most marks with *body*. A mark that many share tells little: its newest count."""
    conditions, values = where(wanted)
    sql = SHARING.format(conditions=conditions)
    shared = Counter[int]()
    for number in text.marks(body):
        shared.update(column(connection, sql, {**values, "number": number, "limit": limit}))
    return [memory_id for memory_id, _ in shared.most_common(limit)]
