"""A database of ai-memory, read as the JSON document that its memories, links, archive and standards make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import orjson

from mnemic.storage.sqlite import foreign
from mnemic.storage.sqlite.foreign import Row

TABLES = ("memories", "memory_links", "archived_memories", "namespace_meta")
# A vector is large, and our own model makes its own.
UNREAD = frozenset({"embedding"})
AS_JSON = ("tags", "metadata")
MARKS = {"memories": "tier", "memory_links": "source_id"}
STANDARDS = """
SELECT namespace, standard_id, {parent} FROM namespace_meta
"""


def read(path: Path) -> dict[str, Any]:
    """Everything in the database at *path*, which is not touched; Invalid if it is none of ai-memory's.

    The archived stand among the memories with `archived_at`; `standards` has a row for each namespace that has one.
    """
    with foreign.opened(path, "ai-memory") as connection:
        return _document(connection, path)


def _document(connection: apsw.Connection, path: Path) -> dict[str, Any]:
    columns = foreign.columns(connection, TABLES)
    foreign.must_have(columns, MARKS, path, "ai-memory")
    living = _rows(connection, "memories", columns)
    # An id may stand in both tables: what was archived and stored again is the one in use.
    in_use = {row.get("id") for row in living}
    archived = [row for row in _rows(connection, "archived_memories", columns) if row.get("id") not in in_use]
    links = _rows(connection, "memory_links", columns)
    return {"memories": living + archived, "links": links, "standards": _standards(connection, columns)}


def _rows(connection: apsw.Connection, table: str, columns: dict[str, list[str]]) -> list[Row]:
    return [_entry(row) for row in foreign.rows(connection, table, columns, UNREAD)]


def _entry(row: Row) -> Row:
    """A row, with the texts that hold JSON read. One that cannot be read stays, and validation refuses it."""
    for name in AS_JSON:
        if isinstance(row.get(name), str):
            try:
                row[name] = orjson.loads(row[name])
            except orjson.JSONDecodeError:
                continue
    return row


def _standards(connection: apsw.Connection, columns: dict[str, list[str]]) -> list[Row]:
    known = columns.get("namespace_meta", ())
    if not known:
        return []
    parent = "parent_namespace" if "parent_namespace" in known else "NULL"
    names = ("namespace", "standard_id", "parent")
    rows = connection.execute(STANDARDS.format(parent=parent))
    return [dict(zip(names, row, strict=True)) for row in rows]
