"""What speaks for each memory whatever the question, in columns: to weigh hundreds of matches takes one step."""

from __future__ import annotations

import threading
from itertools import islice
from typing import Any

import apsw
import numpy as np
import numpy.typing as npt

from mnemic.model.values import DAY, Tier
from mnemic.storage.base import Match, Weights
from mnemic.storage.sqlite import journal
from mnemic.storage.sqlite.arrays import Numbers, Scores
from mnemic.storage.sqlite.connection import one_moment
from mnemic.storage.sqlite.memories import MERITS, SOME_MERITS, as_json
from mnemic.storage.sqlite.postings import best
from mnemic.storage.sqlite.rows import Row, rows

STRETCH = 4096
TIERS = {str(tier): code for code, tier in enumerate(Tier)}


class Ledger:
    """The merits of all memories, each in the place of its number. One instance a store, safe between threads.

    Who follows the journal hears of everything but mere counting, so a memory may have been used more often than
    stands here. That decides at most who is looked at: what is answered is read anew.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sequence = 0
        self._reserve(1024)

    def _reserve(self, capacity: int) -> None:
        self._priorities = np.zeros(capacity, np.float64)
        self._confidences = np.zeros(capacity, np.float64)
        self._uses = np.zeros(capacity, np.float64)
        self._tiers = np.zeros(capacity, np.int8)
        self._changes = np.zeros(capacity, np.int64)

    def _columns(self) -> tuple[npt.NDArray[Any], ...]:
        return (self._priorities, self._confidences, self._uses, self._tiers, self._changes)

    def best(
        self, connection: apsw.Connection, memories: Numbers, bm25: Scores, weights: Weights, limit: int
    ) -> list[Match]:
        """The *limit* best of *memories* by their words and merits together, in any order."""
        with self._lock:
            self._follow(connection)
            chosen = best(self._weighed(memories, bm25, weights), limit)
            words = dict(zip(memories[chosen].tolist(), bm25[chosen].tolist(), strict=True))
            found = rows(connection, SOME_MERITS, (as_json(list(words)),))
            self._uses[[row[0] for row in found]] = [row[3] for row in found]
        return [Match(row[0], words[row[0]], *row[1:]) for row in found]

    def _follow(self, connection: apsw.Connection) -> None:
        """Take in what has changed since the last time."""
        if journal.last(connection)[0] == self._sequence:
            return
        with one_moment(connection):
            sequence = journal.last(connection)[0]
            if self._sequence:
                changed = as_json(journal.changed(connection, self._sequence))
                self._note(rows(connection, SOME_MERITS, (changed,)))
            else:
                cursor = connection.execute(MERITS)
                while some := list(islice(cursor, STRETCH)):
                    self._note(some)
        self._sequence = sequence

    def _note(self, found: list[Row]) -> None:
        if not found:
            return
        numbers, priorities, confidences, uses, tiers, changes = zip(*found, strict=True)
        places = np.array(numbers)
        if (largest := int(places.max())) >= len(self._tiers):
            self._grow(max(largest + 1, 2 * len(self._tiers)))
        self._priorities[places] = priorities
        self._confidences[places] = confidences
        self._uses[places] = uses
        self._tiers[places] = [TIERS[tier] for tier in tiers]
        self._changes[places] = changes

    def _grow(self, capacity: int) -> None:
        kept = self._columns()
        self._reserve(capacity)
        for old, new in zip(kept, self._columns(), strict=True):
            new[: len(old)] = old

    def _weighed(self, memories: Numbers, bm25: Scores, weights: Weights) -> Scores:
        days = np.maximum(0, weights.now - self._changes[memories]) / DAY
        boosts = np.array([weights.tiers.get(tier, 0.0) for tier in TIERS])
        weighed: Scores = (
            bm25
            + weights.priority * self._priorities[memories]
            + weights.use * np.minimum(self._uses[memories], weights.most_uses)
            + weights.confidence * self._confidences[memories]
            + boosts[self._tiers[memories]]
            + 1.0 / (1.0 + weights.aging * days)
        )
        return weighed
