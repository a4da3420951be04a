"""Looking for damage: in the file itself, and between rows, indexes and journal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apsw
import orjson

from mnemic.model.memory import Memory
from mnemic.storage import text
from mnemic.storage.sqlite import edges, memories, words
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.rows import column, row, rows, value
from mnemic.storage.sqlite.writer import EMPTY, JOURNALED

UNINDEXED = """
SELECT count(*) FROM memory WHERE state = 'living' AND id NOT IN (SELECT rowid FROM words)
"""
OVERINDEXED = """
SELECT count(*) FROM words WHERE rowid NOT IN (SELECT id FROM memory WHERE state = 'living')
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
FAULTS = {
    UNINDEXED: "{} living memories are missing from the words index",
    OVERINDEXED: "{} rows of the words index belong to no living memory",
    LOST_VECTORS: "{} statements have lost their vectors",
    MIXED_VECTORS: "{} vectors have the wrong size for their model",
}


def check(connection: apsw.Connection) -> list[str]:
    """Every fault found, one sentence each."""
    return [*check_indexes(connection), *_journal(connection), *_edges(connection)]


def check_indexes(connection: apsw.Connection) -> list[str]:
    """The faults of the file and between rows and indexes."""
    return [*_file(connection), *_counts(connection), *_words(connection)]


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
    last = 0
    while page := rows(connection, memories.PAGE, (last, 500)):
        bodies = rows(connection, memories.BODIES, (as_json([one[0] for one in page]),))
        for memory in memories.assemble(page, bodies).values():
            if memory.state != "living":
                continue
            phrase = _first_phrase(memory)
            expression = words.match_expression([phrase], None, every=True)
            sql = "SELECT 1 FROM words WHERE words MATCH ? AND rowid = ?"
            if words.stem(connection, phrase) and not row(connection, sql, (expression, memory.id)):
                yield f"memory {memory.id} is not found by its own words"
        last = page[-1][0]


def _first_phrase(memory: Memory) -> str:
    """What stands before the first space of the body, or of the title if there is none, as the index reads it."""
    return next(iter(text.indexed(memory.content or memory.title).split()), "")


def _journal(connection: apsw.Connection) -> Iterator[str]:
    """The journal, replayed, must give the rows there are."""
    replayed = _replayed(connection, "memory")
    seen = 0
    for number in column(connection, "SELECT id FROM memory"):
        memory = memories.one(connection, number)
        told = replayed.get(number)
        seen += told is not None
        if memory is None or told is None:
            yield f"memory {number} is not in the journal"
        elif [s.id for s in memory.statements] != told.get("statements", []) or not _agrees(memory, told):
            yield f"memory {number} differs from what the journal says of it"
    if seen != len(replayed):
        yield f"{len(replayed) - seen} memories of the journal are missing"


def _edges(connection: apsw.Connection) -> Iterator[str]:
    replayed = _replayed(connection, "edge")
    for number, *values in rows(connection, EDGES):
        told = replayed.pop(number, {})
        if any(told.get(name) != value for name, value in zip(edges.COLUMNS[1:], values, strict=True)):
            yield f"link {number} differs from what the journal says of it"
    if replayed:
        yield f"{len(replayed)} links of the journal are missing"


def _replayed(connection: apsw.Connection, subject: str) -> dict[int, dict[str, Any]]:
    """Each thing of this kind as the journal leaves it; what was purged is not there."""
    replayed: dict[int, dict[str, Any]] = {}
    for number, after in rows(connection, JOURNAL, (subject,)):
        if after is None:
            replayed.pop(number, None)
        else:
            replayed.setdefault(number, {}).update(orjson.loads(after))
    return replayed


def _agrees(memory: Any, told: dict[str, Any]) -> bool:
    """Whether each field is what was last told of it; of what was never told, what a memory has from birth."""
    expected = {name: told.get(name, _plain(getattr(EMPTY, name))) for name in JOURNALED}
    return bool(expected == {name: _plain(getattr(memory, name)) for name in JOURNALED})


def _plain(value: Any) -> Any:
    return orjson.loads(orjson.dumps(dict(value) if hasattr(value, "keys") else value))
