"""Rows as they were before they changed: `memory_past`, `edge_past`, `session_past`, and their words.

A row is valid from change `since` until just before change `until`. The tables of the present hold the newest version
alone, so only what has changed costs room, and the present is searched as if there were no past.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import apsw
import orjson

from mnemic.model.change import Subject
from mnemic.model.enums import State
from mnemic.model.memory import Memory, Statement
from mnemic.storage.base import Rewrite
from mnemic.storage.change_fields import INDEXED
from mnemic.storage.decoders import memory_of
from mnemic.storage.sqlite import edges, fts, memories, sessions
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.rows import Row, column, row, rows, value

log = logging.getLogger(__name__)

COLUMNS: Mapping[Subject, tuple[str, ...]] = {
    Subject.MEMORY: memories.COLUMNS,
    Subject.EDGE: edges.COLUMNS,
    Subject.SESSION: sessions.COLUMNS,
}
TEXTS_OF: Mapping[Subject, tuple[str, ...]] = {
    Subject.EDGE: ("type", "reason"),
    Subject.SESSION: ("name", "topic", "summary", "metadata"),
}
"""The columns of links and sessions that somebody wrote."""
# `worded` is where the words began that end with this version; NULL if the next version has the same words.
KEEP_MEMORY = """
INSERT INTO memory_past (since, until, worded, {columns})
SELECT since, :until, CASE WHEN :is_reworded THEN coalesce((
    SELECT max(p.until) FROM memory_past p WHERE p.id = :id AND p.worded IS NOT NULL), 0) END, {columns}
FROM memory WHERE id = :id
""".format(columns=", ".join(memories.COLUMNS))
KEEP = """
INSERT INTO {table}_past (since, until, {columns}) SELECT since, ?, {columns} FROM {table} WHERE id = ?
"""
SET_SINCE = """
UPDATE {table} SET since = ? WHERE id = ?
"""
ADD_WORDS = fts.ADD.replace("INTO words ", "INTO words_past ")
VERSIONS_OF = """
SELECT version FROM memory_past WHERE id = ?
"""
TAKE_OUT_WORDS = """
DELETE FROM words_past WHERE rowid = ?
"""
MERGE_WORDS = """
INSERT INTO words_past (words_past) VALUES ('optimize')
"""
EDGES_AT = """
DELETE FROM edge_past WHERE source_id = :id OR target_id = :id
   OR id IN (SELECT id FROM edge WHERE source_id = :id OR target_id = :id)
"""
PAST_TEXTS = """
SELECT version, {columns} FROM {table}_past WHERE id = ?
"""
PUT_TEXTS = """
UPDATE {table}_past SET {places} WHERE version = ?
"""

ADD_VERSION = """
INSERT INTO {table}_past (since, until, {columns}) VALUES ({places})
"""
SET_WORDED = """
UPDATE memory_past SET worded = ? WHERE version = ?
"""
LAST_CHANGES = """
UPDATE {table} SET since = coalesce(
    (SELECT max(j.sequence) FROM journal j WHERE j.subject_id = {table}.id AND j.subject = '{table}'), 0)
