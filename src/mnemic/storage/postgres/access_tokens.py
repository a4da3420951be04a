"""Rows of `token`."""

from __future__ import annotations

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
