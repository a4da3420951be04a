"""Claims on statements that wait for their vectors, so that no two processes embed the same text."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.model.time import Moment
from mnemic.storage.base import CLAIM_HORIZON, CLAIM_LIFETIME
from mnemic.storage.postgres.connection import Executor
from mnemic.storage.postgres.rows import column

IN_FORCE = f"claim.expires_at BETWEEN %(now)s + 1 AND %(now)s + {CLAIM_HORIZON}"
UNCLAIMED = f"""
s.id NOT IN (SELECT statement_id FROM claim WHERE {IN_FORCE})
"""
TAKE = f"""
INSERT INTO claim (statement_id, owner, expires_at)
SELECT id, %(owner)s, %(now)s + {CLAIM_LIFETIME} FROM statement
WHERE id = ANY(%(ids)s::bigint[]) AND model_id IS NULL AND until IS NULL
ON CONFLICT (statement_id) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at WHERE NOT {IN_FORCE}
RETURNING statement_id
"""
RELEASE = """
DELETE FROM claim WHERE owner = %s
"""
DROP_EXPIRED = f"""
DELETE FROM claim WHERE NOT {IN_FORCE}
"""


def take(db: Executor, statement_ids: Sequence[int], owner: str, now: Moment) -> frozenset[int]:
    """Claim those of these statements that are pending and unclaimed, and return them."""
    values = {"ids": list(statement_ids), "owner": owner, "now": now}
    return frozenset(column(db, TAKE, values))


def release(db: Executor, owner: str, now: Moment) -> None:
    """Drop the claims of *owner*, and those of processes that ended without dropping theirs."""
    db.run(RELEASE, (owner,))
    db.run(DROP_EXPIRED, {"now": now})
