"""The rows, tokens and vectors the index asks for, read from SQLite."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import apsw
import orjson

from mnemic.model.change import USE, Position
from mnemic.model.enums import State
from mnemic.model.filter import Filter
from mnemic.model.memory import Memory
from mnemic.storage.indexed_words import BODY, PARTS, STEMS, SUMMARY, TAGS, TITLE, indexed_words
from mnemic.storage.source import ChangedMemory, Extent, PassageRow, Phrase
from mnemic.storage.sqlite import fts, memories
from mnemic.storage.sqlite.memories import CREATION, as_json
from mnemic.storage.sqlite.rows import column, row, rows, value
from mnemic.storage.tokenizer import NAMESPACE_MARK

if TYPE_CHECKING:
    from mnemic.storage.arrays import Numbers, Times

NEVER = 1 << 62
AT_ONCE = 10_000
"""Occurrences read ahead in one step, if they are not all of one token."""
BETWEEN, THESE = "id BETWEEN ? AND ?", "id IN (SELECT value FROM json_each(?))"
ROWS_AT_ONCE = 100_000
"""Numbers covered by one statement: a million rows as lists would take 300 MB for a moment."""

EXTENT = """
SELECT coalesce((SELECT max(sequence) FROM journal), 0), coalesce((SELECT max(id) FROM passage), 0)
"""
CHANGES = f"""
SELECT sequence, subject_id, operation = '{USE}' FROM journal
WHERE sequence > ? AND subject = 'memory' ORDER BY sequence
"""
ATTRIBUTES = {
    "number": "id",
    "priority": "priority",
    "confidence": "confidence",
    "access_count": "access_count",
    "updated_at": "updated_at",
    "created_at": "created_at",
    "occurred_at": "coalesce(valid_from, created_at)",
    "session_id": "coalesce(session_id, 0)",
    "expires_at": f"coalesce(expires_at, {NEVER})",
    "last_change": "since",
    "state": "state",
    "tier": "tier",
    "kind": "kind",
    "namespace": "namespace",
}
# A column at once, all in one row: a tuple for each memory would take a third longer.
ATTRIBUTES_OF = f"""
SELECT {", ".join(f"json_group_array({field})" for field in ATTRIBUTES.values())}
FROM memory WHERE {{which}}
"""
NAMESPACES = """
SELECT name, id FROM namespace
"""
PASSING = """
SELECT m.id FROM memory m WHERE {conditions}
"""
# One row a group: at each row other threads may take the interpreter.
GROUPS = {
    "tag": """
SELECT name, json_group_array(memory_id) FROM tag GROUP BY name
""",
    "actor": f"""
