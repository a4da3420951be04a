"""The past worked out by brute force, from the rows and the journal: what `Store.at` must agree with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import orjson

from mnemic.index.index import open_index
from mnemic.model.change import Subject
from mnemic.storage.sqlite import edges, fts, memories, sessions
from mnemic.storage.sqlite.database import OpenedStore
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.migrations import empty_database
from mnemic.storage.sqlite.reader import SqliteReader
from mnemic.storage.sqlite.rows import Row, rows

ATTACH = """
ATTACH ? AS present
"""
COPY = """
INSERT INTO main.namespace SELECT * FROM present.namespace;
INSERT INTO main.model SELECT * FROM present.model;
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
# The newest change that counts here, without what it said: it tells readers how far this history goes.
HORIZON = """
INSERT INTO main.journal (sequence, batch, at, actor, operation, subject, subject_id)
SELECT sequence, batch, at, actor, operation, subject, subject_id FROM present.journal WHERE sequence = ?
"""


class RebuiltStore(OpenedStore):
    """A copy in memory of what a store held after some change."""

    def __init__(self, store, sequence: int):
        super().__init__(store.path, empty_database(), open_index(None))
        rebuild(self._writer, store.path, sequence)
        self._used = store.used_models

    def read(self, scope=None) -> SqliteReader:
        """A reader of the copy."""
        return SqliteReader(self, self._writer)

    def index_substrings(self) -> None:
        """Not done: the copy has no journal to follow."""


def rebuild(connection: apsw.Connection, path: Path, sequence: int) -> None:
    """Fill an empty database with what the one at *path* held after *sequence*."""
    connection.execute(ATTACH, (str(path),))
    connection.execute("BEGIN")
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
    fts.rebuild(connection)
    connection.execute("COMMIT")
    connection.execute("DETACH present")


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
