"""Rows of `mark`: a few numbers of each living memory, by which those that say nearly the same are found."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import replace
from itertools import groupby, islice
from operator import itemgetter

from mnemic.model.filter import Filter
from mnemic.model.memory import Memory
from mnemic.storage import fingerprint
from mnemic.storage.postgres.connection import Executor, Held
from mnemic.storage.postgres.memories import where
from mnemic.storage.postgres.rows import rows

COLUMNS = ("namespace_id", "number", "memory_id")
TAKE_OUT = """
DELETE FROM mark WHERE namespace_id = %s AND number = ANY(%s::bigint[]) AND memory_id = %s
"""
# With one namespace, as many rows and the limit written out, one plan serves all calls: it is asked before every write.
SHARING = """
SELECT w.number, k.memory_id FROM (VALUES {marks}) AS w (number) CROSS JOIN LATERAL (
  SELECT k.memory_id FROM mark k JOIN memory m ON m.namespace_id = k.namespace_id AND m.id = k.memory_id
  WHERE k.number = w.number AND {place} AND {conditions}
  ORDER BY k.memory_id DESC LIMIT {limit}
) k
"""
IN_ONE, IN_ALL = "k.namespace_id = %(space)s", "k.namespace_id IN (SELECT n.id FROM namespace n)"
IN_ORDER = """
SELECT k.number, k.namespace_id, k.memory_id FROM mark k
JOIN memory m ON m.namespace_id = k.namespace_id AND m.id = k.memory_id
WHERE {conditions}
ORDER BY k.number, k.memory_id
"""
COMPARED_WITH = 5
"""Memories before it, sharing a mark, that each memory is paired with: a mark may be that of thousands."""


def of(memory: Memory, namespace_id: int) -> list[tuple[int, int, int]]:
    """The marks of *memory* as rows of COLUMNS."""
    return [(namespace_id, number, memory.id) for number in fingerprint.marks(memory.content)]


def put(db: Held, memory: Memory, namespace_id: int) -> None:
    """Keep the marks of *memory*."""
    for mark in of(memory, namespace_id):
        db.insert("mark", dict(zip(COLUMNS, mark, strict=True)))


def take_out(db: Executor, memory: Memory, namespace_id: int) -> None:
    """Drop the marks of *memory*, which has its body as it was when they were put."""
    db.run(TAKE_OUT, (namespace_id, list(fingerprint.marks(memory.content)), memory.id))


def alike(db: Executor, body: str, wanted: Filter, limit: int, space: int | None) -> list[int]:
    """The memories that share most marks with *body*; if *wanted* names one namespace, that is *space*.

    A signature that many share is weak: only its newest holders count, and never alone if the text has others.
    """
    ours = list(fingerprint.marks(body))
    if not ours:
        return []
    conditions, values = where(wanted if space is None else replace(wanted, namespaces=None))
    place, values["space"] = (IN_ALL if space is None else IN_ONE), space
    marks = ", ".join(f"(%(mark{place})s::bigint)" for place in range(len(ours)))
    values |= {f"mark{place}": mark for place, mark in enumerate(ours)}
    sql = SHARING.format(conditions=conditions, marks=marks, limit=int(limit), place=place)
    found = rows(db, sql, values)
    if not found:
        return []
    often = Counter(mark for mark, _ in found)
    shared = Counter(memory_id for _, memory_id in found)
    telling = {memory_id for mark, memory_id in found if often[mark] < limit or len(ours) < fingerprint.MARKS}
    likely = (memory_id for memory_id, count in shared.most_common() if count > 1 or memory_id in telling)
    return list(islice(likely, limit))


def pairs(db: Executor, wanted: Filter, limit: int) -> list[tuple[int, int]]:
    """Up to *limit* pairs of memories of one namespace that share a mark, the smaller number first."""
    conditions, values = where(wanted)
    found: dict[tuple[int, int], None] = {}
    marked = rows(db, IN_ORDER.format(conditions=conditions), values)
    for _, sharing in groupby(marked, key=itemgetter(0)):
        before: dict[int, deque[int]] = {}
        for _, namespace, number in sharing:
            earlier = before.setdefault(namespace, deque(maxlen=COMPARED_WITH))
            found |= {(min(one, number), max(one, number)): None for one in earlier}
            earlier.append(number)
        if len(found) >= limit:
            break
    return list(islice(found, limit))
