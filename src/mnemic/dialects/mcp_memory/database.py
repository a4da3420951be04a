"""A database of mcp-memory, read as the rows of its tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mnemic.storage.sqlite.foreign import read_tables

TABLES = (
    *("entities", "observations", "relations", "reflections"),
    *("entity_access", "entity_access_log", "co_occurrences"),
)
MARKS = {"entities": "entity_type", "observations": "entity_id", "relations": "from_entity"}


def read(path: Path) -> dict[str, Any]:
    """Everything in the database at *path*, which is not touched; its vectors and its log of searches stay behind."""
    return dict(read_tables(path, "mcp-memory", TABLES, MARKS))