SELECT j.actor, json_group_array(j.subject_id) FROM journal j WHERE {CREATION} GROUP BY j.actor
""",
}

# In one row each: at each row other threads may take the interpreter.
SIZES = """
SELECT json_group_array(id), group_concat(hex(sz), '') FROM words_docsize WHERE {which}
"""
MEMBERS = """
SELECT n.id, json_group_array(m.id) FROM memory m NOT INDEXED JOIN namespace n ON n.name = m.namespace
WHERE m.state = 'living' AND m.{which} GROUP BY m.namespace
"""
INDEXED = 7
"""Columns of the words index; `sz` holds the number of words in each, as variable-length integers."""

FIELDS = {"body": BODY, "title": TITLE, "summary": SUMMARY, "tags": TAGS, "parts": PARTS, "stems": STEMS}
"""The weight of a token in each field; most stand in the first."""
FIELD_BITS, OFFSET_BITS = 3, 24
OCCURRENCES = """
CREATE VIRTUAL TABLE IF NOT EXISTS temp.occurrence USING fts5vocab(main, words, 'instance')
"""
# A memory and a field are one number, in front of how many tokens lie before; the name of a namespace has none.
_PLACE = " ".join(
    f"WHEN '{field}' THEN doc * {1 << FIELD_BITS} + {number}" for number, field in enumerate(FIELDS)
)
_PLACE = f"CASE col {_PLACE} ELSE -1 END"
HELD_IN = f"""
SELECT json_group_array({_PLACE}) FROM temp.occurrence WHERE term = ?
"""
FIRST_HELD_IN = f"""
SELECT json_group_array(place) FROM (SELECT {_PLACE} AS place FROM temp.occurrence WHERE term = ? LIMIT ?)
"""
HELD_BETWEEN = f"""
SELECT term, json_group_array({_PLACE}) FROM temp.occurrence WHERE term BETWEEN ? AND ? GROUP BY term
"""
PLACES = f"""
SELECT json_group_array({_PLACE} * {1 << OFFSET_BITS} + offset) FROM temp.occurrence WHERE term = ?
"""
OCCURRENCES_OF_EACH = """
SELECT term, cnt FROM temp.vocabulary
"""
BYTES_OF_POSTINGS = """
SELECT coalesce(sum(? + ? * doc), 0) FROM temp.vocabulary
"""

_PASSAGES = """
SELECT p.id, s.memory_id, s.id, n.id, p.vector
FROM passage p
JOIN statement s ON s.id = p.statement_id
JOIN memory m ON m.id = s.memory_id
JOIN namespace n ON n.name = m.namespace
WHERE p.model_id = :model AND s.until IS NULL AND m.state = 'living' AND
"""
PASSAGES_BETWEEN = _PASSAGES + "p.id > :after AND p.id <= :to ORDER BY p.id"
PASSAGES_OF = _PASSAGES + "p.id <= :to AND s.memory_id IN (SELECT value FROM json_each(:ids)) ORDER BY p.id"
OTHER_MODELS = """
SELECT statement_id FROM passage WHERE id > :after AND id <= :to AND model_id != :model
"""
VECTORS_OF = """
SELECT id, statement_id, model_id, vector FROM passage WHERE id IN (SELECT value FROM json_each(?))
"""
HISTORY = """
SELECT concat_ws(' ', batch, at, operation, subject, subject_id, actor) FROM journal WHERE sequence = ?
"""
VECTORS_LEFT = """
SELECT p.id, s.memory_id, s.id, 0, p.vector FROM statement s JOIN passage p ON p.statement_id = s.id
WHERE p.model_id = :model AND s.until IS NULL AND s.memory_id IN (SELECT value FROM json_each(:ids))
"""

_prepared: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
"""The connections that have the temporary tables."""


class SqliteSource:
    """The Source of the SQLite engine, over one connection."""

    def __init__(self, connection: apsw.Connection):
        self._connection = connection

    def prepare(self) -> None:
        """Nothing: a reader waits for nobody."""

    def begin(self) -> Extent:
        """Begin a read transaction."""
        if self._connection not in _prepared:
            for table in (OCCURRENCES, fts.VOCABULARY):
                self._connection.execute(table)  # not in the transaction, which is rolled back
            _prepared.add(self._connection)
        self._connection.execute("BEGIN")
        try:
            return self.extent()
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """End the read transaction."""
        self._connection.execute("ROLLBACK")

    def extent(self) -> Extent:
        """The newest change and passage."""
        change, passage = row(self._connection, EXTENT) or (0, 0)
        return Extent(Position(number=change), passage)

    def changes(self, after: Position) -> list[ChangedMemory]:
        """The journal's entries about memories after *after*."""
        found = rows(self._connection, CHANGES, (after.number,))
        return [ChangedMemory(Position(number=number), *rest) for number, *rest in found]

    def attributes(self, memory_ids: Sequence[int] | None) -> Iterator[Mapping[str, Sequence[Any]]]:
        """A list for each column, of these memories or of all."""
        spaces = self.namespaces()
        for which, values in self._ranges(memory_ids):
            [found] = rows(self._connection, ATTRIBUTES_OF.format(which=which), values)
            columns = dict(zip(ATTRIBUTES, map(orjson.loads, found), strict=True))
            yield {**columns, "namespace": [spaces.get(name, 0) for name in columns["namespace"]]}

    def _ranges(self, memory_ids: Sequence[int] | None) -> Iterator[tuple[str, tuple[int | str, ...]]]:
        """The conditions for these memories, or for all, in batches that bound memory."""
        if memory_ids is not None:
            yield THESE, (as_json(list(memory_ids)),)
            return
        for start in range(0, int(value(self._connection, memories.NEWEST)) + 1, ROWS_AT_ONCE):
            yield BETWEEN, (start + 1, start + ROWS_AT_ONCE)

    def namespaces(self) -> dict[str, int]:
        """The id of each namespace."""
        return dict(rows(self._connection, NAMESPACES))

    def passing(self, wanted: Filter) -> list[int]:
        """The memories that pass *wanted*."""
        conditions, values = memories.where(wanted)
        return column(self._connection, PASSING.format(conditions=conditions), values)

    def members(self, by: str) -> dict[str, list[int]]:
        """The memories that have each tag, or that each actor stored."""
        found = rows(self._connection, GROUPS[by])
        return {name: orjson.loads(numbers) for name, numbers in found}

    def lengths(self, memory_ids: Sequence[int] | None) -> tuple[Numbers, Numbers, Numbers]:
        """Numbers, words and namespaces of the memories that the words index has."""
        from mnemic.numeric import np

        found = [self._lengths(which, values) for which, values in self._ranges(memory_ids)]
        numbers, words, spaces = (np.concatenate(column) for column in zip(*found, strict=True))
        return numbers, words, spaces

    def _lengths(self, which: str, values: tuple[int | str, ...]) -> tuple[Numbers, Numbers, Numbers]:
        from mnemic.numeric import np

        [(numbers, sizes)] = rows(self._connection, SIZES.format(which=which), values)
        living = np.array(orjson.loads(numbers), np.int64)
        first = int(living.min(initial=0))
        spaces = np.zeros(int(living.max(initial=0)) - first + 1, np.int64)
        for space, members in rows(self._connection, MEMBERS.format(which=which), values):
            places = np.array(orjson.loads(members), np.int64) - first
            spaces[places[(places >= 0) & (places < len(spaces))]] = space  # damaged words may lack some
        return living, lengths(bytes.fromhex(sizes or "")), spaces[living - first]

    def tokens(self, form: str) -> list[str]:
        """The tokens of *form*."""
        return fts.tokens(self._connection, form)

    def held(self, memory_ids: Sequence[int]) -> dict[int, dict[str, float]]:
        """What these memories hold now; one that has left holds nothing."""
        living = (one for one in memories.many(self._connection, memory_ids) if one.state is State.LIVING)
        return {number: {} for number in memory_ids} | {memory.id: self._held(memory) for memory in living}

    def _held(self, memory: Memory) -> dict[str, float]:
        title, summary, tags, body, parts, stems = indexed_words(memory)
        texts = (body, title, summary, tags, parts, stems)
        held: dict[str, float] = {}
        for text, weight in zip(texts, FIELDS.values(), strict=True):
            for token in fts.tokens(self._connection, text):
                held[token] = held.get(token, 0.0) + weight
        return held

    def postings(
        self, phrases: Sequence[Phrase], *, below: int | None = None
    ) -> dict[Phrase, tuple[Numbers, Times]]:
        """For each of *phrases* the memories that hold it, and how often."""
        found = {phrase: self._posting(phrase, below) for phrase in phrases}
        return {phrase: one for phrase, one in found.items() if one is not None}

    def _posting(self, phrase: Phrase, below: int | None) -> tuple[Numbers, Times] | None:
        if len(phrase) != 1:
            return _posting(self._phrase(phrase))
        if below is None:
            return _posting(self._places(HELD_IN, phrase[0]))
        found = self._places(FIRST_HELD_IN, phrase[0], below)
        return _posting(found) if len(found) < below else None

    def _phrase(self, phrase: Phrase) -> Numbers:
        """Where all tokens of *phrase* follow one another."""
        from mnemic.numeric import np

        begins = [self._places(PLACES, token) - distance for distance, token in enumerate(phrase)]
        if not begins:
            return np.zeros(0, np.int64)
        return reduce(partial(np.intersect1d, assume_unique=True), begins) >> OFFSET_BITS

    def _places(self, sql: str, token: str, *values: int) -> Numbers:
        return _parsed(value(self._connection, sql, (token, *values)))

    def stretches(self) -> Iterator[tuple[str, str]]:
        """Runs of tokens that together have few occurrences, without the tokens of namespaces."""
        first = last = ""
        total = 0
        for term, count in rows(self._connection, OCCURRENCES_OF_EACH):
            is_ours = term.startswith(NAMESPACE_MARK)
            if first and (is_ours or total + count > AT_ONCE):
                yield first, last
                first, total = "", 0
            if not is_ours:
                first, last, total = first or term, term, total + count
        if first:
            yield first, last

    def postings_between(self, first: str, last: str) -> Iterator[tuple[Phrase, Numbers, Times]]:
        """The postings of these tokens."""
        for term, places in rows(self._connection, HELD_BETWEEN, (first, last)):
            yield (term,), *_posting(_parsed(places))

    def bytes_of_postings(self, each: int, pair: int) -> int:
        """How many bytes all postings take."""
        return int(value(self._connection, BYTES_OF_POSTINGS, (each, pair)))

    def passages(self, model_id: int, after: int, to: int) -> Iterator[PassageRow]:
        """The vectors of living memories in a range of passages."""
        values = {"model": model_id, "after": after, "to": to}
        return map(PassageRow._make, self._connection.execute(PASSAGES_BETWEEN, values))

    def passages_of(self, model_id: int, to: int, memory_ids: Sequence[int]) -> list[PassageRow]:
        """The vectors of these living memories."""
        values = {"model": model_id, "to": to, "ids": as_json(list(memory_ids))}
        return list(map(PassageRow._make, rows(self._connection, PASSAGES_OF, values)))

    def passages_left(self, model_id: int, memory_ids: Sequence[int]) -> list[PassageRow]:
        """The vectors of these memories, in any state."""
        values = {"model": model_id, "ids": as_json(list(memory_ids))}
        return list(map(PassageRow._make, rows(self._connection, VECTORS_LEFT, values)))

    def statements_of_other_models(self, model_id: int, after: int, to: int) -> list[int]:
        """The statements with a new vector by another model."""
        return column(self._connection, OTHER_MODELS, {"model": model_id, "after": after, "to": to})

    def history(self, position: Position) -> str | None:
        """When, by whom and with what the change was made."""
        found = row(self._connection, HISTORY, (position.number,))
        return found[0] if found else None

    def vectors_of(self, passage_ids: Sequence[int]) -> dict[int, tuple[int, int, bytes]]:
        """The statement, model and vector of each of these passages."""
        found = rows(self._connection, VECTORS_OF, (as_json(list(passage_ids)),))
        return {number: (statement, model, vector) for number, statement, model, vector in found}


