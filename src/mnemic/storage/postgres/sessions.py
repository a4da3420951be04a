"""Rows of `session`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mnemic.model.filter import SessionFilter
from mnemic.model.session import Session
from mnemic.storage.decoders import SESSION_FIELDS, session_of
from mnemic.storage.postgres.connection import Executor
from mnemic.storage.postgres.memories import NAMESPACE, storable
from mnemic.storage.postgres.namespace_filter import NamespaceFilter
from mnemic.storage.postgres.rows import routed, rows

COLUMNS = SESSION_FIELDS
STORED = tuple("namespace_id" if name == "namespace" else name for name in COLUMNS)
_LIST = ", ".join(NAMESPACE.format("s") if name == "namespace" else f"s.{name}" for name in COLUMNS)

INSERT = f"""
INSERT INTO session ({", ".join(STORED)}, since) VALUES ({", ".join(["%s"] * len(COLUMNS))}, %s)
"""
SELECT = f"""
SELECT {_LIST} FROM session s WHERE {{here[s]}} AND {{conditions}} ORDER BY s.id {{order}} LIMIT %(limit)s
"""
TALLY = f"""
SELECT {NAMESPACE.format("s")}, count(*) FROM session s WHERE {{here[s]}} AND {{conditions}} GROUP BY s.namespace_id
"""
# People see these numbers, so they have no gaps: whoever starts a session waits for those who do.
NEXT = """
INSERT INTO meta (key, value) VALUES ('sessions', '1')
ON CONFLICT (key) DO UPDATE SET value = (meta.value::bigint + 1)::text RETURNING value::bigint
"""
# A number from elsewhere may lie beyond those that were given.
GIVEN = """
INSERT INTO meta (key, value) VALUES ('sessions', %(id)s::bigint::text)
ON CONFLICT (key) DO UPDATE SET value = greatest(meta.value::bigint, excluded.value::bigint)::text
"""
IS_TAKEN = """
SELECT 1 FROM session s WHERE s.id = %(id)s
"""
IS_NAMED = """
SELECT 1 FROM session s WHERE s.namespace_id = %(space)s AND s.name = %(name)s
"""
CONDITIONS = {
    "ids": "s.id = ANY(%(ids)s::bigint[])",
    "name": "s.name = %(name)s",
}
NUMBERED = "(s.name = %(name)s OR s.name > %(name)s || ' (' AND s.name < %(name)s || ' )')"


def select(db: Executor, wanted: SessionFilter, *, limit: int | None, newest_first: bool) -> list[Session]:
    """The sessions that pass *wanted*, by number."""
    conditions, values = _where(wanted, db.here)
    values["limit"], order = limit, "DESC" if newest_first else ""
    found = rows(db, *routed(db, SELECT, values, conditions=conditions, order=order))
    return [session_of(row) for row in found]


def tally(db: Executor, wanted: SessionFilter) -> dict[str, int]:
    """How many sessions pass *wanted*, by their namespace."""
    conditions, values = _where(wanted, db.here)
    return dict(rows(db, *routed(db, TALLY, values, conditions=conditions)))


def _where(wanted: SessionFilter, here: NamespaceFilter) -> tuple[str, dict[str, Any]]:
    given = {name: one for name in CONDITIONS if (one := getattr(wanted, name)) is not None}
    parts = [NUMBERED if name == "name" and wanted.is_numbered else CONDITIONS[name] for name in given]
    values = {name: list(one) if isinstance(one, tuple) else one for name, one in given.items()}
    if wanted.namespaces is not None:
        within = here.within(wanted.namespaces)
        parts.append(within["s"])
        values |= within.values
    return " AND ".join(parts) or "TRUE", values


def encode(fields: Mapping[str, Any]) -> dict[str, Any]:
    """*fields* as the columns hold them."""
    encoded = dict(fields)
    if "metadata" in encoded:
        encoded["metadata"] = storable(dict(encoded["metadata"]), "metadata") if encoded["metadata"] else None
    return encoded
