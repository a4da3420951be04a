"""Rows of `journal`: each change with the fields that differ."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import apsw
import orjson

from mnemic.model.change import USE, Change, Position, Subject
from mnemic.model.filter import ChangeFilter
from mnemic.storage.base import Rewrite
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.rows import Row, column, rows, value
from mnemic.storage.sqlite.rows import row as first

APPEND = """
INSERT INTO journal (sequence, batch, at, actor, operation, subject, subject_id, before, after)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
LAST = """
SELECT sequence, at FROM journal ORDER BY sequence DESC LIMIT 1
"""
MOMENT = """
SELECT sequence, at FROM journal WHERE sequence >= ? ORDER BY sequence LIMIT 1
"""
SELECT = """
SELECT sequence, batch, at, actor, operation, subject, subject_id, before, after
FROM journal j
WHERE {conditions}
ORDER BY sequence {order}
LIMIT :limit
"""
CHANGED = """
SELECT subject_id FROM journal WHERE sequence > ? AND subject = 'memory'
"""
REWORDED = CHANGED + f"AND operation != '{USE}'"
ANY_REWORDED = f"""
SELECT EXISTS ({REWORDED})
"""
TEXTS = """
SELECT id, text FROM statement WHERE id IN (SELECT value FROM json_each(?))
"""
ERASE = """
UPDATE journal SET before = NULL, after = NULL
WHERE (subject = 'memory' AND subject_id = :id)
   OR (subject = 'edge' AND subject_id IN (SELECT id FROM edge WHERE source_id = :id OR target_id = :id))
"""
ENTRIES = """
SELECT before, after, sequence FROM journal WHERE subject_id = ? AND subject = ?
"""
REWRITE = """
UPDATE journal SET before = ?, after = ? WHERE sequence = ?
"""
CONDITIONS = {
    "after": "sequence > :after",
    "before": "sequence < :before",
    "sequences": "sequence IN (SELECT value FROM json_each(:sequences))",
    "batch": "sequence >= :batch AND batch = :batch",
    "subject": "subject = :subject",
    "subject_ids": "subject_id IN (SELECT value FROM json_each(:subject_ids))",
    "since": "at >= :since",
    "until": "at <= :until",
    "actor": "actor = :actor",
}
PAGE = 500
"""Changes read at once: a search need not wait for all of them."""


def last(connection: apsw.Connection) -> tuple[int, int]:
    """The number and moment of the newest change."""
    row = first(connection, LAST)
    return (row[0], row[1]) if row else (0, 0)


def changed(connection: apsw.Connection, since: int) -> list[int]:
    """The memories in which anything has changed after *since*."""
    return column(connection, CHANGED, (since,))


def reworded(connection: apsw.Connection, since: int) -> list[int]:
    """Those of them in which more than the count of uses may have changed."""
    return column(connection, REWORDED, (since,))


def is_reworded(connection: apsw.Connection, since: int) -> bool:
    """Whether there is one of those."""
    return bool(value(connection, ANY_REWORDED, (since,)))


def sequence_at(connection: apsw.Connection, moment: int) -> int:
    """The newest change at or before *moment*. Moments never fall along the journal, so halving finds it."""
    low, (high, newest) = 0, last(connection)
    if newest <= moment:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        row = first(connection, MOMENT, (middle,))
        if row and row[1] <= moment:
            low = row[0]
        else:
            high = middle - 1
    return low


def read(
    connection: apsw.Connection, wanted: ChangeFilter, *, limit: int | None, newest_first: bool = False
) -> Iterator[Change]:
    """The changes that pass, a page at a time, with the texts of statements in place of their numbers."""
    given = _given(wanted)
    order, onwards = ("DESC", "before") if newest_first else ("ASC", "after")
    left: float = math.inf if limit is None else limit
    while left > 0:
        conditions = " AND ".join(CONDITIONS[name] for name in given) or "TRUE"
        sql = SELECT.format(conditions=conditions, order=order)
        page = rows(connection, sql, {**given, "limit": min(left, PAGE)})
        yield from _decode(connection, page)
        if len(page) < PAGE:
            return
        left -= PAGE
        given[onwards] = page[-1][0]


def rewrite(connection: apsw.Connection, subject: Subject, number: int, rewrite: Rewrite) -> None:
    """Rewrite the fields in the entries of a link or session."""
    for before, after, sequence in rows(connection, ENTRIES, (number, subject)):
        fields = (side and orjson.dumps(rewrite(orjson.loads(side))).decode() for side in (before, after))
        connection.execute(REWRITE, (*fields, sequence))


def _given(wanted: ChangeFilter) -> dict[str, Any]:
    """The fields of *wanted* that are set, as parameters."""
    given = {name: value for name in CONDITIONS if (value := getattr(wanted, name, None)) is not None}
    if wanted.after is not None:
        given["after"] = wanted.after.number
    for name in ("sequences", "subject_ids"):
        if name in given:
            given[name] = as_json(given[name])
    return given


def _decode(connection: apsw.Connection, page: Sequence[Row]) -> Iterator[Change]:
    """The rows of *page* as changes. The texts of all of them are read together."""
    pairs = [[fields and orjson.loads(fields) for fields in row[7:]] for row in page]
    bodies = [fields for both in pairs for fields in both if fields and "statements" in fields]
    numbers = sorted({number for fields in bodies for number in fields["statements"]})
    texts: dict[int, str] = dict(rows(connection, TEXTS, (as_json(numbers),)))
    for fields in bodies:
        fields["statements"] = [texts[number] for number in fields["statements"] if number in texts]
    for row, (before, after) in zip(page, pairs, strict=True):
        yield Change(
            sequence=row[0],
            position=Position(number=row[0]),
            batch=row[1],
            at=row[2],
            actor=row[3],
            operation=row[4],
            subject=Subject(row[5]),
            subject_id=row[6],
            before=before,
            after=after,
        )
