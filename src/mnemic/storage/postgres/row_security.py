"""Row-level security, the second lock: the server shows a statement only rows of the namespaces its transaction names.

The first lock is `storage/scoped.py`, which narrows each question; the policies are in `schema.py`. A transaction that
names no namespaces sees no row.
"""

from __future__ import annotations

import orjson
import psycopg

from mnemic.model.access import Scope

EVERYWHERE = "*"
"""Every namespace, for callers with a full grant and for what concerns the whole store."""
ROW_SCOPE = "set_config('mnemic.scope', %s, true)"
SET_ROW_SCOPE = f"""
SELECT {ROW_SCOPE}
"""
IS_ACTIVE = """
SELECT row_security_active('mnemic.memory')
"""
OFF = (
    "Row-level security is off, because the database role passes over it: log in as a role that is no superuser. On a "
    "cluster it cannot be on (docs/team.md)."
)


def row_scope(scope: Scope) -> str:
    """The setting that lets a transaction see the rows of *scope*."""
    return EVERYWHERE if scope.visible is None else orjson.dumps(scope.visible).decode()


def is_active(connection: psycopg.Connection[tuple[object, ...]]) -> bool:
    """Whether the policies hold for the role that is logged in."""
    return connection.execute(IS_ACTIVE).fetchall() == [(True,)]
