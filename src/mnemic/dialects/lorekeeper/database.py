"""A database of Lorekeeper, read as the rows of its tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mnemic.storage.sqlite.foreign import read_tables

TABLES = ("memories", "memory_links", "reflections", "sessions")
MARKS = {"memories": "usage_count", "memory_links": "source_memory_id"}
FILE = "lorekeeper.db"


def read(path: Path) -> dict[str, Any]:
    """Everything in the database at *path* or in the folder that it is, which is not touched."""
    file = path / FILE if path.is_dir() else path
    return dict(read_tables(file, "Lorekeeper", TABLES, MARKS))
