"""What has changed since a moment, as it was then: which memories, their words and their vectors.

A question about the past is answered by the index of the present for all that has not changed since, and from here for
the rest. So the first question about a moment reads what has changed since; later ones read what changed meanwhile.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import apsw

from mnemic.model.filter import Filter
from mnemic.storage.base import Nearness
from mnemic.storage.past_search import bm25_idf
from mnemic.storage.source import PassageRow
from mnemic.storage.sqlite import fts, memories
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.rows import column, rows, value

if TYPE_CHECKING:
    from mnemic.model.vectors import Vectors
    from mnemic.storage.index import Index, Matrix
    from mnemic.storage.source import Group

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
_PASSAGES = """
SELECT p.id, s.memory_id, s.id, 0, p.vector
FROM main.statement s CROSS JOIN main.passage p ON p.statement_id = s.id
WHERE p.model_id = :model AND s.since <= :sequence AND (s.until IS NULL OR s.until > :sequence) AND
"""
PASSAGES_OF = _PASSAGES + "s.memory_id IN (SELECT value FROM json_each(:ids)) AND p.id <= :passage"
LATE_PASSAGES = """
SELECT p.id, s.memory_id, s.id, 0, p.vector
FROM main.passage p CROSS JOIN main.statement s ON s.id = p.statement_id
WHERE p.id > :known_passage AND p.id <= :passage AND p.model_id = :model
  AND s.since <= :sequence AND (s.until IS NULL OR s.until > :sequence)
"""


class PastIndex:
    """What has changed after one change of the journal. Safe between threads."""

    def __init__(self, sequence: int, index: Index):
        self.sequence = sequence
        self._index = index
        self._lock = threading.Lock()
        self._newest = 0
        self._changed: set[int] = set()
        self._reworded: set[int] = set()
        self._wordings: dict[int, int] = {}
        self._passing: dict[Filter, tuple[int, set[int]]] = {}
        self._vectors: dict[int, _Vectors] = {}

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
        with self._lock:
            matrix = self._matrix(connection, model)
            return matrix.nearest(vector, limit, only=list(among), at_least=at_least)

    def vectors(
        self, connection: apsw.Connection, model: tuple[int, int], memory_ids: Sequence[int]
    ) -> dict[int, Vectors]:
        """The vectors of the statements these memories had then, by the statement's number."""
        with self._lock:
            return self._matrix(connection, model).of(memory_ids)

    def _matrix(self, connection: apsw.Connection, model: tuple[int, int]) -> Matrix:
        self._follow(connection)
        if model[0] not in self._vectors:
            self._vectors[model[0]] = _Vectors(self._index, model, self.sequence)
        kept = self._vectors[model[0]]
        kept.follow(connection, self._changed)
        return kept.matrix


class _Vectors:
    """The vectors that memories which have changed since had then, by one model."""

    def __init__(self, index: Index, model: tuple[int, int], sequence: int):
        self.matrix: Matrix = index.matrix_of(*model, ())
        self._model = model[0]
        self._sequence = sequence
        self._known: set[int] = set()
        self._passage = 0

    def follow(self, connection: apsw.Connection, changed: set[int]) -> None:
        """Read the vectors of memories that have changed meanwhile, and those that came late."""
        passage = int(value(connection, NEWEST_PASSAGE))
        values: dict[str, Any] = {
            "model": self._model,
            "sequence": self._sequence,
            "passage": passage,
            "known_passage": self._passage,
        }
        if self._known and passage > self._passage:
            late = map(PassageRow._make, rows(connection, LATE_PASSAGES, values))
            self.matrix.add(one for one in late if one.memory_id in self._known)
        if fresh := changed - self._known:
            cursor = connection.execute(PASSAGES_OF, {**values, "ids": as_json(sorted(fresh))})
            self.matrix.add(map(PassageRow._make, cursor))
            self._known |= fresh
        self._passage = passage
