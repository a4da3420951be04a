"""How a reader of either engine answers `Reader.candidates`, from the few questions that its engine answers itself."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple

from mnemic.model.candidates import WORD_DEPTH, Ask, Candidate, Candidates
from mnemic.model.filter import LIVING_ONLY, Filter
from mnemic.storage.base import Nearness, Traits

if TYPE_CHECKING:
    from mnemic.model.vectors import Embedding, Reading

NO_TRAITS = Traits(1.0, None, 0)


class _Matches(NamedTuple):
    """How well memories match by words and by vectors, and their places."""

    by_words: Mapping[int, float]
    near: Mapping[int, Nearness]
    words_ranks: Mapping[int, int]
    near_ranks: Mapping[int, int]


class CandidateReader(ABC):
    """The candidates of a question: the best by words and the nearest, each with what a ranking asks for."""

    @property
    def needs_rows(self) -> bool:
        """Whether each candidate has to be looked up among the memories: an index may hold more than is visible."""
        return False

    def candidates(self, ask: Ask) -> Candidates:
        """The memories that *ask* describes, with what it wants of each, all from one moment."""
        with self.at_one_moment():
            return self._found(ask) if ask.ids is None else self._given(ask, ask.ids)

    def _found(self, ask: Ask) -> Candidates:
        """The best by words and the nearest."""
        limit = ask.depth if ask.text is None else max(WORD_DEPTH, ask.depth)
        by_words = self.best_words(ask, limit) if ask.terms and ask.depth > 0 else {}
        best = list(by_words) if ask.weights else list(by_words)[: ask.depth]
        near: dict[int, Nearness] = {}
        if ask.text is not None:
            nearest = self.nearest(ask.text, ask.filter, limit=ask.depth, at_least=ask.min_similarity)
            near = {one.memory_id: one for one in nearest}
        near_ranks = _ranks(near)
        if ask.text is not None:
            near |= self.similarities(ask.text, [number for number in best if number not in near])
        numbers = list(dict.fromkeys((*best, *near)))
        return self._described(ask, numbers, _Matches(by_words, near, _ranks(best), near_ranks))

    def _given(self, ask: Ask, memory_ids: Sequence[int]) -> Candidates:
        """Exactly these memories."""
        near = {} if ask.text is None else self.similarities(ask.text, memory_ids)
        if ask.text is not None and ask.filter.states != LIVING_ONLY:
            near |= self._left_similarities(ask.text, [one for one in memory_ids if one not in near])
        return self._described(ask, list(memory_ids), _Matches({}, near, {}, {}))

    def _described(self, ask: Ask, memory_ids: Sequence[int], found: _Matches) -> Candidates:
        """These memories with what *ask* wants of each; with traits, without those that have none."""
        has_traits = ask.has_traits or self.needs_rows
        traits = self._traits(memory_ids) if has_traits else dict.fromkeys(memory_ids, NO_TRAITS)
        placed = [number for number, one in traits.items() if one.session_id is not None]
        beside = self._neighbours(placed) if placed else {}
        statements = [one.statement_id for one in found.near.values()]
        openings = self._openings(statements, ask.opening) if ask.opening and statements else {}
        vectors = self.vectors(memory_ids) if ask.has_vectors else {}
        shares = self.shares_of(ask.shares, ask.filter, list(traits)) if ask.shares else []
        rows = {}
        for number in (number for number in memory_ids if number in traits):
            near = found.near.get(number)
            similarity, statement = (near.similarity, near.statement_id) if near else (0.0, None)
            rows[number] = Candidate(
                number,
                found.by_words.get(number, 0.0),
                similarity,
                statement,
                found.words_ranks.get(number),
                found.near_ranks.get(number),
                *traits[number],
                beside.get(number, ()),
                "" if statement is None else openings.get(statement, ""),
                None if statement is None else vectors.get(statement),
            )
        return Candidates(rows, tuple(shares))

    # -- what an engine answers

    @abstractmethod
    def at_one_moment(self) -> AbstractContextManager[None]:
        """Everything this reader answers in the block comes from one moment."""

    @abstractmethod
    def best_words(self, ask: Ask, limit: int) -> dict[int, float]:
        """The BM25 of the *limit* best that hold every term (or any), best first."""

    @abstractmethod
    def shares_of(
        self, terms: Sequence[str], wanted: Filter, memory_ids: Sequence[int]
    ) -> list[dict[int, float]]:
        """For each term, what it adds to the BM25 of those of these memories that hold it."""

    @abstractmethod
    def nearest(
        self, text: Embedding, wanted: Filter, *, limit: int, at_least: float = -math.inf
    ) -> list[Nearness]:
        """The *limit* memories nearest to *text* by their best passage, of those that pass."""

    @abstractmethod
    def similarities(self, text: Embedding, memory_ids: Sequence[int]) -> dict[int, Nearness]:
        """How near each of these memories is, for those that have vectors."""

    @abstractmethod
    def _left_similarities(self, text: Embedding, memory_ids: Sequence[int]) -> dict[int, Nearness]:
        """The same for memories that have left the index, by the vectors they left it with."""

    @abstractmethod
    def vectors(self, memory_ids: Sequence[int]) -> dict[int, Reading]:
        """The unit vector of each statement of these living memories that has one, by the statement's number."""

    @abstractmethod
    def _traits(self, memory_ids: Sequence[int]) -> dict[int, Traits]:
        """The traits of these memories; unknown numbers are left out."""

    @abstractmethod
    def _neighbours(self, memory_ids: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """For each of these memories that belongs to a session: the living ones right before and after it."""

    @abstractmethod
    def _openings(self, statement_ids: Sequence[int], characters: int) -> dict[int, str]:
        """The first *characters* of these statements."""


def _ranks(numbers: Iterable[int]) -> dict[int, int]:
    """The place of each number, from 1."""
    return {number: rank for rank, number in enumerate(numbers, 1)}
