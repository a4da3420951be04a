"""Looking for damage: in the file itself, and between rows, indexes and journal."""

from __future__ import annotations

from collections.abc import Iterator

import apsw

from mnemic.errors import StoreUnusable
from mnemic.model.enums import State
from mnemic.model.filter import Filter
from mnemic.model.memory import Memory
from mnemic.storage.journal_check import edge_faults, first_phrase, memory_faults, replayed
from mnemic.storage.sqlite import edges, fts, memories, trigram
from mnemic.storage.sqlite.connection import MEND
from mnemic.storage.sqlite.rows import column, row, rows, value

UNINDEXED = """
SELECT count(*) FROM memory WHERE state = 'living' AND id NOT IN (SELECT rowid FROM words)
"""
OVERINDEXED = """
SELECT count(*) FROM words WHERE rowid NOT IN (SELECT id FROM memory WHERE state = 'living')
"""
GRAMS_OF_NONE = """
SELECT count(*) FROM gram_docsize WHERE id NOT IN (SELECT id FROM memory)
"""
UNGRAMMED = """
SELECT count(*) FROM memory m CROSS JOIN meta ON meta.key = 'gram'
WHERE m.id NOT IN (SELECT id FROM gram_docsize) AND NOT EXISTS (
  SELECT 1 FROM journal j WHERE j.subject_id = m.id AND j.subject = 'memory' AND j.sequence > meta.value)
"""
CHANGED_SINCE = """
SELECT 1 FROM journal WHERE subject_id = ? AND subject = 'memory' AND sequence > ?
"""
LOST_VECTORS = """
SELECT count(*) FROM statement s
WHERE s.model_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM passage p WHERE p.statement_id = s.id)
"""
MIXED_VECTORS = """
SELECT count(*) FROM passage p JOIN model d ON d.id = p.model_id WHERE length(p.vector) != d.dimension
"""
JOURNAL = """
SELECT subject_id, after FROM journal WHERE subject = ? ORDER BY sequence
"""
EDGES = f"""
SELECT {", ".join(edges.COLUMNS)} FROM edge
"""
NEWEST = """
SELECT id FROM memory WHERE state = 'living' ORDER BY id DESC LIMIT 1
"""
FOUND = """
SELECT 1 FROM words WHERE words MATCH ? AND rowid = ?
"""
FAULTS = {
    UNINDEXED: "{} living memories are missing from the words index",
    OVERINDEXED: "{} rows of the words index belong to no living memory",
    UNGRAMMED: "{} memories are missing from the index of substrings",
    GRAMS_OF_NONE: "{} rows of the index of substrings belong to no memory",
    LOST_VECTORS: "{} statements have lost their vectors",
    MIXED_VECTORS: "{} vectors have the wrong size for their model",
}
LOOKED_UP = 1_000
"""To look up each of 100,000 by its characters takes half a minute."""


def check(connection: apsw.Connection) -> list[str]:
    """Every fault found, one sentence each."""
    return [*check_indexes(connection), *_journal(connection), *_edges(connection)]


def refuse_damage(connection: apsw.Connection, where: str) -> None:
    """StoreUnusable if pages of the file are damaged: a copy of it must not replace a good one."""
    fault = value(connection, "PRAGMA quick_check(1)")
    if fault != "ok":
        raise StoreUnusable(f"{where} is damaged, so it was not copied. {MEND}")


def probe(connection: apsw.Connection) -> bool:
    """Whether the newest memory can be read and is found by its own words."""
    newest = row(connection, NEWEST)
    memory = memories.one(connection, newest[0]) if newest else None
    return memory is None or _is_found(connection, memory)


def check_indexes(connection: apsw.Connection) -> list[str]:
    """The faults of the file and between rows and indexes."""
    return [*_file(connection), *_counts(connection), *_words(connection), *_substrings(connection)]


def _file(connection: apsw.Connection) -> Iterator[str]:
    for line in column(connection, "PRAGMA integrity_check(20)"):
        if line != "ok":
            yield f"the file is damaged: {line}"


def _counts(connection: apsw.Connection) -> Iterator[str]:
    for sql, sentence in FAULTS.items():
        number = value(connection, sql)
        if number:
            yield sentence.format(number)


def _words(connection: apsw.Connection) -> Iterator[str]:
    """Every living memory must be found in the index by how it begins."""
    for memory in memories.walk(connection, Filter()):
        if not _is_found(connection, memory):
            yield f"memory {memory.id} is not found by its own words"


def _is_found(connection: apsw.Connection, memory: Memory) -> bool:
    phrase = first_phrase(memory)
    expression = fts.match_expression([(phrase,)], None, every=True)
    return not fts.tokens(connection, phrase) or row(connection, FOUND, (expression, memory.id)) is not None


def _substrings(connection: apsw.Connection) -> Iterator[str]:
    """Memories spread over the store must be found by their titles, unless changed since they were indexed."""
    standing = trigram.standing(connection)
    if standing is None:
        return
    rarity = trigram.Rarity()
    for memory in memories.many(connection, trigram.spread(connection, LOOKED_UP)):
        named = trigram.grams(trigram.key(f"{memory.title}\n{memory.kind}"))
        if not named:  # a name and a type that are both empty
            continue
        expression = trigram.expression(rarity.rarest(connection, named))
        is_found = row(
            connection, "SELECT 1 FROM gram WHERE gram MATCH ? AND rowid = ?", (expression, memory.id)
        )
        if not is_found and not row(connection, CHANGED_SINCE, (memory.id, standing)):
            yield f"memory {memory.id} is not found by its own characters"


def _journal(connection: apsw.Connection) -> Iterator[str]:
    """The journal, replayed, must give the rows there are."""
    logged = replayed(rows(connection, JOURNAL, ("memory",)))
    return memory_faults(memories.walk(connection, Filter(states=frozenset(State))), logged)


def _edges(connection: apsw.Connection) -> Iterator[str]:
    return edge_faults(rows(connection, EDGES), replayed(rows(connection, JOURNAL, ("edge",))))
