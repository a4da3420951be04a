"""Rows of `recall_log`."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from mnemic.model.filter import RecallFilter
from mnemic.model.recall_entry import RecallEntry
from mnemic.model.time import Moment
from mnemic.storage.postgres.connection import Executor, Row
from mnemic.storage.postgres.memories import as_json
from mnemic.storage.postgres.rows import rows

MOST_ENTRIES = 100_000
"""Older entries make room."""
INSERT = """
INSERT INTO recall_log (at, actor, query, namespaces, session_id, hits, relevance, tokens, milliseconds, memory_ids)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""
SELECT = """
SELECT at, actor, query, namespaces, session_id, hits, relevance, tokens, milliseconds, memory_ids, id
FROM recall_log WHERE {conditions} ORDER BY id {order} LIMIT %(limit)s
"""
CONDITIONS = {
    "after": "id > %(after)s",
    "since": "at >= %(since)s",
    "until": "at <= %(until)s",
    "session_id": "session_id = %(session_id)s",
    # A caller who may see a part of the store sees what was asked of that part alone.
    "visible": """namespaces IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM jsonb_array_elements_text(namespaces::jsonb) n WHERE n != ALL(%(visible)s::text[]))""",
}
DROP_MANY = """
DELETE FROM recall_log WHERE id <= (SELECT max(id) FROM recall_log) - %s
"""
DROP_OLD = """
DELETE FROM recall_log WHERE at < %s
"""
DROP_ABOUT = """
DELETE FROM recall_log WHERE EXISTS (
  SELECT 1 FROM jsonb_array_elements(memory_ids::jsonb) h WHERE h::bigint = ANY(%s::bigint[]))
"""

DROP = """
DELETE FROM recall_log WHERE id = ANY(%s::bigint[])
"""


def append(db: Executor, entries: Sequence[RecallEntry], since: Moment) -> None:
    """Add *entries*, and drop those before *since* and the oldest beyond the maximum."""
    for entry in entries:
        db.run(INSERT, _encode(entry))
    db.run(DROP_MANY, (MOST_ENTRIES,))
    db.run(DROP_OLD, (since,))


def drop_about(db: Executor, memory_ids: Sequence[int]) -> None:
    """Drop the entries of recalls that answered with one of these memories."""
    db.run(DROP_ABOUT, (list(memory_ids),))


def drop(db: Executor, numbers: Sequence[int]) -> None:
    """Drop the entries with these numbers."""
    db.run(DROP, (list(numbers),))


def select(db: Executor, wanted: RecallFilter, *, limit: int, newest_first: bool) -> list[RecallEntry]:
    """The first *limit* entries that pass."""
    given = {name: value for name in CONDITIONS if (value := getattr(wanted, name)) is not None}
    conditions = " AND ".join(CONDITIONS[name] for name in given) or "TRUE"
    if "visible" in given:
        given["visible"] = list(given["visible"])
    sql = SELECT.format(conditions=conditions, order="DESC" if newest_first else "")
    return [_decode(row) for row in rows(db, sql, {**given, "limit": limit})]


def _encode(entry: RecallEntry) -> Row:
    namespaces = None if entry.namespaces is None else as_json(entry.namespaces)
    return (*entry[:3], namespaces, *entry[4:9], as_json(entry.memory_ids))


def _decode(row: Row) -> RecallEntry:
    namespaces = None if row[3] is None else tuple(orjson.loads(row[3]))
    return RecallEntry._make((*row[:3], namespaces, *row[4:9], tuple(orjson.loads(row[9])), row[10]))
