"""Rows of `token`."""

from __future__ import annotations

import orjson

from mnemic.model.access import Grant, Quota, Token
from mnemic.storage.postgres.connection import Row
from mnemic.storage.postgres.memories import as_json

ALL = """
SELECT name, namespaces, can_write, max_memories, max_bytes, max_requests, created_at, expires_at, used_at
FROM token ORDER BY name
"""
BY_HASH = """
SELECT name, namespaces, can_write, max_memories, max_bytes, max_requests, created_at, expires_at, used_at
FROM token WHERE hash = %s
"""
UPSERT = """
INSERT INTO token (
    name, hash, namespaces, can_write, max_memories, max_bytes, max_requests, created_at, expires_at, used_at
) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (name) DO UPDATE SET hash = excluded.hash, namespaces = excluded.namespaces,
    can_write = excluded.can_write, max_memories = excluded.max_memories, max_bytes = excluded.max_bytes,
    max_requests = excluded.max_requests, created_at = excluded.created_at, expires_at = excluded.expires_at,
    used_at = excluded.used_at
"""
DELETE = """
DELETE FROM token WHERE name = %s
"""


def encode(token: Token, token_hash: bytes) -> tuple[object, ...]:
    """A Token as values for UPSERT."""
    grant, quota = token.grant, token.grant.quota
    spaces = None if grant.namespaces is None else as_json(grant.namespaces)
    bounds = (quota.memories, quota.bytes, quota.requests_per_minute)
    times = (token.created_at, token.expires_at, token.used_at)
    return token.name, token_hash, spaces, grant.can_write, *bounds, *times


def decode(row: Row) -> Token:
    """A row as a Token."""
    name, spaces, can_write, memories, size, requests, created_at, expires_at, used_at = row
    namespaces = None if spaces is None else tuple(orjson.loads(spaces))
    return Token(
        name=name,
        grant=Grant(namespaces, can_write, Quota(memories, size, requests)),
        created_at=created_at,
        expires_at=expires_at,
        used_at=used_at,
    )
