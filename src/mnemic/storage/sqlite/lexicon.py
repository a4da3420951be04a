"""Ranked answers to words from memory: postings say who holds them, the ledger what else is told of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import apsw

from mnemic.model.search import Filter
from mnemic.numeric import np
from mnemic.storage.base import Match, Weights
from mnemic.storage.sqlite.arrays import Numbers, Scores, best, resized
from mnemic.storage.sqlite.ledger import Ledger
from mnemic.storage.sqlite.postings import Postings
from mnemic.storage.sqlite.words import Group, Scope


class Holding(NamedTuple):
    """The memories that hold any word of a question, or every one, by number, and the BM25 of each."""

    memories: Numbers
    bm25: Scores


class Lexicon:
    """What a store that is asked again and again keeps in memory of its words. Safe between threads."""

    def __init__(self) -> None:
        self._postings = Postings()
        self.ledger = Ledger()

    @property
    def wants_words(self) -> bool:
        """Whether what has not been asked for should be read ahead."""
        return self._postings.wants_words

    def read_ahead(self, connection: apsw.Connection) -> Iterator[None]:
        """Read, in short steps, what will be asked for."""
        self.ledger.read(connection)
        yield
        yield from self._postings.read_ahead(connection)

    def holding(
        self,
        connection: apsw.Connection,
        groups: Sequence[Group],
        scope: Scope,
        wanted: Filter,
        *,
        every: bool,
        can_read: bool,
        without: Sequence[int],
    ) -> Holding | None:
        """Who holds any of these words in *scope* and passes, but those that are to be left out.

        Or who holds *every* one; None if the index should be asked for it, since nothing can be read.
        """
        ranked = self._postings.ranked(connection, groups, scope, every=every, can_read=can_read)
        if ranked is None:
            return None
        memories, bm25 = ranked
        if wanted.is_plain and not without:
            return Holding(memories, bm25)
        stays = ~np.isin(memories, without)
        if not wanted.is_plain:
            # Whoever was purged a moment ago may still be among them, and in the ledger no more.
            size = int(memories.max(initial=0)) + 1
            stays &= resized(self.ledger.passing(connection, wanted), size)[memories]
        return Holding(memories[stays], bm25[stays])

    def each_word(
        self, connection: apsw.Connection, groups: Sequence[Group], scope: Scope, memory_ids: Sequence[int]
    ) -> list[dict[int, float]]:
        """For each word, what it adds to the BM25 of those of these memories that hold it."""
        return self._postings.each(connection, groups, scope, memory_ids)

    def holders(self, connection: apsw.Connection, groups: Iterable[Group], scope: Scope) -> dict[Group, int]:
        """How many memories of *scope* hold each word, but for those that stand in very many places."""
        return self._postings.holders(connection, groups, scope)

    def best(self, holding: Holding, limit: int) -> list[tuple[int, float]]:
        """The *limit* best by their words, best first."""
        chosen = best(limit, holding.bm25)
        return list(zip(holding.memories[chosen].tolist(), holding.bm25[chosen].tolist(), strict=True))

    def weighed(
        self, connection: apsw.Connection, holding: Holding, weights: Weights, limit: int
    ) -> list[Match]:
        """At least the *limit* best by their words and their merits together."""
        if len(holding.memories) <= limit:
            return self.ledger.of(connection, *holding)
        return self.ledger.best(connection, *holding, weights, limit)
