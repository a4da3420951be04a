"""The store as it stood after some change, rebuilt in memory from the rows and the journal."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import GeneratorType
from typing import Any, NoReturn

import apsw
import orjson

from mnemic.errors import Denied
from mnemic.model.journal import Subject
from mnemic.model.values import Moment
from mnemic.storage.base import Progress
from mnemic.storage.sqlite import checking, edges, memories, sessions, words
from mnemic.storage.sqlite.connection import each_method, our_errors
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.opened import OpenedStore, empty_database
from mnemic.storage.sqlite.reader import SqliteReader
from mnemic.storage.sqlite.rows import Row, rows, value

ATTACH = """
ATTACH ? AS present
"""
COPY = """
INSERT INTO main.namespace SELECT * FROM present.namespace;
INSERT INTO main.model SELECT * FROM present.model;
"""
NEWEST = """
SELECT coalesce(max(sequence), 0) FROM present.journal
"""
LATER = """
SELECT subject, subject_id, before FROM present.journal WHERE sequence > ? ORDER BY sequence DESC
"""
COPY_ROWS = """
INSERT INTO main.{table} ({columns})
SELECT {columns} FROM present.{table} WHERE id NOT IN (SELECT value FROM json_each(?))
"""
CHANGED_ROWS = """
SELECT {columns} FROM present.{table} WHERE id IN (SELECT value FROM json_each(?))
"""
STATEMENTS = """
INSERT INTO main.statement (id, memory_id, position, text, digest, since, model_id)
SELECT id, memory_id, position, text, digest, since, model_id FROM present.statement
WHERE since <= :sequence AND (until IS NULL OR until > :sequence) AND memory_id IN (SELECT id FROM main.memory)
"""
TAGS = """
INSERT OR IGNORE INTO main.tag (name, memory_id)
SELECT j.value, m.id FROM main.memory m, json_each(m.tags) j WHERE m.tags IS NOT NULL
"""
PASSAGES = """
INSERT INTO main.passage (id, statement_id, model_id, start, end, vector)
SELECT id, statement_id, model_id, start, end, vector FROM present.passage
WHERE statement_id IN (SELECT id FROM main.statement)
"""
PURGED_SINCE = """
SELECT 1 FROM journal WHERE sequence > ? AND before IS NULL AND after IS NULL LIMIT 1
"""
# Texts that stood then and stand now, and have no vector yet.
WAITING = """
SELECT count(*) FROM {of}statement WHERE model_id IS NULL AND until IS NULL AND since <= ?
"""
# The newest change that counts here, without what it said: it tells readers how far this history goes.
HORIZON = """
INSERT INTO main.journal (sequence, batch, at, actor, operation, subject, subject_id)
SELECT sequence, batch, at, actor, operation, subject, subject_id FROM present.journal WHERE sequence = ?
"""


def _in_turn(method: Callable[..., Any]) -> Callable[..., Any]:
    """*method* of a reader, waiting until nobody else reads."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self._store.reading:
            answer = method(self, *args, **kwargs)
            # What comes one by one would come when the turn is over.
            return iter(list(answer)) if isinstance(answer, GeneratorType) else answer

    return call


class PastReader(SqliteReader):
    """A Reader of the past, which has one connection for all threads."""


each_method(PastReader, SqliteReader, _in_turn)


