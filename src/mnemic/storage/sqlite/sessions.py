"""Rows of `session`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import apsw

from mnemic.model.filter import SessionFilter
from mnemic.model.session import Session
from mnemic.storage.decoders import SESSION_FIELDS, session_of
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.rows import rows

COLUMNS = SESSION_FIELDS
_LIST = ", ".join(COLUMNS)

INSERT = f"""
INSERT INTO session ({_LIST}, since) VALUES ({", ".join("?" * len(COLUMNS))}, ?)
"""
BY_NAME = f"""
SELECT {_LIST} FROM session WHERE namespace = ? AND name = ?
"""
SELECT = f"""
SELECT {_LIST} FROM session WHERE {{conditions}} ORDER BY id {{order}} LIMIT :limit
"""
TALLY = """
SELECT namespace, count(*) FROM session WHERE {conditions} GROUP BY namespace
"""
NEXT = """
SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'session'
"""
CONDITIONS = {
    "ids": "id IN (SELECT value FROM json_each(:ids))",
    "namespaces": "namespace IN (SELECT value FROM json_each(:namespaces))",
    "name": "name = :name",
}
NUMBERED = "(name = :name OR name > :name || ' (' AND name < :name || ' )')"


def select(
    connection: apsw.Connection, wanted: SessionFilter, *, limit: int | None, newest_first: bool
) -> list[Session]:
    """The sessions that pass *wanted*, by number."""
    conditions, values = _where(wanted)
    sql = SELECT.format(conditions=conditions, order="DESC" if newest_first else "")
    return [
        session_of(row) for row in rows(connection, sql, {**values, "limit": -1 if limit is None else limit})
    ]


def tally(connection: apsw.Connection, wanted: SessionFilter) -> dict[str, int]:
    """How many sessions pass *wanted*, by their namespace."""
    conditions, values = _where(wanted)
    return dict(rows(connection, TALLY.format(conditions=conditions), values))


def _where(wanted: SessionFilter) -> tuple[str, dict[str, Any]]:
    given = {name: one for name in CONDITIONS if (one := getattr(wanted, name)) is not None}
    parts = [NUMBERED if name == "name" and wanted.is_numbered else CONDITIONS[name] for name in given]
    values = {name: as_json(one) if isinstance(one, tuple) else one for name, one in given.items()}
    return " AND ".join(parts) or "TRUE", values


def encode(fields: Mapping[str, Any]) -> dict[str, Any]:
    """*fields* as the columns hold them."""
    encoded = dict(fields)
    if "metadata" in encoded:
        encoded["metadata"] = as_json(dict(encoded["metadata"])) if encoded["metadata"] else None
    return encoded
