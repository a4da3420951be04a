"""Rows of `token`."""

from __future__ import annotations

import orjson

from mnemic.model.access import Grant, Quota, Token
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.rows import Row

ALL = """
SELECT name, namespaces, can_write, max_memories, max_bytes, max_requests, created_at, expires_at, used_at
FROM token ORDER BY name
"""
BY_HASH = """
SELECT name, namespaces, can_write, max_memories, max_bytes, max_requests, created_at, expires_at, used_at
FROM token WHERE hash = ?
"""
UPSERT = """
INSERT OR REPLACE INTO token (
    name, hash, namespaces, can_write, max_memories, max_bytes, max_requests, created_at, expires_at, used_at
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
DELETE = """
DELETE FROM token WHERE name = ?
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
        grant=Grant(namespaces, bool(can_write), Quota(memories, size, requests)),
        created_at=created_at,
        expires_at=expires_at,
        used_at=used_at,
    )
