"""How a reader of the past searches, on either engine: by the present where nothing has changed since.

The rest is few and comes from the engine's `PastIndex`: memories that have changed since the moment, as they were then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from mnemic.model.candidates import Ask, Statistics
from mnemic.model.change import Position
from mnemic.model.filter import Filter
from mnemic.storage.base import Nearness
from mnemic.storage.scale import best_of, scaled

if TYPE_CHECKING:
    from mnemic.model.vectors import Embedding, Reading, Vectors
    from mnemic.storage.source import Group

COUNTED_EXACTLY = 1_000
"""A word that fewer memories hold today is counted as it stood; of others the count of today is near enough."""
LEAST_IDF = 1e-6


class PastIndex(Protocol):
    """What has changed since a moment, as it was then. Each question comes with the reader's way to the rows."""

    @property
    def sequence(self) -> int:
        """The number of the change after which this was."""

    def changed(self, db: Any, memory_ids: Iterable[int], /) -> list[int]:
        """Those of these memories that have changed since, in any way."""

    def reworded(self, db: Any, memory_ids: Iterable[int], /) -> list[int]:
        """Those of these memories whose words have changed since."""

    def unreworded(self, db: Any, wanted: Filter, /) -> tuple[int, ...]:
        """The memories that have changed since, though not in their words, and passed *wanted* then."""

    def passing(self, db: Any, wanted: Filter, /) -> set[int]:
        """The memories that have changed since and passed *wanted* then."""

    def holding(self, db: Any, group: Group, idf: Callable[[int], float], /) -> dict[int, float]:
        """What a word adds to the BM25 of the memories that have other words now."""

    def nearest(
        self,
        db: Any,
        model: tuple[int, int],
        vector: Vectors,
        among: set[int],
        limit: int,
        at_least: float,
        /,
    ) -> list[Nearness]:
        """The nearest of the memories that have changed since."""

    def vectors(self, db: Any, model: tuple[int, int], memory_ids: Sequence[int], /) -> dict[int, Vectors]:
        """The vectors that statements of these memories had."""


class PastStore(Protocol):
    """What the reader asks of its store."""

    past_frequencies: PastFrequencies

    @property
    def used_models(self) -> tuple[str, ...]:
        """The names of the models whose vectors are compared."""

    def known_model(self, db: Any, name: str, /) -> tuple[int, int] | None:
        """The id and dimension of a current model; None while it has no vectors."""


class PresentReader(Protocol):
    """What the reader asks of the one of the present, for all that has not changed."""

    def at_one_moment(self) -> AbstractContextManager[None]:
        """A block whose answers come from one moment."""

    def best_words(self, ask: Ask, limit: int) -> dict[int, float]:
        """The BM25 of the best."""

    def shares_of(
        self, terms: Sequence[str], wanted: Filter, memory_ids: Sequence[int]
    ) -> list[dict[int, float]]:
        """What each term adds to the BM25 of these memories."""

    def statistics(self, terms: Sequence[str], namespaces: Sequence[str] | None) -> Statistics:
        """The document frequency of each term."""

    def spellings(self, term: str, limit: int, namespaces: Sequence[str] | None) -> list[str]:
        """Words that differ from *term* by one letter."""

    def models(self, wanted: Filter) -> list[str]:
        """The current models that have vectors."""

    def nearest(
        self, text: Embedding, wanted: Filter, *, limit: int, at_least: float = ...
    ) -> list[Nearness]:
        """The memories nearest to *text*."""

    def similarities(self, text: Embedding, memory_ids: Sequence[int]) -> dict[int, Nearness]:
        """How near each of these memories is."""

    def vectors(self, memory_ids: Sequence[int]) -> dict[int, Reading]:
        """The vectors of the statements of these memories."""


