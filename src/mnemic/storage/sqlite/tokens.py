"""Rows of `token`."""

from __future__ import annotations

import orjson

from mnemic.model.access import Grant, Token
from mnemic.storage.sqlite.rows import Row

ALL = """
SELECT name, namespaces, can_write, created_at FROM token ORDER BY name
"""
BY_HASH = """
SELECT name, namespaces, can_write, created_at FROM token WHERE hash = ?
"""
INSERT = """
INSERT INTO token (name, hash, namespaces, can_write, created_at) VALUES (?, ?, ?, ?, ?)
"""
DELETE = """
DELETE FROM token WHERE name = ?
"""


def decode(row: Row) -> Token:
    """A row as a Token."""
    namespaces = None if row[1] is None else tuple(orjson.loads(row[1]))
    return Token(name=row[0], grant=Grant(namespaces, bool(row[2])), created_at=row[3])
