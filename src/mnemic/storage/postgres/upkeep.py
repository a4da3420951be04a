"""Work in the background for search by the server: sizes and document frequencies, and the indexes of vectors."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.storage.postgres import pgvector
from mnemic.storage.postgres.connection import STATEMENT_SECONDS, Held
from mnemic.storage.postgres.owner import session_as_owner
from mnemic.storage.postgres.pgvector import BUILD, DROP, index_name
from mnemic.storage.postgres.rows import rows, value

# Held by the session, so that a second daemon does not do the same at the same time.
LOCK = """
SELECT pg_try_advisory_lock(hashtextextended('mnemic upkeep', 0))
"""
UNLOCK = """
SELECT pg_advisory_unlock(hashtextextended('mnemic upkeep', 0))
"""
IS_STANDBY = """
SELECT pg_is_in_recovery()
"""
CHANGED_SHARE = 0.05
"""A namespace is counted again when it has grown or shrunk by so much."""
CHANGED_SIZES = f"""
SELECT coalesce(w.namespace_id, n.namespace_id), coalesce(w.memories, 0), coalesce(w.words, 0)
FROM (SELECT namespace_id, count(*) AS memories, sum(length) AS words FROM words GROUP BY namespace_id) w
FULL JOIN namespace_size n ON n.namespace_id = w.namespace_id
WHERE n.memories IS NULL OR w.memories IS NULL OR abs(w.memories - n.memories) > {CHANGED_SHARE} * n.memories
"""
PUT_SIZE = """
INSERT INTO namespace_size (namespace_id, memories, words) VALUES (%(space)s, %(memories)s, %(words)s)
ON CONFLICT (namespace_id) DO UPDATE SET memories = excluded.memories, words = excluded.words
"""
WORTH_KEEPING = 5
"""What fewer memories of a namespace hold is counted when it is asked for."""
CHANGED_HOLDERS = f"""
SELECT coalesce(c.token, t.token), c.holders
FROM (SELECT u AS token, count(*)::integer AS holders FROM words w, unnest(w.tokens) u
      WHERE w.namespace_id = %(space)s GROUP BY u HAVING count(*) >= {WORTH_KEEPING}) c
FULL JOIN (SELECT token, holders FROM term WHERE namespace_id = %(space)s AND holders IS NOT NULL) t
  ON t.token = c.token
WHERE t.holders IS NULL OR c.holders IS NULL OR abs(c.holders - t.holders) > {CHANGED_SHARE} * t.holders
ORDER BY 1
"""
PUT_HOLDERS = """
UPDATE term t SET holders = c.holders FROM unnest(%(tokens)s::text[], %(holders)s::integer[]) AS c (token, holders)
WHERE t.namespace_id = %(space)s AND t.token = c.token
"""
PUT_AT_ONCE = 500
"""Who stores a memory with one of these tokens waits until so many are written."""
INDEXED_FROM = 10_000
"""With fewer passages in a namespace, all are compared."""
LARGE_NAMESPACES = """
SELECT p.namespace_id, p.model_id, d.dimension
FROM (SELECT namespace_id, model_id FROM passage GROUP BY namespace_id, model_id HAVING count(*) >= %(least)s) p
JOIN model d ON d.id = p.model_id ORDER BY p.namespace_id, p.model_id
"""
# pgvector indexes so many numbers of half precision.
MOST_DIMENSIONS = 4_000
PATIENT = "SET statement_timeout = 0; SET maintenance_work_mem = '256MB'"
AS_BEFORE = f"SET statement_timeout = '{STATEMENT_SECONDS}s'; RESET maintenance_work_mem"


def run(db: Held, schema: str | None) -> None:
    """Do what is due, unless another process is at it or the server can only be read; *schema* is that of pgvector.

    Through a pooler nothing is done: the lock belongs to a session, and an index is built outside of any transaction.
    """
    if db.connection.is_pooled or value(db, IS_STANDBY) or not value(db, LOCK):
        return
    try:
        db.run(PATIENT)
        _count(db)
        if schema is not None:
            while pgvector.halve_some(db):
                pass
            with session_as_owner(db.connection) as is_owner:
                if is_owner:
                    _index_vectors(db, schema)
    finally:
        if not db.connection.broken:
            db.run(AS_BEFORE)
            db.run(UNLOCK)


def _count(db: Held) -> None:
    """Keep the size of each namespace and how many of its memories hold each token."""
    for space, memories, length in rows(db, CHANGED_SIZES):
        _keep_holders(db, space, rows(db, CHANGED_HOLDERS, {"space": space}))
        db.run(PUT_SIZE, {"space": space, "memories": memories, "words": length})


def _keep_holders(db: Held, space: int, changed: Sequence[tuple[str, int | None]]) -> None:
    for start in range(0, len(changed), PUT_AT_ONCE):
        tokens, holders = zip(*changed[start : start + PUT_AT_ONCE], strict=True)
        db.run(PUT_HOLDERS, {"space": space, "tokens": list(tokens), "holders": list(holders)})


def _index_vectors(db: Held, schema: str) -> None:
    """Build the indexes of large namespaces that are missing, and drop those that are not needed or not complete."""
    wanted = {
        index_name(space, model): {"space": space, "model": model, "dimension": dimension}
        for space, model, dimension in rows(db, LARGE_NAMESPACES, {"least": INDEXED_FROM})
        if dimension <= MOST_DIMENSIONS
    }
    valid = pgvector.valid_indexes(db)
    for name in (*pgvector.unusable_indexes(db), *(valid - wanted.keys())):
        db.run(DROP.format(name=name))
    for name, told in wanted.items():
        if name not in valid:
            db.run(BUILD.format(name=name, schema=schema, **told))
