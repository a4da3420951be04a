"""The tables of a file as neutral rows: read at one moment, or put into a new file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import apsw

from mnemic.errors import Conflict
from mnemic.model.change import Position
from mnemic.model.filter import Filter
from mnemic.model.memory import Statement
from mnemic.storage.base import Progress
from mnemic.storage.decoders import memory_of
from mnemic.storage.files import put_in_place, sync
from mnemic.storage.sqlite import fts, history, memories, minhash
from mnemic.storage.sqlite.connection import our_errors
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.migrations import to_write
from mnemic.storage.sqlite.rows import Row, column, row, rows, value
from mnemic.storage.tables import COPYING, COUNTERS, OWN_SETTINGS, Table

_OWN = ", ".join(f"'{name}'" for name in OWN_SETTINGS)
STORED = {
    "setting": f"(SELECT key, CAST(value AS TEXT) AS value FROM meta WHERE key NOT IN ({_OWN}))",
    "namespace": """(SELECT name, standard_id, parent FROM namespace
  WHERE standard_id IS NOT NULL OR parent IS NOT NULL)""",
}
"""Where rows are read from, if not from the table of the same name."""
# The namespace of a row that has none of its own: that of its memory, of a change the one it was made in.
PLACES = {
    "tag": ("m.namespace", "LEFT JOIN memory m ON m.id = t.memory_id"),
    "statement": ("m.namespace", "LEFT JOIN memory m ON m.id = t.memory_id"),
    "passage": (
        "m.namespace, s.memory_id",
        "LEFT JOIN statement s ON s.id = t.statement_id LEFT JOIN memory m ON m.id = s.memory_id",
    ),
    "edge": ("m.namespace", "LEFT JOIN memory m ON m.id = t.source_id"),
    "companion": ("m.namespace", "LEFT JOIN memory m ON m.id = t.a"),
    "version": (
        """CASE t.subject
    WHEN 'memory' THEN (SELECT m.namespace FROM memory m WHERE m.id = t.number)
    WHEN 'edge' THEN (SELECT m.namespace FROM edge e JOIN memory m ON m.id = e.source_id WHERE e.id = t.number)
    ELSE (SELECT s.namespace FROM session s WHERE s.id = t.number) END""",
        "",
    ),
    "edge_past": ("m.namespace", "LEFT JOIN memory m ON m.id = t.source_id"),
    "journal": (
        """CASE t.subject
    WHEN 'memory' THEN coalesce(
      (SELECT p.namespace FROM memory_past p
       WHERE p.id = t.subject_id AND p.until > t.sequence AND p.since <= t.sequence),
      (SELECT m.namespace FROM memory m WHERE m.id = t.subject_id))
    WHEN 'edge' THEN (SELECT m.namespace FROM edge e JOIN memory m ON m.id = e.source_id WHERE e.id = t.subject_id)
    ELSE (SELECT s.namespace FROM session s WHERE s.id = t.subject_id) END""",
        "",
    ),
}
SELECT = """
SELECT {columns} FROM {table} t {joins}
"""
COUNT = """
SELECT count(*) FROM {table}
"""
INSERT = """
INSERT INTO {table} ({columns}) VALUES ({places})
"""
CLEAR = """
DELETE FROM {table}
"""
CLEAR_SETTINGS = f"""
DELETE FROM meta WHERE key NOT IN ({_OWN})
"""
NAMESPACES = """
SELECT name FROM namespace UNION SELECT namespace FROM memory UNION SELECT namespace FROM memory_past
UNION SELECT namespace FROM session
"""
ADD_NAMESPACE = """
INSERT OR IGNORE INTO namespace (name) VALUES (?)
"""
STANDARD = """
INSERT INTO namespace (name, standard_id, parent) VALUES (?, ?, ?)
ON CONFLICT DO UPDATE SET standard_id = excluded.standard_id, parent = excluded.parent
"""
NUMBERED = """
SELECT name, seq FROM sqlite_sequence
"""
NUMBER = """
INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)
"""
ORIGIN = f"""
SELECT value FROM meta WHERE key = '{COPYING}'
"""
SET_ORIGIN = f"""
INSERT OR REPLACE INTO meta (key, value) VALUES ('{COPYING}', ?)
"""
DROP_ORIGIN = f"""
DELETE FROM meta WHERE key = '{COPYING}'
"""
CLEAR_WORDS = """
INSERT INTO {table} ({table}) VALUES ('delete-all')
"""
REWORDED = f"""
SELECT version, {", ".join(memories.COLUMNS)} FROM memory_past
WHERE worded IS NOT NULL AND state = 'living' AND version > ? ORDER BY version LIMIT ?
"""
BODIES_THEN = """
SELECT p.version, s.id, s.text FROM memory_past p
JOIN statement s ON s.memory_id = p.id AND s.position > 0 AND s.since < p.until
  AND (s.until IS NULL OR s.until >= p.until)
