"""What has changed since a moment, as it was then: which memories, their words and their vectors.

A question about the past is answered by the index of the present for all that has not changed since, and from here for
the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from mnemic.model.filter import Filter
from mnemic.storage.base import Nearness
from mnemic.storage.index_port import K1, B
from mnemic.storage.postgres import memories, words
from mnemic.storage.postgres.connection import Executor
from mnemic.storage.postgres.rows import column, rows, value
from mnemic.storage.source import PassageRow

if TYPE_CHECKING:
    from mnemic.model.vectors import Vectors
    from mnemic.storage.index_port import Index, Matrix
    from mnemic.storage.source import Group

CHANGED = """
SELECT DISTINCT id FROM mnemic.memory_past WHERE id = ANY(%(ids)s::bigint[]) AND until > %(sequence)s
"""
REWORDED = CHANGED + "AND worded IS NOT NULL"
PASSING = """
SELECT m.id FROM mnemic.memory_past m WHERE m.until > %(sequence)s AND m.since <= %(sequence)s AND {conditions}
"""
# Words that had begun at the moment and ended after it, as the first of the memory's to do so.
HOLDING = """
SELECT w.memory_id, w.length, w.tokens, w.times, w.places
FROM mnemic.words_past w
JOIN mnemic.memory_past p ON p.namespace_id = w.namespace_id AND p.id = w.memory_id AND p.version = w.version
WHERE w.tokens @> %(tokens)s::text[] AND p.until > %(sequence)s AND p.worded <= %(sequence)s
  AND NOT EXISTS (SELECT 1 FROM mnemic.memory_past o
    WHERE o.id = p.id AND o.until > %(sequence)s AND o.until < p.until AND o.worded IS NOT NULL)
"""
MEAN_LENGTH = """
SELECT coalesce(avg(length), 1)::float8 FROM mnemic.words
"""
PASSAGES = """
SELECT p.id, p.memory_id, p.statement_id, 0, p.vector
FROM mnemic.statement s JOIN mnemic.passage p
  ON p.namespace_id = s.namespace_id AND p.memory_id = s.memory_id AND p.statement_id = s.id
WHERE p.model_id = %(model)s AND s.since <= %(sequence)s AND (s.until IS NULL OR s.until > %(sequence)s)
  AND s.memory_id = ANY(%(ids)s::bigint[])
"""


class PastIndex:
    """What has changed after one change of the journal."""

    def __init__(self, sequence: int, index: Index):
        self.sequence = sequence
        self._index = index

    def changed(self, db: Executor, memory_ids: Iterable[int]) -> list[int]:
        """Those of these memories that have changed since, in any way."""
        return column(db, CHANGED, {"ids": list(memory_ids), "sequence": self.sequence})

    def reworded(self, db: Executor, memory_ids: Iterable[int]) -> list[int]:
        """Those of these memories whose words have changed since."""
        return column(db, REWORDED, {"ids": list(memory_ids), "sequence": self.sequence})

    def passing(self, db: Executor, wanted: Filter) -> set[int]:
        """The memories that have changed since and passed *wanted* then."""
        conditions, values = memories.where(wanted, db.here)
        values["sequence"] = self.sequence
        return set(column(db, PASSING.format(conditions=conditions), values))

    def unreworded(self, db: Executor, wanted: Filter) -> tuple[int, ...]:
        """Those that passed *wanted* then and have changed since, but not in their words, which are indexed today."""
        passing = self.passing(db, wanted)
        return tuple(sorted(passing - set(self.reworded(db, passing)))) if passing else ()

    def holding(self, db: Executor, group: Group, idf: Callable[[int], float]) -> dict[int, float]:
        """The memories that held a word then and have other words now, and what it added to the BM25 of each.

        The statistics are those of the present: *idf* is the weight of a word by its document frequency.
        """
        mean = float(value(db, MEAN_LENGTH))
        adds: dict[int, float] = {}
        for form in group:
            phrase = tuple(words.tokens(form))
            found = rows(db, HOLDING, {"tokens": list(phrase), "sequence": self.sequence}) if phrase else []
            for number, length, tokens, times, places in found:
                often = (
                    times[tokens.index(phrase[0])]
                    if len(phrase) == 1
                    else words.phrase_times(phrase, tokens, places)
                )
                damping = K1 * (1 - B + B * length / mean)
                adds[number] = max(adds.get(number, 0.0), often * (K1 + 1) / (often + damping))
        adds = {number: frequency for number, frequency in adds.items() if frequency}
        weight = idf(len(adds))
        return {number: weight * frequency for number, frequency in adds.items()}

    def nearest(
        self,
        db: Executor,
        model: tuple[int, int],
        vector: Vectors,
        among: Iterable[int],
        limit: int,
        at_least: float = -math.inf,
    ) -> list[Nearness]:
        """The *limit* nearest of these memories, which have changed since, by the statements they had then."""
        return self._matrix(db, model, list(among)).nearest(vector, limit, at_least=at_least)

    def vectors(self, db: Executor, model: tuple[int, int], memory_ids: Sequence[int]) -> dict[int, Vectors]:
        """The vectors of the statements these memories had then, by the statement's number."""
        return self._matrix(db, model, memory_ids).of(memory_ids)

    def _matrix(self, db: Executor, model: tuple[int, int], memory_ids: Sequence[int]) -> Matrix:
        values = {"model": model[0], "ids": list(memory_ids), "sequence": self.sequence}
        return self._index.matrix_of(*model, map(PassageRow._make, rows(db, PASSAGES, values)))
