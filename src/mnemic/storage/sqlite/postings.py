"""The words index in memory: which memories hold a word, and what it adds to the rank of each.

BM25 is a sum over the words that are asked for, and what one of them adds does not depend on the others. So the index
is asked for one word at a time, by its own rules, and its answers are kept: a question whose words were asked before
costs the sum of a few columns where a walk through the index takes ten times as long.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import apsw
import numpy as np
import numpy.typing as npt
import orjson

from mnemic.storage.sqlite import journal
from mnemic.storage.sqlite.connection import one_moment
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.rows import Row, rows
from mnemic.storage.sqlite.words import HELD_BY, RANK, match_expression

Numbers = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]
Spaces = tuple[int, ...] | None

MOST_KEPT = 1_000_000
"""So many pairs of a word and a memory are kept, at 16 bytes each."""
SPARSE = 10
"""To sort one number takes as long as to look at so many places, one for every number up to the largest."""
# All in one row: at each row others may take the interpreter, and threads that search at once do.
ALL = f"""
SELECT json_group_array(number), json_group_array(adds)
FROM (SELECT rowid AS number, -{RANK} AS adds FROM words WHERE words MATCH ? LIMIT -1)
"""
SOME = f"""
SELECT json_group_array(number), json_group_array(adds) FROM ({HELD_BY.rstrip()} LIMIT -1)
"""


class Posting(NamedTuple):
    """The memories that hold a word, by number; what it adds to each; how many changes that takes into account."""

    memories: Numbers
    adds: Scores
    seen: int

    def among(self, memories: Numbers) -> dict[int, float]:
        """What the word adds to those of *memories* that hold it."""
        if not len(self.memories):
            return {}
        places = np.searchsorted(self.memories, memories)
        holds = self.memories.take(places, mode="clip") == memories
        return dict(zip(memories[holds].tolist(), self.adds[places[holds]].tolist(), strict=True))

    @property
    def size(self) -> int:
        """As how many pairs of a word and a memory it counts; a word that nobody holds takes room too."""
        return len(self.memories) + 25


class Postings:
    """What the index says of the words that were asked for last. One instance a store, safe between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sequence = 0
        self._changed: list[int] = []
        self._kept: OrderedDict[tuple[str, Spaces], Posting] = OrderedDict()
        self._size = 0

    def ranked(
        self, connection: apsw.Connection, terms: Sequence[str], spaces: Spaces, total: int
    ) -> tuple[Numbers, Scores]:
        """The memories that hold any of *terms*, by number, and the BM25 of each."""
        return _summed(self.of(connection, terms, spaces, total))

    def of(
        self, connection: apsw.Connection, terms: Sequence[str], spaces: Spaces, total: int
    ) -> list[Posting]:
        """What is known of each of *terms*.

        Who holds a word is as of now. How much the word weighs may be as of a while ago, while less than one in a
        hundred of *total* memories has changed.
        """
        with self._lock:
            postings = self._all_current(connection, terms, spaces)
            if postings is None:
                with one_moment(connection):
                    self._follow(connection, total)
                    postings = [self._brought_up(connection, term, spaces) for term in terms]
                self._let_go()
        return postings

    def _all_current(
        self, connection: apsw.Connection, terms: Sequence[str], spaces: Spaces
    ) -> list[Posting] | None:
        """What is kept of *terms*; None if something has changed or is missing."""
        if journal.last(connection)[0] != self._sequence:
            return None
        current = [posting for term in terms if (posting := self._current(term, spaces))]
        return current if len(current) == len(terms) else None

    def _current(self, term: str, spaces: Spaces) -> Posting | None:
        """What is kept of *term*, if nothing has changed since."""
        kept = self._kept.get((term, spaces))
        if kept is None or kept.seen != len(self._changed):
            return None
        self._kept.move_to_end((term, spaces))
        return kept

    def _follow(self, connection: apsw.Connection, total: int) -> None:
        """Learn which memories have changed. After so many that a word may weigh differently, begin anew."""
        sequence = journal.last(connection)[0]
        if sequence == self._sequence:
            return
        if self._kept:
            self._changed += journal.reworded(connection, self._sequence)
        self._sequence = sequence
        if len(self._changed) * 100 > total:
            self._kept.clear()
            self._changed.clear()
            self._size = 0

    def _brought_up(self, connection: apsw.Connection, term: str, spaces: Spaces) -> Posting:
        if current := self._current(term, spaces):
            return current
        expression = match_expression([term], spaces, every=False)
        kept = self._kept.pop((term, spaces), None)
        seen = len(self._changed)
        if kept is None:
            fresh = _posting(rows(connection, ALL, (expression,)), seen)
        else:
            self._size -= kept.size
            late = self._changed[kept.seen :]
            fresh = _patched(kept, late, rows(connection, SOME, (expression, as_json(late))), seen)
        self._kept[term, spaces] = fresh
        self._size += fresh.size
        return fresh

    def _let_go(self) -> None:
        """Forget the words that were asked for longest ago, when too much is kept."""
        while self._size > MOST_KEPT:
            _, gone = self._kept.popitem(last=False)
            self._size -= gone.size


def _posting(found: list[Row], seen: int) -> Posting:
    [(numbers, adds)] = found
    return Posting(np.array(orjson.loads(numbers), np.int64), np.array(orjson.loads(adds), np.float64), seen)


def _patched(kept: Posting, late: Sequence[int], found: list[Row], seen: int) -> Posting:
    """*kept* with what it says of the memories in *late* replaced by what was *found*."""
    stays = ~np.isin(kept.memories, late)
    fresh = _posting(found, seen)
    memories = np.concatenate([kept.memories[stays], fresh.memories])
    adds = np.concatenate([kept.adds[stays], fresh.adds])
    order = np.argsort(memories, kind="stable")
    return Posting(memories[order], adds[order], seen)


def _summed(postings: Sequence[Posting]) -> tuple[Numbers, Scores]:
    memories = np.concatenate([posting.memories for posting in postings])
    adds = np.concatenate([posting.adds for posting in postings])
    if len(memories) * SPARSE < memories.max(initial=0):
        found, places = np.unique(memories, return_inverse=True)
        return found, _sums(places, adds)
    sums = _sums(memories, adds)
    found = np.flatnonzero(sums)
    return found, sums[found]


def _sums(places: Numbers, adds: Scores) -> Scores:
    return np.bincount(places, adds).astype(np.float64, copy=False)


def best(scores: Scores, limit: int) -> Numbers:
    """The places of the *limit* best, best first; of equal ones the first."""
    if limit >= len(scores):
        return np.argsort(-scores, kind="stable")
    least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    above, level = np.flatnonzero(scores > least), np.flatnonzero(scores == least)
    chosen = np.sort(np.concatenate([above, level[: limit - len(above)]]))
    return chosen[np.argsort(-scores[chosen], kind="stable")]