def _parsed(numbers: str) -> Numbers:
    from mnemic.numeric import np

    return np.array(orjson.loads(numbers), np.int64)


def _posting(places: Numbers) -> tuple[Numbers, Times]:
    """The memories at these *places* in fields, and how often they stand there, weighted by field."""
    from mnemic.numeric import np

    weights = np.array(list(FIELDS.values()))[places & ((1 << FIELD_BITS) - 1)]
    numbers = places >> FIELD_BITS
    firsts = np.flatnonzero(np.diff(numbers, prepend=numbers[:1] - 1))
    times = np.add.reduceat(weights, firsts) if len(firsts) else weights
    return numbers[firsts], times.astype(np.float32)


def lengths(sizes: bytes) -> Numbers:
    """How many words each memory has, from SQLite's variable-length integers, INDEXED of them for each memory."""
    from mnemic.numeric import np

    parts = np.frombuffer(sizes, np.uint8)
    is_last = parts < 0x80
    values = (parts & 0x7F).astype(np.int64)
    followed, by = np.flatnonzero(~is_last), 1
    while len(followed):  # a byte counts 128 times as much for each that follows in its number
        values[followed] <<= 7
        followed, by = followed[~is_last[followed + by]], by + 1
    ends = np.flatnonzero(is_last)[INDEXED - 1 :: INDEXED]
    starts = np.concatenate([np.zeros(1, np.int64), ends + 1])[: len(ends)]
    summed: Numbers = np.add.reduceat(values, starts)
    return summed
