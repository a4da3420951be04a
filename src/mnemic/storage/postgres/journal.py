"""Rows of `journal`: each change with the fields that differ."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from mnemic.model.change import Change, Position, Subject
from mnemic.model.filter import ChangeFilter
from mnemic.storage.base import Rewrite
from mnemic.storage.postgres.connection import Executor, Row
from mnemic.storage.postgres.rows import routed, rows, value
from mnemic.storage.postgres.rows import row as first

# Asked by itself, of the server that numbers the transactions of the journal: on a cluster others have the rows.
OLDEST_AT_WORK = """
SELECT pg_snapshot_xmin(pg_current_snapshot())::text
"""
SETTLED = "xid < %(at_work)s::text::xid8"
"""Nothing that is still to be committed comes to stand before such a row, since transactions are numbered."""
NEWEST = f"""
SELECT xid::text::bigint, sequence FROM journal WHERE {SETTLED} ORDER BY xid DESC, sequence DESC LIMIT 1
"""
POSITION_AT = """
SELECT xid::text::bigint, sequence FROM journal WHERE at <= %s ORDER BY at DESC, sequence DESC LIMIT 1
"""
SELECT = """
SELECT xid::text::bigint, sequence, batch, at, actor, operation, subject, subject_id, before, after
FROM journal j
WHERE {here[j]} AND {conditions}
ORDER BY xid {order}, sequence {order}
LIMIT %(limit)s
"""
TEXTS = """
SELECT s.id, s.text FROM statement s WHERE {here[s]} AND s.id = ANY(%(ids)s::bigint[])
"""
ERASE = """
UPDATE journal SET before = NULL, after = NULL
WHERE (subject = 'memory' AND subject_id = %(id)s)
   OR (subject = 'edge' AND subject_id IN (SELECT id FROM edge WHERE source_id = %(id)s OR target_id = %(id)s))
"""
ENTRIES = """
SELECT before, after, sequence FROM journal WHERE subject_id = %s AND subject = %s
"""
REWRITE = """
UPDATE journal SET before = %s, after = %s WHERE sequence = %s
"""
CONDITIONS = {
    "after": "(xid, sequence) > (%(after_xid)s::text::xid8, %(after)s)",
    "before": "(xid, sequence) < (%(before_xid)s::text::xid8, %(before)s)",
    "sequences": "sequence = ANY(%(sequences)s::bigint[])",
    "batch": "sequence >= %(batch)s AND batch = %(batch)s",
    "subject": "subject = %(subject)s",
    "subject_ids": "subject_id = ANY(%(subject_ids)s::bigint[])",
    "since": "at >= %(since)s",
    "until": "at <= %(until)s",
    "actor": "actor = %(actor)s",
}
PAGE = 500
"""Changes read at once: a search need not wait for all of them."""


def newest(db: Executor) -> Position:
    """The position of the newest settled change."""
    return Position(*(first(db, NEWEST, _at_work(db)) or ()))


def _at_work(db: Executor) -> dict[str, str]:
    """The number of the oldest transaction that is still at work."""
    return {"at_work": value(db, OLDEST_AT_WORK)}


def position_at(db: Executor, moment: int) -> Position:
    """The newest change at or before *moment*."""
    return Position(*(first(db, POSITION_AT, (moment,)) or ()))


def read(
    db: Executor,
    wanted: ChangeFilter,
    *,
    limit: int | None,
    newest_first: bool = False,
    is_settled: bool = False,
) -> Iterator[Change]:
    """The changes that pass, a page at a time, with the texts of statements in place of their numbers."""
    given = _given(wanted) | (_at_work(db) if is_settled else {})
    if [] in given.values():
        return
    order, onwards = ("DESC", "before") if newest_first else ("ASC", "after")
    left: float = math.inf if limit is None else limit
    while left > 0:
        parts = [CONDITIONS[name] for name in given if name in CONDITIONS] + [SETTLED] * is_settled
        values = {**given, "limit": int(min(left, PAGE))}
        page = rows(db, *routed(db, SELECT, values, conditions=" AND ".join(parts) or "TRUE", order=order))
        yield from _decode(db, page)
        if len(page) < PAGE:
            return
        left -= PAGE
        given |= {f"{onwards}_xid": str(page[-1][0]), onwards: page[-1][1]}


def rewrite(db: Executor, subject: Subject, number: int, rewrite: Rewrite) -> None:
    """Rewrite the fields in the entries of a link or session."""
    for before, after, sequence in rows(db, ENTRIES, (number, subject)):
        fields = (side and orjson.dumps(rewrite(orjson.loads(side))).decode() for side in (before, after))
        db.run(REWRITE, (*fields, sequence))


def _given(wanted: ChangeFilter) -> dict[str, Any]:
    """The fields of *wanted* that are set, as parameters."""
    given = {name: value for name in CONDITIONS if (value := getattr(wanted, name, None)) is not None}
    if wanted.after is not None:
        given |= {"after_xid": str(wanted.after.epoch), "after": wanted.after.number}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}


def _decode(db: Executor, page: Sequence[Row]) -> Iterator[Change]:
    """The rows of *page* as changes. The texts of all of them are read together."""
    pairs = [[fields and orjson.loads(fields) for fields in row[8:]] for row in page]
    bodies = [fields for both in pairs for fields in both if fields and "statements" in fields]
    numbers = sorted({number for fields in bodies for number in fields["statements"]})
    texts: dict[int, str] = dict(rows(db, *routed(db, TEXTS, {"ids": numbers}))) if numbers else {}
    for fields in bodies:
        fields["statements"] = [texts[number] for number in fields["statements"] if number in texts]
    for row, (before, after) in zip(page, pairs, strict=True):
        yield Change(
            sequence=row[1],
            position=Position(row[0], row[1]),
            batch=row[2],
            at=row[3],
            actor=row[4],
            operation=row[5],
            subject=Subject(row[6]),
            subject_id=row[7],
            before=before,
            after=after,
        )
