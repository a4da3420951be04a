"""Rows of `mark`: the MinHash signatures of living memories (`storage/fingerprint.py`), for near-duplicate look-up."""

from __future__ import annotations

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
  WHERE k.number = w.number AND {here} AND {conditions}
  ORDER BY k.memory_id DESC LIMIT {limit}
) k
"""
# The index of marks begins with the namespace.
ANYWHERE = "k.namespace_id IN (SELECT n.id FROM namespace n)"
IN_ORDER = """
SELECT k.number, k.namespace_id, k.memory_id FROM mark k
JOIN memory m ON m.namespace_id = k.namespace_id AND m.id = k.memory_id
WHERE {conditions}
ORDER BY k.number, k.memory_id
"""


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


def alike(db: Executor, body: str, wanted: Filter, limit: int) -> list[int]:
    """The memories that share most marks with *body*. Of each mark only its newest holders count."""
    ours = list(fingerprint.marks(body))
    if not ours:
        return []
    conditions, values = where(wanted, db.here)
    here = ANYWHERE if wanted.namespaces is None else db.here.within(wanted.namespaces)["k"]
    marks = ", ".join(f"(%(mark{place})s::bigint)" for place in range(len(ours)))
    values |= {f"mark{place}": mark for place, mark in enumerate(ours)}
    sql = SHARING.format(conditions=conditions, marks=marks, limit=int(limit), here=here)
    found = rows(db, sql, values)
    return fingerprint.sharing_most(found, len(ours), limit)


def pairs(db: Executor, wanted: Filter, limit: int) -> list[tuple[int, int]]:
    """Up to *limit* pairs of memories of one namespace that share a mark, the smaller number first."""
    conditions, values = where(wanted, db.here)
    return fingerprint.pairs_sharing(rows(db, IN_ORDER.format(conditions=conditions), values), limit)
