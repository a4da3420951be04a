"""A database of ai-memory, read as the JSON document that its memories, links, archive and standards make."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw
import orjson

from mnemic.errors import Busy, Invalid

COLUMNS = """
SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c
WHERE m.type = 'table' AND m.name IN ('memories', 'memory_links', 'archived_memories', 'namespace_meta')
"""
# A vector is large, and our own model makes its own.
UNREAD = frozenset({"embedding"})
AS_JSON = ("tags", "metadata")
NEEDED = frozenset({"memories", "memory_links"})
STANDARDS = """
SELECT namespace, standard_id, {parent} FROM namespace_meta
"""
COMPANIONS = ("", "-wal", "-journal")
"""A database, and the files in which SQLite may still keep a part of it."""
ATTEMPTS = 5


def read(path: Path) -> dict[str, Any]:
    """Everything in the database at *path*, which is not touched; Invalid if it is none of ai-memory's.

    The archived stand among the memories with `archived_at`; `standards` has a row for each namespace that has one.
    """
    with _copy(path) as copy:
        try:
            with closing(apsw.Connection(str(copy))) as connection:
                return _document(connection, path)
        except (apsw.NotADBError, apsw.CorruptError):
            raise Invalid(f"{path.name} is damaged, or no database of ai-memory.", "file") from None


def is_one(path: Path) -> bool:
    """Whether *path* looks like a database of ai-memory. Nothing is written, not even beside it."""
    try:
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        with closing(apsw.Connection(f"{path.resolve().as_uri()}?immutable=1", flags=flags)) as connection:
            return _columns(connection).keys() >= NEEDED
    except apsw.Error:
        return False


@contextmanager
def _copy(path: Path) -> Iterator[Path]:
    """A copy of the database, made while nobody wrote: to read a log, SQLite would write beside the original."""
    with tempfile.TemporaryDirectory(prefix="mnemic-") as folder:
        for _ in range(ATTEMPTS):
            before = _stamps(path)
            for tail in before:
                shutil.copyfile(f"{path}{tail}", Path(folder) / f"copy{tail}")
            if _stamps(path) == before:
                yield Path(folder) / "copy"
                return
            for part in Path(folder).iterdir():
                part.unlink()
    raise Busy(f"{path.name} is being written just now. End the program that does, and try again.")


def _stamps(path: Path) -> dict[str, tuple[int, int]]:
    """Size and time of change of the files the database is made of."""
    parts = {tail: Path(f"{path}{tail}") for tail in COMPANIONS}
    return {
        tail: (part.stat().st_size, part.stat().st_mtime_ns) for tail, part in parts.items() if part.exists()
    }


def _document(connection: apsw.Connection, path: Path) -> dict[str, Any]:
    columns = _columns(connection)
    if not columns.keys() >= NEEDED:
        raise Invalid(
            f"{path.name} is no database of ai-memory: it has no memories and memory_links.", "file"
        )
    archived = "archived_memories"
    memories = [*_rows(connection, "memories", columns), *_rows(connection, archived, columns)]
    links = _rows(connection, "memory_links", columns)
    return {"memories": memories, "links": links, "standards": _standards(connection, columns)}


def _columns(connection: apsw.Connection) -> dict[str, list[str]]:
    """The columns of those tables of ai-memory that there are; older versions have fewer."""
    found: dict[str, list[str]] = {}
    for table, column in connection.execute(COLUMNS):
        found.setdefault(str(table), []).append(str(column))
    return found


def _rows(connection: apsw.Connection, table: str, columns: dict[str, list[str]]) -> list[dict[str, Any]]:
    names = [name for name in columns.get(table, ()) if name not in UNREAD]
    if not names:
        return []
    listed = ", ".join(f'"{name}"' for name in names)
    rows = connection.execute(f"SELECT {listed} FROM {table}")
    return [_entry(dict(zip(names, row, strict=True))) for row in rows]


def _entry(row: dict[str, Any]) -> dict[str, Any]:
    """A row, with the texts that hold JSON read. One that cannot be read stays, for whoever checks it to refuse."""
    for name in AS_JSON:
        if isinstance(row.get(name), str):
            try:
                row[name] = orjson.loads(row[name])
            except orjson.JSONDecodeError:
                continue
    return row


def _standards(connection: apsw.Connection, columns: dict[str, list[str]]) -> list[dict[str, Any]]:
    known = columns.get("namespace_meta", ())
    if not known:
        return []
    parent = "parent_namespace" if "parent_namespace" in known else "NULL"
    names = ("namespace", "standard_id", "parent")
    rows = connection.execute(STANDARDS.format(parent=parent))
    return [dict(zip(names, row, strict=True)) for row in rows]