class PastStore(OpenedStore):
    """A Store that can only be read. Making one costs; asking it again does not."""

    def __init__(self, path: Path, sequence: int, models: tuple[str, ...]):
        self.reading = threading.RLock()
        with our_errors(path.name):
            super().__init__(path, empty_database())
            self._seen, self._waiting = rebuild(self._writer, path, sequence)
        self._sequence = sequence
        self._used = models

    def still_shows(self, present: apsw.Connection, sequence: int, models: tuple[str, ...]) -> bool:
        """Whether this is the store after *sequence*, with every vector there is and nothing that has been purged."""
        if (sequence, models) != (self._sequence, self._used):
            return False
        if self._waiting and value(present, WAITING.format(of=""), (sequence,)) != self._waiting:
            return False
        return present.execute(PURGED_SINCE, (self._seen,)).fetchone() is None

    def read(self) -> SqliteReader:
        """See Store."""
        return PastReader(self, self._connection())

    def sequence(self) -> int:
        """See Store."""
        return self._sequence

    def sequence_at(self, moment: Moment) -> int:
        """See Store."""
        with self.reading:
            return super().sequence_at(moment)

    @contextmanager
    def snapshot(self) -> Iterator[SqliteReader]:
        """See Store. The past stands still by itself."""
        yield self.read()

    def check(self) -> list[str]:
        """See Store. The past has no journal to be compared with."""
        return checking.check_indexes(self._writer)

    def index_substrings(self) -> None:
        """Not done: the past has no journal to follow, and is looked through."""

    def backup(self, target: Path, progress: Progress | None = None) -> NoReturn:
        """See Store."""
        raise Denied("The past cannot be backed up: leave as_of out.")

    def _connection(self) -> apsw.Connection:
        return self._writer

    def write(
        self, *, operation: str, actor: str, at: Moment, durable: bool = True, waits: bool = True
    ) -> NoReturn:
        """See Store."""
        raise Denied("The past cannot be changed: leave as_of out to write.")


def rebuild(connection: apsw.Connection, path: Path, sequence: int) -> tuple[int, int]:
    """Fill an empty database with what the one at *path* held after *sequence*.

    The newest change there, and how many texts still wait there for their vectors.
    """
    connection.execute(ATTACH, (str(path),))
    connection.execute("BEGIN")
    newest = int(value(connection, NEWEST))
    waiting = int(value(connection, WAITING.format(of="present."), (sequence,)))
    connection.execute("PRAGMA defer_foreign_keys = ON")
    for _ in connection.execute(COPY):
        pass
    earlier = earlier_fields(connection, sequence)
    _copy(connection, "session", sessions.COLUMNS, earlier["session"])
    _copy(connection, "memory", memories.COLUMNS, earlier["memory"])
    _copy(connection, "edge", edges.COLUMNS, earlier["edge"])
    connection.execute(STATEMENTS, {"sequence": sequence})
    connection.execute(TAGS)
    connection.execute(PASSAGES)
    connection.execute(HORIZON, (sequence,))
    words.rebuild(connection)
    connection.execute("COMMIT")
    connection.execute("DETACH present")
    return newest, waiting


def earlier_fields(connection: apsw.Connection, sequence: int) -> dict[str, dict[int, dict[str, Any] | None]]:
    """For each thing changed after *sequence*, the fields it had then; None if it was born later."""
    earlier: dict[str, dict[int, dict[str, Any] | None]] = {subject: {} for subject in Subject}
    for subject, number, before in rows(connection, LATER, (sequence,)):
        things = earlier[subject]
        if before is None:
            things[number] = None
        elif (fields := things.setdefault(number, {})) is not None:
            fields.update(orjson.loads(before))
    return earlier


def _copy(
    connection: apsw.Connection,
    table: str,
    columns: tuple[str, ...],
    earlier: dict[int, dict[str, Any] | None],
) -> None:
    """Copy the rows that have not changed, then the changed ones as they were."""
    names = ", ".join(columns)
    connection.execute(COPY_ROWS.format(table=table, columns=names), (as_json(list(earlier)),))
    changed = as_json([number for number, fields in earlier.items() if fields is not None])
    insert = f"INSERT INTO main.{table} ({names}) VALUES ({', '.join('?' * len(columns))})"
    for row in rows(connection, CHANGED_ROWS.format(table=table, columns=names), (changed,)):
        connection.execute(insert, _as_it_was(columns, row, earlier[row[0]] or {}))


def _as_it_was(columns: tuple[str, ...], row: Row, fields: dict[str, Any]) -> list[Any]:
    was = memories.encode({name: value for name, value in fields.items() if name != "statements"})
    return [was.get(name, value) for name, value in zip(columns, row, strict=True)]
