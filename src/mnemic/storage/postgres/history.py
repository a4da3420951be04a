"""Rows as they were before they changed: `memory_past`, `edge_past`, `session_past`, and their words.

A row is valid from change `since` until just before change `until`. The tables of the present hold the newest version
alone, so only what has changed costs room, and the present is searched as if there were no past.
"""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from mnemic.model.change import Subject
from mnemic.model.enums import State
from mnemic.model.memory import Memory
from mnemic.storage.base import Rewrite
from mnemic.storage.change_fields import INDEXED
from mnemic.storage.postgres import edges, memories, sessions
from mnemic.storage.postgres.connection import Executor
from mnemic.storage.postgres.rows import routed, rows, value

COLUMNS: Mapping[Subject, str] = {
    Subject.MEMORY: ", ".join(memories.STORED),
    Subject.EDGE: ", ".join(("namespace_id", *edges.COLUMNS)),
    Subject.SESSION: ", ".join(sessions.STORED),
}
TEXTS_OF: Mapping[Subject, tuple[str, ...]] = {
    Subject.EDGE: ("type", "reason"),
    Subject.SESSION: ("name", "topic", "summary", "metadata"),
}
"""The columns of links and sessions that somebody wrote."""
# `worded` is where the words began that end with this version, as far as its namespace tells; NULL if the next version
# has the same words.
KEEP_MEMORY = f"""
INSERT INTO memory_past (since, until, worded, xid, {COLUMNS[Subject.MEMORY]})
SELECT since, %(until)s, CASE WHEN %(is_reworded)s THEN coalesce((SELECT max(p.until) FROM memory_past p
    WHERE p.namespace_id = %(space)s AND p.id = %(id)s AND p.worded IS NOT NULL), 0) END, %(xid)s::xid8,
    {COLUMNS[Subject.MEMORY]}
FROM memory WHERE namespace_id = %(space)s AND id = %(id)s RETURNING version
"""
KEEP = """
INSERT INTO {table}_past (since, until, {columns}) SELECT since, %(until)s, {columns}
FROM {table} t WHERE {here[t]} AND t.id = %(id)s
"""
SET_SINCE = """
UPDATE {table} t SET since = %(until)s WHERE {here[t]} AND t.id = %(id)s
"""
SET_MEMORY_SINCE = """
UPDATE memory SET since = %(until)s WHERE namespace_id = %(space)s AND id = %(id)s
"""
KEEP_WORDS = """
INSERT INTO words_past (version, namespace_id, memory_id, length, tokens, times, places)
SELECT %(version)s, namespace_id, memory_id, length, tokens, times, places
FROM words WHERE namespace_id = %(space)s AND memory_id = %(id)s
"""
PURGE = (
    "DELETE FROM memory_past WHERE id = %(id)s",
    "DELETE FROM words_past WHERE memory_id = %(id)s",
    """DELETE FROM edge_past WHERE source_id = %(id)s OR target_id = %(id)s
   OR id IN (SELECT id FROM edge WHERE source_id = %(id)s OR target_id = %(id)s)""",
)

PAST_TEXTS = """
SELECT version, {columns} FROM {table}_past WHERE id = %s
"""
PUT_TEXTS = """
UPDATE {table}_past SET {places} WHERE version = %s
"""


def keep_memory(
    db: Executor, memory: Memory, space: int, changed: frozenset[str], until: int, xid: str
) -> None:
    """Keep *memory* as it is in its namespace before the change with number *until*, which changes these fields."""
    is_reworded = bool(changed & INDEXED)
    values = {"id": memory.id, "space": space, "until": until, "xid": xid, "is_reworded": is_reworded}
    version = value(db, KEEP_MEMORY, values)
    if is_reworded and memory.state is State.LIVING:
        db.run(KEEP_WORDS, {**values, "version": version})
    db.run(SET_MEMORY_SINCE, values)


def keep(db: Executor, subject: Subject, number: int, until: int) -> None:
    """Keep a link or a session as it is before the change with number *until*."""
    values = {"id": number, "until": until}
    db.run(*routed(db, KEEP, values, table=subject, columns=COLUMNS[subject]))
    db.run(*routed(db, SET_SINCE, values, table=subject))


def purge(db: Executor, memory_id: int) -> None:
    """Erase what was kept of a memory and of its links."""
    for statement in PURGE:
        db.run(statement, {"id": memory_id})


def rewrite(db: Executor, subject: Subject, number: int, rewrite: Rewrite) -> None:
    """Rewrite the texts of the past versions of a link or session."""
    columns = TEXTS_OF[subject]
    places = ", ".join(f"{name} = %s" for name in columns)
    sql = PUT_TEXTS.format(table=subject, places=places)
    for version, *values in rows(db, PAST_TEXTS.format(table=subject, columns=", ".join(columns)), (number,)):
        session = dict(zip(columns, values, strict=True))
        if session.get("metadata"):
            session["metadata"] = orjson.loads(session["metadata"])
        fields = sessions.encode(rewrite(session))
        db.run(sql, (*(fields[name] for name in columns), version))
