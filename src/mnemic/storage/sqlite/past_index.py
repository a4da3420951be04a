"""What has changed since a moment, as it was then: which memories, their words and their vectors.

A question about the past is answered by the index of the present for all that has not changed since, and from here for
the rest. So the first question about a moment reads what has changed since; later ones read what changed meanwhile.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import apsw

from mnemic.model.change import Position
from mnemic.model.filter import Filter
from mnemic.numeric import np
from mnemic.storage.base import Nearness
from mnemic.storage.past_search import bm25_idf
from mnemic.storage.source import PassageRow
from mnemic.storage.sqlite import fts, memories
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.rows import column, rows, value

if TYPE_CHECKING:
    from mnemic.model.vectors import Vectors
    from mnemic.storage.arrays import Flags, Numbers
    from mnemic.storage.index_port import Index, Matrix
    from mnemic.storage.source import Group

FOREVER = (1 << 63) - 1
NEWEST = """
SELECT coalesce(max(version), 0) FROM main.memory_past
"""
_VALID = "m.version > :known AND m.version <= :newest AND m.until > :sequence AND m.since <= :sequence"
CHANGED = """
SELECT DISTINCT id FROM main.memory_past WHERE version > :known AND version <= :newest AND until > :sequence
"""
PASSING = f"""
SELECT m.id FROM main.memory_past m WHERE {_VALID} AND {{conditions}}
"""
# Where words ended after the moment, and whether they had begun.
WORDINGS = """
SELECT version, id, worded <= :sequence FROM main.memory_past
WHERE version > :known AND version <= :newest AND until > :sequence AND worded IS NOT NULL
"""
HOLDING = f"""
SELECT rowid, -{fts.RANK.replace("bm25(words,", "bm25(words_past,")} FROM words_past WHERE words_past MATCH ?
"""
PAST_WORDS_COUNT = """
SELECT count(*) FROM words_past_docsize
"""
NEWEST_PASSAGE = """
SELECT coalesce(max(id), 0) FROM passage
"""
CHANGED_AGAIN = """
SELECT DISTINCT id FROM main.memory_past WHERE version > :known AND version <= :newest
"""
LATE = """
SELECT DISTINCT s.memory_id FROM main.passage p CROSS JOIN main.statement s ON s.id = p.statement_id
WHERE p.id > :known_passage AND p.id <= :passage AND p.model_id = :model
"""
PASSAGES = f"""
SELECT p.id, s.memory_id, s.id, 0, p.vector, s.since, coalesce(s.until, {FOREVER})
FROM main.statement s CROSS JOIN main.passage p ON p.statement_id = s.id
WHERE s.memory_id IN (SELECT value FROM json_each(:ids)) AND p.model_id = :model AND p.id <= :passage
"""


class PastIndex:
    """What has changed after one change of the journal. Safe between threads."""

    def __init__(self, sequence: int, vectors: PastVectors):
        self.sequence = sequence
        self._vectors = vectors
        self._lock = threading.Lock()
        self._newest = 0
        self._changed: set[int] = set()
        self._reworded: set[int] = set()
        self._wordings: dict[int, int] = {}
        self._passing: dict[Filter, tuple[int, set[int]]] = {}

    def _follow(self, connection: apsw.Connection) -> None:
        newest = int(value(connection, NEWEST))
        if newest == self._newest:
            return
        span = self._span(self._newest, newest)
        self._changed.update(column(connection, CHANGED, span))
        for version, number, had_begun in rows(connection, WORDINGS, span):
            self._reworded.add(number)
            if had_begun:
                self._wordings[version] = number
        self._newest = newest

    def _span(self, known: int, newest: int) -> dict[str, int]:
        return {"known": known, "newest": newest, "sequence": self.sequence}

    def changed(self, connection: apsw.Connection, memory_ids: Iterable[int]) -> list[int]:
        """Those of these memories that have changed since, in any way."""
        with self._lock:
            self._follow(connection)
            return [number for number in memory_ids if number in self._changed]

    def reworded(self, connection: apsw.Connection, memory_ids: Iterable[int]) -> list[int]:
        """Those of these memories whose words have changed since."""
        with self._lock:
            self._follow(connection)
            return [number for number in memory_ids if number in self._reworded]

    def passing(self, connection: apsw.Connection, wanted: Filter) -> set[int]:
        """The memories that have changed since and passed *wanted* then. Not to be altered."""
        with self._lock:
            self._follow(connection)
            known, found = self._passing.get(wanted, (0, set[int]()))
            if known != self._newest:
                conditions, values = memories.where(wanted)
                span = self._span(known, self._newest)
                fresh = column(connection, PASSING.format(conditions=conditions), {**values, **span})
                found = found | set(fresh)
                self._passing[wanted] = self._newest, found
            return found

    def unreworded(self, connection: apsw.Connection, wanted: Filter) -> tuple[int, ...]:
        """Those that passed *wanted* then and have changed since, but not in their words, which are indexed today."""
        return tuple(sorted(self.passing(connection, wanted) - self._reworded))

    def holding(
        self, connection: apsw.Connection, group: Group, idf: Callable[[int], float]
    ) -> dict[int, float]:
        """The memories that held a word then and have other words now, and what it added to the BM25 of each.

        The statistics are those of the present: *idf* is the weight of a word by its document frequency.
        """
        with self._lock:
            self._follow(connection)
            wordings = self._wordings
        total = int(value(connection, PAST_WORDS_COUNT))
        adds: dict[int, float] = {}
        for form in group:
            expression = fts.match_expression([(form,)], None, every=True)
            found = rows(connection, HOLDING, (expression,))
            counted = bm25_idf(total, len(found))
            for version, score in found:
                if (number := wordings.get(version)) is not None:
                    adds[number] = max(adds.get(number, 0.0), score / counted)
        weight = idf(len(adds))
        return {number: weight * frequency for number, frequency in adds.items()}

    def nearest(
        self,
        connection: apsw.Connection,
        model: tuple[int, int],
        vector: Vectors,
        among: Iterable[int],
        limit: int,
        at_least: float = -math.inf,
    ) -> list[Nearness]:
        """The *limit* nearest of these memories, which have changed since, by the statements they had then."""
        with self._at(connection, model) as (matrix, rows_then):
            return matrix.nearest(vector, limit, only=list(among), among_rows=rows_then, at_least=at_least)

    def vectors(
        self, connection: apsw.Connection, model: tuple[int, int], memory_ids: Sequence[int]
    ) -> dict[int, Vectors]:
        """The vectors of the statements these memories had then, by the statement's number."""
        with self._at(connection, model) as (matrix, rows_then):
            return matrix.of(memory_ids, among_rows=rows_then)

    @contextmanager
    def _at(self, connection: apsw.Connection, model: tuple[int, int]) -> Iterator[tuple[Matrix, Flags]]:
        with self._lock:
            self._follow(connection)
            changed = self._changed
        with self._vectors.read(connection, model, changed) as spans:
            yield spans.matrix, spans.at(self.sequence)