WHERE p.version IN (SELECT value FROM json_each(?))
ORDER BY p.version, s.position
"""
PAGE = 1_000
UNFINISHED = "-unfinished"
"""What is appended to the name of a file while it is being copied to."""


class SqliteRows:
    """The RowSource of a connection, in one transaction."""

    def __init__(self, connection: apsw.Connection, where: str):
        self._connection = connection
        self._where = where

    def namespaces(self) -> list[str]:
        """The names of all namespaces."""
        return column(self._connection, NAMESPACES)

    def count(self, table: Table) -> int:
        """How many rows the table has."""
        return int(value(self._connection, COUNT.format(table=STORED.get(table.name, table.name))))

    def rows(self, table: Table) -> Iterator[Row]:
        """The rows of the table."""
        found, joins = PLACES.get(table.name, ("", ""))
        columns = ", ".join([*([found] if found else []), *(f"t.{_quoted(name)}" for name in table.columns)])
        sql = SELECT.format(columns=columns, table=STORED.get(table.name, table.name), joins=joins)
        with our_errors(self._where):
            yield from self._connection.execute(sql)

    def counters(self) -> dict[str, int]:
        """The last number given of each of COUNTERS."""
        given: dict[str, int] = dict(rows(self._connection, NUMBERED))
        return {name: given.get(name, 0) for name in COUNTERS}

    def number_at(self, position: Position) -> int:
        """The number of the change at *position*."""
        return position.number


class SqliteCopy(SqliteRows):
    """The RowTarget of a new file: it is made under another name, and gets its own when it is whole."""

    def __init__(self, path: Path):
        self._path = path
        self._where = path.name
        self._part = path.with_name(path.name + UNFINISHED)

    def __enter__(self) -> SqliteCopy:
        return self

    def __exit__(self, *exception: object) -> None:
        if hasattr(self, "_connection"):
            self._connection.close()

    def origin(self) -> str | None:
        """The place of which there is an unfinished copy."""
        if self._path.exists():
            raise Conflict(f"to: {self._path} is already there. Name a file that is not.")
        if not self._part.exists():
            return None
        with our_errors(self._where):
            self._open()
            found = row(self._connection, ORIGIN)
        return str(found[0]) if found else None

    def _open(self) -> None:
        if not hasattr(self, "_connection"):
            self._connection = to_write(self._part, durable=False)
            self._connection.pragma("foreign_keys", 0)  # a table is replaced without those that refer to it

    def begin(self, origin: str, namespaces: Iterable[str]) -> None:
        """Make the file."""
        self._in_transaction(lambda: self._begin(origin, namespaces))

    def _begin(self, origin: str, namespaces: Iterable[str]) -> None:
        self._connection.execute(SET_ORIGIN, (origin,))
        self._connection.executemany(ADD_NAMESPACE, [(name,) for name in namespaces])

    def replace(self, table: Table, rows: Iterable[Row]) -> None:
        """Put *rows* in place of those of the table."""
        self._in_transaction(lambda: self._replace(table, rows))

    def _in_transaction(self, work: Callable[[], None]) -> None:
        with our_errors(self._where):
            self._open()
            with self._connection:
                work()

    def _replace(self, table: Table, given: Iterable[Row]) -> None:
        if table.name == "namespace":
            self._connection.executemany(STANDARD, given)
            return
        name = "meta" if table.name == "setting" else table.name
        self._connection.execute(CLEAR_SETTINGS if name == "meta" else CLEAR.format(table=name))
        columns = ", ".join(map(_quoted, table.columns))
        sql = INSERT.format(table=name, columns=columns, places=", ".join("?" * len(table.columns)))
        skipped = len(table.placement)
        self._connection.executemany(sql, (one[skipped:] for one in given))

    def build_indexes(self, progress: Progress) -> None:
        """Index the words of living memories and of past versions, and their MinHash signatures."""
        self._in_transaction(lambda: self._index(progress))

    def _index(self, progress: Progress) -> None:
        db = self._connection
        for table in ("words", "words_past"):
            db.execute(CLEAR_WORDS.format(table=table))
        db.execute(CLEAR.format(table="mark"))
        spaces: dict[str, int] = dict(rows(db, fts.NAMESPACES))
        living, done = memories.walk(db, Filter()), 0
        while some := list(islice(living, PAGE)):
            db.executemany(fts.ADD, [fts.row_of(one, spaces[one.namespace]) for one in some])
            minhash.put(db, [mark for one in some for mark in minhash.of(one)])
            done += len(some)
            progress(done, done)
        for some_words in _past_words(db, spaces):
            db.executemany(history.ADD_WORDS, some_words)

    def position_of(self, number: int) -> Position:
        """The position of the change with this number."""
        return Position(number=number)

    def finish(self, counters: Mapping[str, int]) -> None:
        """Give the file its name."""
        self._in_transaction(lambda: self._set_counters(counters))
        self._connection.close()
        if self._path.exists():
            raise Conflict(f"to: {self._path} was made by another meanwhile. Name a file that is not there.")
        sync(self._part)
        put_in_place(self._part, self._path)

    def _set_counters(self, counters: Mapping[str, int]) -> None:
        self._connection.execute("DELETE FROM sqlite_sequence")
        self._connection.executemany(NUMBER, counters.items())
        self._connection.execute(DROP_ORIGIN)


def _past_words(db: apsw.Connection, spaces: Mapping[str, int]) -> Iterator[list[tuple[Any, ...]]]:
    """The rows of the index of past words, a page at a time."""
    last = 0
    while found := rows(db, REWORDED, (last, PAGE)):
        last = found[-1][0]
        bodies: dict[int, list[Statement]] = {}
        for version, number, text in rows(db, BODIES_THEN, (as_json([one[0] for one in found]),)):
            bodies.setdefault(version, []).append(Statement(number, text))
        made = ((one[0], memory_of(one[1:], tuple(bodies.get(one[0], ())))) for one in found)
        yield [(version, *fts.row_of(memory, spaces[memory.namespace])[1:]) for version, memory in made]


def _quoted(name: str) -> str:
    return f'"{name}"'
