"""Migration to format 7: tells the titles that somebody chose, which become names, from those that were made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import apsw
import orjson

from mnemic.model.annotations import HIDDEN
from mnemic.model.memory import name_key, title_of
from mnemic.storage.sqlite.rows import rows

OLD = """
SELECT m.id, m.namespace, m.title, m.kind, coalesce(m.metadata, '{}'), m.state,
    (SELECT j.operation FROM journal j
     WHERE j.subject_id = m.id AND j.subject = 'memory' AND j.before IS NULL ORDER BY j.sequence LIMIT 1),
    (SELECT s.text FROM statement s
     WHERE s.memory_id = m.id AND s.until IS NULL AND s.position > 0 ORDER BY s.position LIMIT 1)
FROM memory m ORDER BY m.id
"""
TITLES = """
SELECT DISTINCT namespace, title FROM memory
"""
# Two names that are equal in NFC stood side by side: the older one keeps it.
SET_NAME = """
UPDATE OR IGNORE memory SET name = ? WHERE id = ?
"""
SET_TITLE = """
UPDATE memory SET title = ? WHERE id = ?
"""
CHANGES = """
SELECT j.sequence, j.before, j.after, m.name IS NOT NULL FROM journal j JOIN memory m ON m.id = j.subject_id
WHERE j.subject = 'memory'
  AND (json_type(j.before, '$.title') IS NOT NULL OR json_type(j.after, '$.title') IS NOT NULL)
"""
PAST = """
SELECT p.version, p.title, m.name IS NOT NULL FROM memory_past p JOIN memory m ON m.id = p.id
"""
SET_PAST = """
UPDATE memory_past SET name = ?, title = ? WHERE version = ?
"""
SET_CHANGE = """
UPDATE journal SET before = ?, after = ? WHERE sequence = ?
"""
CHOOSING = frozenset({"create_entities", "store"})
"""The operations of which every title was chosen."""
MAKING = frozenset({"mine", "record"})
"""The operations of which none was."""
NUMBER = re.compile(r" \(\d+\)$")
"""What was put behind a title that was taken."""


class _Old(NamedTuple):
    """A memory as the formats up to 6 know it."""

    id: int
    namespace: str
    title: str
    kind: str
    metadata: str
    state: str
    operation: str | None
    text: str | None


def fill(connection: apsw.Connection) -> None:
    """Fill in the names, now and in the past, and remove the numbers from titles that were not chosen."""
    titles = {(namespace, title) for namespace, title in rows(connection, TITLES)}
    made: dict[str, str] = {}
    for old in [_Old(*row) for row in rows(connection, OLD)]:
        title = _made_title(old, titles)
        if title is None:
            connection.execute(SET_NAME, (name_key(old.title), old.id))
        elif title != old.title:
            connection.execute(SET_TITLE, (title, old.id))
            made[old.title] = title
    for sequence, before, after, is_named in list(rows(connection, CHANGES)):
        renamed = (_renamed(fields, made, bool(is_named)) for fields in (before, after))
        connection.execute(SET_CHANGE, (*renamed, sequence))
    for version, title, is_named in list(rows(connection, PAST)):
        name = name_key(title) if is_named else None
        shown = title if is_named else made.get(title, title)
        connection.execute(SET_PAST, (name, shown, version))


def _made_title(old: _Old, titles: set[tuple[str, str]]) -> str | None:
    """The title without its number if it was not chosen, else None."""
    if old.state == "named" or (old.operation in CHOOSING and not _is_hidden(old)):
        return None
    plain = NUMBER.sub("", old.title)
    is_numbered = plain != old.title and (old.namespace, plain) in titles
    is_derived = old.text is not None and title_of(old.text) in (plain, old.title)
    return plain if _is_hidden(old) or old.operation in MAKING or is_numbered or is_derived else None


def _is_hidden(old: _Old) -> bool:
    """Whether it is a reflection, an episode or a turn, whose titles are always made."""
    keys = orjson.loads(old.metadata)
    return any(old.kind == kind and key in keys for kind, key in HIDDEN)


def _renamed(fields: str | None, made: Mapping[str, str], is_named: bool) -> str | None:
    """The journal fields of a memory, with its name if it has one, else with the title that was *made*."""
    if fields is None:
        return None
    decoded = orjson.loads(fields)
    if "title" in decoded:
        decoded |= {"name": name_key(decoded["title"])} if is_named else {}
        decoded["title"] = decoded["title"] if is_named else made.get(decoded["title"], decoded["title"])
    return orjson.dumps(decoded).decode()
