"""Claims on statements that wait for their vectors, so that no two processes embed the same text."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.model.time import Moment
from mnemic.storage.base import CLAIM_HORIZON, CLAIM_LIFETIME
from mnemic.storage.postgres.connection import Executor
from mnemic.storage.postgres.rows import column, routed

IN_FORCE = f"claim.expires_at BETWEEN %(now)s + 1 AND %(now)s + {CLAIM_HORIZON}"
UNCLAIMED = f"""
NOT EXISTS (SELECT 1 FROM claim
  WHERE claim.namespace_id = s.namespace_id AND claim.statement_id = s.id AND {IN_FORCE})
"""
TAKE = f"""
INSERT INTO claim (namespace_id, statement_id, owner, expires_at)
SELECT s.namespace_id, s.id, %(owner)s, %(now)s + {CLAIM_LIFETIME} FROM statement s
WHERE {{here[s]}} AND s.id = ANY(%(ids)s::bigint[]) AND s.model_id IS NULL AND s.until IS NULL
ON CONFLICT (namespace_id, statement_id) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
WHERE NOT {IN_FORCE}
RETURNING statement_id
"""
RELEASE = """
DELETE FROM claim WHERE {here[claim]} AND owner = %(owner)s
"""
DROP_EXPIRED = f"""
DELETE FROM claim WHERE {{here[claim]}} AND NOT {IN_FORCE}
"""


def take(db: Executor, statement_ids: Sequence[int], owner: str, now: Moment) -> frozenset[int]:
    """Claim those of these statements that are pending and unclaimed, and return them."""
    values = {"ids": list(statement_ids), "owner": owner, "now": now}
    return frozenset(column(db, *routed(db, TAKE, values)))


def release(db: Executor, owner: str, now: Moment) -> None:
    """Drop the claims of *owner*, and those of processes that ended without dropping theirs."""
    db.run(*routed(db, RELEASE, {"owner": owner}))
    db.run(*routed(db, DROP_EXPIRED, {"now": now}))
