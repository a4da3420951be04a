"""Rows of `session`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mnemic.model.filter import SessionFilter
from mnemic.model.session import Session
from mnemic.storage.decoders import SESSION_FIELDS, session_of
from mnemic.storage.postgres.connection import Executor
from mnemic.storage.postgres.memories import NAMESPACE, storable
from mnemic.storage.postgres.rows import rows

COLUMNS = SESSION_FIELDS
STORED = tuple("namespace_id" if name == "namespace" else name for name in COLUMNS)
_LIST = ", ".join(NAMESPACE.format("s") if name == "namespace" else f"s.{name}" for name in COLUMNS)

INSERT = f"""
INSERT INTO session ({", ".join(STORED)}, since) VALUES ({", ".join(["%s"] * len(COLUMNS))}, %s)
"""
SELECT = f"""
SELECT {_LIST} FROM session s WHERE {{conditions}} ORDER BY s.id {{order}} LIMIT %(limit)s
"""
TALLY = f"""
SELECT {NAMESPACE.format("s")}, count(*) FROM session s WHERE {{conditions}} GROUP BY s.namespace_id
"""
# People see these numbers, so they have no gaps: whoever starts a session waits for those who do.
LOCK = """
SELECT pg_advisory_xact_lock(hashtextextended('mnemic session numbers', 0))
"""
NEXT = """
SELECT coalesce(max(id), 0) + 1 FROM session
"""
IS_TAKEN = """
SELECT 1 FROM session s WHERE s.id = %(id)s OR (s.namespace_id = %(space)s AND s.name = %(name)s) LIMIT 1
"""
CONDITIONS = {
    "ids": "s.id = ANY(%(ids)s::bigint[])",
    "namespaces": "s.namespace_id IN (SELECT n.id FROM namespace n WHERE n.name = ANY(%(namespaces)s::text[]))",
    "name": "s.name = %(name)s",
}
NUMBERED = "(s.name = %(name)s OR s.name > %(name)s || ' (' AND s.name < %(name)s || ' )')"


def select(db: Executor, wanted: SessionFilter, *, limit: int | None, newest_first: bool) -> list[Session]:
    """The sessions that pass *wanted*, by number."""
    conditions, values = _where(wanted)
    sql = SELECT.format(conditions=conditions, order="DESC" if newest_first else "")
    return [session_of(row) for row in rows(db, sql, {**values, "limit": limit})]


def tally(db: Executor, wanted: SessionFilter) -> dict[str, int]:
    """How many sessions pass *wanted*, by their namespace."""
    conditions, values = _where(wanted)
    return dict(rows(db, TALLY.format(conditions=conditions), values))


def _where(wanted: SessionFilter) -> tuple[str, dict[str, Any]]:
    given = {name: one for name in CONDITIONS if (one := getattr(wanted, name)) is not None}
    parts = [NUMBERED if name == "name" and wanted.is_numbered else CONDITIONS[name] for name in given]
    values = {name: list(one) if isinstance(one, tuple) else one for name, one in given.items()}
    return " AND ".join(parts) or "TRUE", values


def encode(fields: Mapping[str, Any]) -> dict[str, Any]:
    """*fields* as the columns hold them."""
    encoded = dict(fields)
    if "metadata" in encoded:
        encoded["metadata"] = storable(dict(encoded["metadata"]), "metadata") if encoded["metadata"] else None
    return encoded