class PastSearch:
    """What a reader of the past answers by words and vectors. Word statistics are those of the present."""

    _db: Any
    _store: PastStore
    _past: PastIndex
    _present: PresentReader

    if TYPE_CHECKING:

        def _groups(self, terms: Sequence[str]) -> list[Group]: ...

    def _unchanged(self, wanted: Filter) -> Filter:
        """*wanted* among the memories that are today what they were."""
        return replace(wanted, unchanged_since=Position(number=self._past.sequence))

    def _same_words(self, wanted: Filter) -> Filter | None:
        """Those that have changed, but not in their words, and passed *wanted*; None if there are none."""
        numbers = self._past.unreworded(self._db, wanted)
        return Filter(ids=numbers, namespaces=wanted.namespaces) if numbers else None

    @contextmanager
    def at_one_moment(self) -> Iterator[None]:
        """One snapshot of the present for the block; the past does not change."""
        with self._present.at_one_moment():
            yield

    def best_words(self, ask: Ask, limit: int) -> dict[int, float]:
        """The BM25 of the *limit* best among memories that held every term (or any)."""
        unchanged = replace(ask, filter=self._unchanged(ask.filter))
        found = self._present.best_words(unchanged, limit)
        if same := self._same_words(ask.filter):
            most = limit if ask.weights is None else len(same.ids or ())
            found |= self._present.best_words(replace(ask, filter=same, weights=None), most)
        found |= self._past_words(ask.terms, ask.filter, every=ask.every)
        if ask.weights is not None:
            return found
        return dict(sorted(found.items(), key=lambda one: (-one[1], one[0]))[:limit])

    def _past_words(self, terms: Sequence[str], wanted: Filter, *, every: bool) -> dict[int, float]:
        """The BM25 of memories that have other words now and held every term (or any)."""
        passing = self._past.passing(self._db, wanted)
        if not passing or not terms:
            return {}
        each = self._past_each(terms, wanted.namespaces)
        held = set.intersection(*map(set, each)) if every else set().union(*each)
        return {number: sum(adds.get(number, 0.0) for adds in each) for number in held & passing}

    def _past_each(self, terms: Sequence[str], namespaces: Sequence[str] | None) -> list[dict[int, float]]:
        """For each term, what it adds to the BM25 of memories that have other words now."""
        today = self._present.statistics(terms, namespaces)
        return [
            self._past.holding(self._db, group, present_idf(today.total, today.holders, term))
            for term, group in zip(terms, self._groups(terms), strict=True)
        ]

    def shares_of(
        self, terms: Sequence[str], wanted: Filter, memory_ids: Sequence[int]
    ) -> list[dict[int, float]]:
        """For each term, what it adds to the BM25 of those of these memories that held it."""
        reworded = set(self._past.reworded(self._db, memory_ids))
        others = [number for number in memory_ids if number not in reworded]
        found = self._present.shares_of(terms, wanted, others)
        if not reworded:
            return found
        past = self._past_each(terms, wanted.namespaces)
        return [
            {**adds, **{number: one for number, one in then.items() if number in reworded}}
            for adds, then in zip(found, past, strict=True)
        ]

    def statistics(self, terms: Sequence[str], namespaces: Sequence[str] | None) -> Statistics:
        """Document frequency of each term then; of frequent words, and of all memories, the current figure."""
        today = self._present.statistics(terms, namespaces)
        holders = {term: self._frequency(term, namespaces, count) for term, count in today.holders.items()}
        return Statistics(today.total, holders)

    def _frequency(self, term: str, namespaces: Sequence[str] | None, today: int) -> int:
        if today >= COUNTED_EXACTLY:
            return today
        wanted = Filter(namespaces=None if namespaces is None else tuple(namespaces))
        return self._store.past_frequencies.of(self, term, wanted)

    def spellings(self, term: str, limit: int, namespaces: Sequence[str] | None) -> list[str]:
        """Current words that differ from *term* by one letter and occurred in memories then, likeliest first."""
        near = self._present.spellings(term, 4 * limit, namespaces)
        counts = self.statistics(near, namespaces).holders
        return [word for word in near if counts[word]][:limit]

    def models(self, wanted: Filter) -> list[str]:
        """The current models that have vectors, in the namespaces of *wanted* today or among changed versions."""
        return self._present.models(wanted) or [name for name, _ in self._models()]

    def _models(self) -> list[tuple[str, tuple[int, int]]]:
        known = ((name, self._store.known_model(self._db, name)) for name in self._store.used_models)
        return [(name, model) for name, model in known if model]

    def nearest(
        self, text: Embedding, wanted: Filter, *, limit: int, at_least: float = -math.inf
    ) -> list[Nearness]:
        """The *limit* memories that were nearest to *text*, of those that passed."""
        found = self._present.nearest(text, self._unchanged(wanted), limit=limit, at_least=at_least)
        then = self._past_nearest(text, self._past.passing(self._db, wanted), limit, at_least)
        return best_of([found, then], limit) if then else found

    def _past_nearest(
        self, text: Embedding, among: set[int], limit: int, at_least: float = -math.inf
    ) -> list[Nearness]:
        """The nearest of memories that have changed since."""
        if not among or limit < 1:
            return []
        models = dict(self._models())
        found = [
            scaled(
                one.scale,
                self._past.nearest(
                    self._db, models[one.model], one.vector, among, limit, one.scale.cosine(at_least)
                ),
            )
            for one in text.readings
            if one.model in models
        ]
        return best_of(found, limit) if found else []

    def similarities(self, text: Embedding, memory_ids: Sequence[int]) -> dict[int, Nearness]:
        """How near each of these memories was, for those that had vectors."""
        changed = set(self._past.changed(self._db, memory_ids))
        found = self._present.similarities(text, [number for number in memory_ids if number not in changed])
        then = self._past_nearest(text, self._living(changed), len(changed))
        return found | {near.memory_id: near for near in then}

    def _living(self, changed: set[int]) -> set[int]:
        """Those of these memories, which have changed since, that were living."""
        return changed & self._past.passing(self._db, Filter())

    def vectors(self, memory_ids: Sequence[int]) -> dict[int, Reading]:
        """The unit vector of each statement these memories had, by the statement's number."""
        from mnemic.model.vectors import Reading

        changed = set(self._past.changed(self._db, memory_ids))
        found = self._present.vectors([number for number in memory_ids if number not in changed])
        for name, model in self._models() if changed else ():
            then = self._past.vectors(self._db, model, sorted(self._living(changed)))
            found |= {number: Reading(name, vector) for number, vector in then.items()}
        return found


class PastFrequencies:
    """Document frequencies of rare words, counted again after each change of the present."""

    def __init__(self, newest: Callable[[], Position]):
        self._newest = newest
        self._counted: dict[tuple[str, Filter], tuple[Position, int]] = {}

    def of(self, reader: PastSearch, term: str, wanted: Filter) -> int:
        """The document frequency of *term* among the memories that passed *wanted*."""
        newest = self._newest()
        counted_at, count = self._counted.get((term, wanted), (None, 0))
        if counted_at != newest:
            count = len(
                reader.best_words(Ask(terms=(term,), filter=wanted, every=False), 2 * COUNTED_EXACTLY)
            )
            self._counted[term, wanted] = newest, count
        return count


def bm25_idf(total: int, holders: int) -> float:
    """How much a word counts that *holders* of *total* memories hold, as FTS5 reckons it."""
    return max(LEAST_IDF, math.log((total - holders + 0.5) / (holders + 0.5)))


def present_idf(total: int, holders: Mapping[str, int], term: str) -> Callable[[int], float]:
    """How much *term* counts today; a word that nothing holds today counts by those that held it then."""
    return lambda held: bm25_idf(max(total, held), holders[term] or held)
