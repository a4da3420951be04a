"""Looking for damage: between rows, indexes and journal."""

from __future__ import annotations

from collections.abc import Iterator

from mnemic.model.enums import State
from mnemic.model.filter import Filter
from mnemic.model.memory import Memory
from mnemic.storage.journal_check import edge_faults, first_phrase, memory_faults, replayed
from mnemic.storage.postgres import edges, memories, words
from mnemic.storage.postgres.connection import Executor
from mnemic.storage.postgres.rows import row, rows, value

UNINDEXED = """
SELECT count(*) FROM memory m WHERE m.state = 'living' AND NOT EXISTS (
  SELECT 1 FROM words w WHERE w.namespace_id = m.namespace_id AND w.memory_id = m.id)
"""
OVERINDEXED = """
SELECT count(*) FROM words w WHERE NOT EXISTS (
  SELECT 1 FROM memory m WHERE m.namespace_id = w.namespace_id AND m.id = w.memory_id AND m.state = 'living')
"""
LOST_VECTORS = """
SELECT count(*) FROM statement s WHERE s.model_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM passage p
  WHERE p.namespace_id = s.namespace_id AND p.memory_id = s.memory_id AND p.statement_id = s.id)
"""
MIXED_VECTORS = """
SELECT count(*) FROM passage p JOIN model d ON d.id = p.model_id WHERE length(p.vector) != d.dimension
"""
STRAY_TEXTS = """
SELECT count(*) FROM statement s WHERE NOT EXISTS (
  SELECT 1 FROM memory m WHERE m.namespace_id = s.namespace_id AND m.id = s.memory_id)
"""
JOURNAL = """
SELECT subject_id, after FROM journal WHERE subject = %s ORDER BY sequence
"""
EDGES = f"""
SELECT {", ".join(edges.COLUMNS)} FROM edge
"""
NEWEST = """
SELECT id FROM memory WHERE state = 'living' ORDER BY id DESC LIMIT 1
"""
FOUND = """
SELECT 1 FROM words WHERE tokens @> %s::text[] AND memory_id = %s
"""
FAULTS = {
    UNINDEXED: "{} living memories are missing from the words index",
    OVERINDEXED: "{} rows of the words index belong to no living memory",
    LOST_VECTORS: "{} statements have lost their vectors",
    MIXED_VECTORS: "{} vectors have the wrong size for their model",
    STRAY_TEXTS: "{} statements belong to no memory",
}


def check(db: Executor) -> list[str]:
    """Every fault found, one sentence each."""
    return [*check_indexes(db), *_journal(db), *_edges(db)]


def probe(db: Executor) -> bool:
    """Whether the newest memory can be read and is found by its own words."""
    newest = row(db, NEWEST)
    memory = memories.one(db, newest[0]) if newest else None
    return memory is None or _is_found(db, memory)


def check_indexes(db: Executor) -> list[str]:
    """The faults between rows and indexes."""
    return [*_counts(db), *_words(db)]


def _counts(db: Executor) -> Iterator[str]:
    for sql, sentence in FAULTS.items():
        number = value(db, sql)
        if number:
            yield sentence.format(number)


def _words(db: Executor) -> Iterator[str]:
    """Every living memory must be found in the index by how it begins."""
    for memory in memories.walk(db, Filter()):
        if not _is_found(db, memory):
            yield f"memory {memory.id} is not found by its own words"


def _is_found(db: Executor, memory: Memory) -> bool:
    tokens = words.tokens(first_phrase(memory))
    return not tokens or row(db, FOUND, (tokens, memory.id)) is not None


def _journal(db: Executor) -> Iterator[str]:
    """The journal, replayed, must give the rows there are."""
    logged = replayed(rows(db, JOURNAL, ("memory",)))
    return memory_faults(memories.walk(db, Filter(states=frozenset(State))), logged)


def _edges(db: Executor) -> Iterator[str]:
    return edge_faults(rows(db, EDGES), replayed(rows(db, JOURNAL, ("edge",))))