"""
CHANGED = """
SELECT DISTINCT subject_id FROM journal
WHERE subject = ? AND before IS NOT NULL AND subject_id > ? ORDER BY subject_id LIMIT 500
"""
CHANGED_COUNT = """
SELECT count(DISTINCT subject_id) FROM journal WHERE before IS NOT NULL
"""
ROW = """
SELECT {columns} FROM {table} WHERE id = ?
"""
ENTRIES = """
SELECT sequence, before FROM journal WHERE subject_id = ? AND subject = ? ORDER BY sequence
"""
STANDING = """
SELECT id FROM statement WHERE memory_id = ? AND until IS NULL AND position > 0 ORDER BY position
"""
TEXTS = """
SELECT id, text FROM statement WHERE id IN (SELECT value FROM json_each(?))
"""
TOLD_FROM = 10_000
"""Filling the history of so many is worth a line in the log: it takes seconds."""


def keep_memory(
    connection: apsw.Connection, memory: Memory, changed: frozenset[str], until: int, namespace_id: int
) -> None:
    """Keep *memory* as it is before the change with number *until*, which changes these fields."""
    is_reworded = bool(changed & INDEXED)
    connection.execute(KEEP_MEMORY, {"id": memory.id, "until": until, "is_reworded": is_reworded})
    if is_reworded and memory.state is State.LIVING:
        words = fts.row_of(memory, namespace_id)
        connection.execute(ADD_WORDS, (connection.last_insert_rowid(), *words[1:]))
    connection.execute(SET_SINCE.format(table="memory"), (until, memory.id))


def keep(connection: apsw.Connection, subject: Subject, number: int, until: int) -> None:
    """Keep a link or a session as it is before the change with number *until*."""
    columns = ", ".join(COLUMNS[subject])
    connection.execute(KEEP.format(table=subject, columns=columns), (until, number))
    connection.execute(SET_SINCE.format(table=subject), (until, number))


def purge(connection: apsw.Connection, memory_id: int) -> bool:
    """Erase what was kept of a memory and of its links; whether the index of past words has to be merged."""
    versions = column(connection, VERSIONS_OF, (memory_id,))
    for version in versions:
        connection.execute(TAKE_OUT_WORDS, (version,))
    connection.execute(EDGES_AT, {"id": memory_id})
    return bool(versions)


def rewrite(connection: apsw.Connection, subject: Subject, number: int, rewrite: Rewrite) -> None:
    """Rewrite the texts of the past versions of a link or session."""
    columns = TEXTS_OF[subject]
    places = ", ".join(f"{name} = ?" for name in columns)
    sql = PUT_TEXTS.format(table=subject, places=places)
    for version, *values in rows(
        connection, PAST_TEXTS.format(table=subject, columns=", ".join(columns)), (number,)
    ):
        session = dict(zip(columns, values, strict=True))
        if session.get("metadata"):
            session["metadata"] = orjson.loads(session["metadata"])
        fields = sessions.encode(rewrite(session))
        connection.execute(sql, (*(fields[name] for name in columns), version))


def merge(connection: apsw.Connection) -> None:
    """Erase the words of what was purged, which stay in the index until it is merged."""
    connection.execute(MERGE_WORDS)


def fill(connection: apsw.Connection) -> None:
    """Work out the history of a file that kept none, from its journal: one memory, link or session at a time."""
    total = int(value(connection, CHANGED_COUNT))
    if total >= TOLD_FROM:
        log.warning(
            "upgrading: the history of %d memories and links is filled, about %d s", total, total // 3_000
        )
    for subject in COLUMNS:
        connection.execute(LAST_CHANGES.format(table=subject))
    spaces: dict[str, int] = dict(rows(connection, fts.NAMESPACES))
    done = 0
    for subject in COLUMNS:
        for number in _changed(connection, subject):
            _fill_one(connection, subject, number, spaces)
            done += 1
            if done % TOLD_FROM == 0:
                log.warning("upgrading: %d of %d", done, total)


def _changed(connection: apsw.Connection, subject: Subject) -> Iterator[int]:
    last = 0
    while some := column(connection, CHANGED, (subject, last)):
        yield from some
        last = some[-1]


def _fill_one(connection: apsw.Connection, subject: Subject, number: int, spaces: Mapping[str, int]) -> None:
    names = COLUMNS[subject]
    present = row(connection, ROW.format(columns=", ".join(names), table=subject), (number,))
    if present is None:  # purged
        return
    # What was purged from the journal says nothing of before; a row is as old as the first entry after that.
    entries = rows(connection, ENTRIES, (number, subject))
    sql = ADD_VERSION.format(
        table=subject, columns=", ".join(names), places=", ".join("?" * (2 + len(names)))
    )
    worded_from = 0
    for since, until, fields, changed in _versions(connection, subject, names, present, entries):
        connection.execute(sql, (since, until, *(fields[name] for name in names)))
        if subject is Subject.MEMORY and changed & INDEXED:
            version = connection.last_insert_rowid()
            connection.execute(SET_WORDED, (worded_from, version))
            worded_from = until
            if fields["state"] == State.LIVING:
                memory = _memory(connection, names, fields)
                words = fts.row_of(memory, spaces[memory.namespace])
                connection.execute(ADD_WORDS, (version, *words[1:]))


Version = tuple[int, int, dict[str, Any], frozenset[str]]
"""From which change to which, the columns, and the fields that the last of these changes changed."""


def _versions(
    connection: apsw.Connection,
    subject: Subject,
    names: tuple[str, ...],
    present: Row,
    entries: list[Row],
) -> list[Version]:
    """The versions of one thing before its present one, oldest first."""
    fields: dict[str, Any] = dict(zip(names, present, strict=True))
    if subject is Subject.MEMORY:
        fields["statements"] = column(connection, STANDING, (present[0],))
    encode: Callable[[Mapping[str, Any]], dict[str, Any]] = (
        memories.encode if subject is Subject.MEMORY else sessions.encode
    )
    found: list[Version] = []
    for place in range(len(entries) - 1, 0, -1):
        until, before = entries[place]
        if before is None:
            break
        earlier = orjson.loads(before)
        fields = {**fields, **encode(earlier)}
        found.append((entries[place - 1][0], until, fields, frozenset(earlier)))
    return found[::-1]


def _memory(connection: apsw.Connection, names: tuple[str, ...], fields: Mapping[str, Any]) -> Memory:
    numbers = fields["statements"]
    texts: dict[int, str] = dict(rows(connection, TEXTS, (as_json(numbers),)))
    statements = tuple(Statement(number, texts[number]) for number in numbers if number in texts)
    return memory_of(tuple(fields[name] for name in names), statements)