class PastVectors:
    """The vectors of memories that have changed, of all the statements they ever had. One for all moments of a store.

    Moments that are asked for one after the other mostly share what has changed since. Safe between threads.
    """

    def __init__(self, index: Index, seen: Position):
        self.seen = seen
        """The position from which on a purge would not be noticed here."""
        self._index = index
        self._lock = threading.Lock()
        self._models: dict[int, _Spans] = {}

    @contextmanager
    def read(
        self, connection: apsw.Connection, model: tuple[int, int], changed: set[int]
    ) -> Iterator[_Spans]:
        """The vectors by one model, those of the memories *changed* among them, which stay as they are in the block."""
        with self._lock:
            spans = self._models.get(model[0])
            if spans is None or spans.is_mostly_outdated:
                spans = self._models[model[0]] = _Spans(self._index, model)
            spans.follow(connection, changed)
            yield spans


class _Spans:
    """Vectors by one model, each with the changes between which its statement was valid."""

    def __init__(self, index: Index, model: tuple[int, int]):
        self.matrix: Matrix = index.matrix_of(*model, ())
        self._model = model[0]
        self._known: set[int] = set()
        self._version = self._passage = self._outdated = 0
        self._columns: Numbers = np.zeros((3, 0), np.int64)

    @property
    def is_mostly_outdated(self) -> bool:
        """Whether more rows were read again than are left, so that a new start takes less room."""
        return self._outdated > 4096 and 2 * self._outdated > self._columns.shape[1]

    def at(self, sequence: int) -> Flags:
        """Which rows belong to statements valid after the change with this number."""
        _, since, until = self._columns
        flags: Flags = (since <= sequence) & (until > sequence)
        return flags

    def follow(self, connection: apsw.Connection, changed: set[int]) -> None:
        """Read the vectors of memories *changed*, and again those of what has changed or was embedded meanwhile."""
        newest, passage = int(value(connection, NEWEST)), int(value(connection, NEWEST_PASSAGE))
        span = {
            "known": self._version,
            "newest": newest,
            "known_passage": self._passage,
            "passage": passage,
            "model": self._model,
        }
        fresh = changed - self._known
        if self._known and newest != self._version:
            fresh.update(self._known.intersection(column(connection, CHANGED_AGAIN, span)))
        if self._known and passage != self._passage:
            fresh.update(self._known.intersection(column(connection, LATE, span)))
        if fresh:
            self._put(fresh, rows(connection, PASSAGES, {**span, "ids": as_json(sorted(fresh))}))
        self._version, self._passage = newest, passage

    def _put(self, memory_ids: set[int], found: list[tuple[Any, ...]]) -> None:
        """Put *found* in place of all rows of these memories."""
        if again := self._known & memory_ids:
            gone = np.isin(self._columns[0], list(again))
            self._outdated += int(np.count_nonzero(gone & (self._columns[2] > 0)))
            self._columns[2, gone] = 0  # ended before all changes
        if found:
            self.matrix.add(PassageRow._make(row[:5]) for row in found)
            told = np.array([(row[1], *row[5:]) for row in found], np.int64).T
            self._columns = np.concatenate([self._columns, told], axis=1)
        self._known |= memory_ids
