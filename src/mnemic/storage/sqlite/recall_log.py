"""Rows of `recall_log`."""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import orjson

from mnemic.model.filter import RecallFilter
from mnemic.model.recall_entry import RecallEntry
from mnemic.model.time import Moment
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.rows import Row, rows

MOST_ENTRIES = 100_000
"""Older entries make room."""
INSERT = """
INSERT INTO recall_log (at, actor, query, namespaces, session_id, hits, relevance, tokens, milliseconds, memory_ids)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
SELECT = """
SELECT at, actor, query, namespaces, session_id, hits, relevance, tokens, milliseconds, memory_ids, id
FROM recall_log WHERE {conditions} ORDER BY id {order} LIMIT :limit
"""
CONDITIONS = {
    "after": "id > :after",
    "since": "at >= :since",
    "until": "at <= :until",
    "session_id": "session_id = :session_id",
    # A caller who may see a part of the store sees what was asked of that part alone.
    "visible": """namespaces IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM json_each(namespaces) n WHERE n.value NOT IN (SELECT value FROM json_each(:visible)))""",
}
DROP_MANY = """
DELETE FROM recall_log WHERE id <= (SELECT max(id) FROM recall_log) - ?
"""
DROP_OLD = """
DELETE FROM recall_log WHERE at < ?
"""
DROP_ABOUT = """
DELETE FROM recall_log WHERE EXISTS (
  SELECT 1 FROM json_each(memory_ids) h WHERE h.value IN (SELECT value FROM json_each(?)))
"""

DROP = """
DELETE FROM recall_log WHERE id IN (SELECT value FROM json_each(?))
"""


def append(connection: apsw.Connection, entries: Sequence[RecallEntry], since: Moment) -> None:
    """Add *entries*, and drop those before *since* and the oldest beyond the maximum."""
    connection.executemany(INSERT, map(_encode, entries))
    connection.execute(DROP_MANY, (MOST_ENTRIES,))
    connection.execute(DROP_OLD, (since,))


def drop_about(connection: apsw.Connection, memory_ids: Sequence[int]) -> None:
    """Drop the entries of recalls that answered with one of these memories."""
    connection.execute(DROP_ABOUT, (as_json(list(memory_ids)),))


def drop(connection: apsw.Connection, numbers: Sequence[int]) -> None:
    """Drop the entries with these numbers."""
    connection.execute(DROP, (as_json(list(numbers)),))


def select(
    connection: apsw.Connection, wanted: RecallFilter, *, limit: int, newest_first: bool
) -> list[RecallEntry]:
    """The first *limit* entries that pass."""
    given = {name: value for name in CONDITIONS if (value := getattr(wanted, name)) is not None}
    conditions = " AND ".join(CONDITIONS[name] for name in given) or "TRUE"
    if "visible" in given:
        given["visible"] = as_json(given["visible"])
    sql = SELECT.format(conditions=conditions, order="DESC" if newest_first else "")
    return [_decode(row) for row in rows(connection, sql, {**given, "limit": limit})]


def _encode(entry: RecallEntry) -> Row:
    namespaces = None if entry.namespaces is None else as_json(entry.namespaces)
    return (*entry[:3], namespaces, *entry[4:9], as_json(entry.memory_ids))


def _decode(row: Row) -> RecallEntry:
    namespaces = None if row[3] is None else tuple(orjson.loads(row[3]))
    return RecallEntry._make((*row[:3], namespaces, *row[4:9], tuple(orjson.loads(row[9])), row[10]))
