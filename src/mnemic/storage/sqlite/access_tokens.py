"""Rows of `token`."""

from __future__ import annotations

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
