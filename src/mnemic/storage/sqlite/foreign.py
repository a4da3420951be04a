"""Databases of other memory systems: their tables read as rows, from a copy, so that nothing of theirs is touched."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw

from mnemic.errors import Busy, Invalid

COLUMNS = """
SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c
WHERE m.type = 'table' AND m.name IN (SELECT value FROM json_each(?))
"""
COMPANIONS = ("", "-wal", "-journal")
"""A database, and the files in which SQLite may still keep a part of it."""
ATTEMPTS = 5

Row = dict[str, Any]
Marks = Mapping[str, str]
"""Tables by which a system's databases are known, each with a column that no other system's has."""


@contextmanager
def opened(path: Path, system: str) -> Iterator[apsw.Connection]:
    """A connection to a copy of the database at *path*; Invalid if it is damaged or none."""
    with _copy(path) as copy:
        try:
            with closing(apsw.Connection(str(copy))) as connection:
                yield connection
        except (apsw.NotADBError, apsw.CorruptError, apsw.SQLError, UnicodeDecodeError):
            raise Invalid(f"{path.name} is damaged, or no database of {system}.", "file") from None


@contextmanager
def _copy(path: Path) -> Iterator[Path]:
    """A consistent copy of the database: to read a log, SQLite would write beside the original."""
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
    """Size and time of change of the files the database is made of; OSError if it is not there."""
    path.stat()
    parts = {tail: Path(f"{path}{tail}") for tail in COMPANIONS}
    return {
        tail: (part.stat().st_size, part.stat().st_mtime_ns) for tail, part in parts.items() if part.exists()
    }


def columns(connection: apsw.Connection, tables: Collection[str]) -> dict[str, list[str]]:
    """The columns of each of *tables* that is there; older versions have fewer."""
    found: dict[str, list[str]] = {}
    listed = "[" + ", ".join(f'"{name}"' for name in tables) + "]"
    for table, column in connection.execute(COLUMNS, (listed,)):
        found.setdefault(str(table), []).append(str(column))
    return found


def rows(
    connection: apsw.Connection,
    table: str,
    known: Mapping[str, list[str]],
    unread: Collection[str] = (),
) -> list[Row]:
    """The rows of *table* in the order of their making, without the columns that are better left *unread*."""
    names = [name for name in known.get(table, ()) if name not in unread]
    if not names:
        return []
    listed = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
    found = connection.execute(f"SELECT {listed} FROM {table} ORDER BY rowid")
    return [dict(zip(names, row, strict=True)) for row in found]


def must_have(known: Mapping[str, list[str]], marks: Marks, path: Path, system: str) -> None:
    """Invalid unless the tables are there by which a database of *system* is known."""
    for table, column in marks.items():
        if column not in known.get(table, ()):
            lacks = f"its {table} have no {column}" if table in known else f"it has no {table}"
            raise Invalid(f"{path.name} is no database of {system}: {lacks}.", "file")


def read_tables(path: Path, system: str, tables: Collection[str], marks: Marks) -> dict[str, list[Row]]:
    """The rows of *tables*, none for those that are not there; Invalid if it is no database of *system*."""
    with opened(path, system) as connection:
        known = columns(connection, tables)
        must_have(known, marks, path, system)
        return {table: rows(connection, table, known) for table in tables}


def is_one(path: Path, marks: Marks) -> bool:
    """Whether *path* looks like a database with these *marks*. Nothing is written, not even beside it."""
    try:
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        with closing(apsw.Connection(f"{path.resolve().as_uri()}?immutable=1", flags=flags)) as connection:
            known = columns(connection, marks)
    except apsw.Error:
        return False
    return all(column in known.get(table, ()) for table, column in marks.items())
