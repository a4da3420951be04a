"""Rows of `session`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from mnemic.model.session import Session
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.rows import Row

COLUMNS = ("id", "namespace", "name", "started_at", "ended_at", "topic", "summary", "metadata")
_LIST = ", ".join(COLUMNS)

INSERT = f"""
INSERT INTO session ({_LIST}) VALUES ({", ".join("?" * len(COLUMNS))})
"""
BY_ID = f"""
SELECT {_LIST} FROM session WHERE id = ?
"""
BY_NAME = f"""
SELECT {_LIST} FROM session WHERE namespace = ? AND name = ?
"""
CALLED = f"""
SELECT {_LIST} FROM session
WHERE namespace = :namespace AND (name = :name OR name > :name || ' (' AND name < :name || ' )')
ORDER BY id
"""
ALL = f"""
SELECT {_LIST} FROM session ORDER BY id
"""
LATEST = f"""
SELECT {_LIST} FROM session
WHERE :namespaces IS NULL OR namespace IN (SELECT value FROM json_each(:namespaces))
ORDER BY id DESC LIMIT :limit
"""
COUNT = """
SELECT count(*) FROM session
WHERE :namespaces IS NULL OR namespace IN (SELECT value FROM json_each(:namespaces))
"""
NEXT = """
SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'session'
"""


def decode(row: Row) -> Session:
    """A row of COLUMNS as a Session."""
    return Session(
        id=row[0],
        namespace=row[1],
        name=row[2],
        started_at=row[3],
        ended_at=row[4],
        topic=row[5],
        summary=row[6],
        metadata=orjson.loads(row[7]) if row[7] else {},
    )


def encode(fields: Mapping[str, Any]) -> dict[str, Any]:
    """*fields* as the columns hold them."""
    told = dict(fields)
    if "metadata" in told:
        told["metadata"] = as_json(dict(told["metadata"])) if told["metadata"] else None
    return told
