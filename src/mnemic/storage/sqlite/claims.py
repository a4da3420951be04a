"""Claims on statements that wait for their vectors, so that no two processes embed the same text."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from mnemic.model.time import Moment
from mnemic.storage.base import CLAIM_HORIZON, CLAIM_LIFETIME
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.rows import column

IN_FORCE = f"expires_at BETWEEN :now + 1 AND :now + {CLAIM_HORIZON}"
UNCLAIMED = f"""
s.id NOT IN (SELECT statement_id FROM claim WHERE {IN_FORCE})
"""
TAKE = f"""
INSERT INTO claim (statement_id, owner, expires_at)
SELECT id, :owner, :now + {CLAIM_LIFETIME} FROM statement
WHERE id IN (SELECT value FROM json_each(:ids)) AND model_id IS NULL AND until IS NULL
ON CONFLICT DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at WHERE NOT {IN_FORCE}
RETURNING statement_id
"""
RELEASE = """
DELETE FROM claim WHERE owner = ?
"""
DROP_EXPIRED = f"""
DELETE FROM claim WHERE NOT {IN_FORCE}
"""


def take(
    connection: apsw.Connection, statement_ids: Sequence[int], owner: str, now: Moment
) -> frozenset[int]:
    """Claim those of these statements that are pending and unclaimed, and return them."""
    values = {"ids": as_json(list(statement_ids)), "owner": owner, "now": now}
    return frozenset(column(connection, TAKE, values))


def release(connection: apsw.Connection, owner: str, now: Moment) -> None:
    """Drop the claims of *owner*, and those of processes that ended without dropping theirs."""
    connection.execute(RELEASE, (owner,))
    connection.execute(DROP_EXPIRED, {"now": now})
