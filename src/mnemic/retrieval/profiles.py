"""Profiles: how the numbers a candidate has become one score."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from mnemic.model.search import Query
from mnemic.retrieval.candidates import Candidate, gather
from mnemic.storage.base import Reader, Traits

if TYPE_CHECKING:
    from mnemic.embedding.base import Vectors


class Scored(NamedTuple):
    """A memory's score and the terms it is made of."""

    memory_id: int
    score: float
    terms: Mapping[str, float]


class Profile(Protocol):
    """A way to find candidates and to score them."""

    def candidates(self, reader: Reader, query: Query, vector: Vectors | None) -> Mapping[int, Candidate]:
        """The memories it looks at."""

    def scored(self, reader: Reader, query: Query, candidates: Mapping[int, Candidate]) -> list[Scored]:
        """The candidates it lets through, scored."""


@dataclass(frozen=True, slots=True)
class House:
    """Meaning and words blended, weighed by confidence, seen together with what was said around it.

    A memory that belongs to a session gains from the ones right before and after it, and from the best of its
    session: the answer to a question often stands beside the sentence that resembles it. The figures were chosen
    on the dev halves of LongMemEval, LoCoMo, BEAM and SciFact together; `bench/retrieval.py` prints the table.
    """

    depth: int = 100
    semantic: float = 0.65
    words: float = 0.35
    beside: float = 0.1
    session: float = 0.3
    session_best: int = 3
    least_cosine: float = 0.25

    def candidates(self, reader: Reader, query: Query, vector: Vectors | None) -> Mapping[int, Candidate]:
        """See Profile."""
        return gather(reader, query, vector, max(self.depth, query.limit))

    def scored(self, reader: Reader, query: Query, candidates: Mapping[int, Candidate]) -> list[Scored]:
        """See Profile."""
        relevant = self._relevant(candidates)
        traits = reader.traits(list(relevant))
        own = self._own(relevant, traits)
        sessions = self._sessions(own, traits)
        beside = self._beside(reader, own, traits) if sessions else {}
        return [
            self._sum(number, terms, beside.get(number, 0.0), sessions.get(traits[number].session_id, 0.0))
            for number, terms in own.items()
        ]

    def _relevant(self, candidates: Mapping[int, Candidate]) -> dict[int, Candidate]:
        return {
            number: candidate
            for number, candidate in candidates.items()
            if candidate.bm25 > 0 or candidate.cosine >= self.least_cosine
        }

    def _own(
        self, candidates: Mapping[int, Candidate], traits: Mapping[int, Traits]
    ) -> dict[int, dict[str, float]]:
        """What each candidate is worth by itself."""
        top = max((candidate.bm25 for candidate in candidates.values()), default=0.0) or 1.0
        return {
            number: {
                "semantic": self.semantic * max(0.0, candidate.cosine) * traits[number].confidence,
                "words": self.words * candidate.bm25 / top * traits[number].confidence,
            }
            for number, candidate in candidates.items()
            if number in traits
        }

    def _sessions(
        self, own: Mapping[int, Mapping[str, float]], traits: Mapping[int, Traits]
    ) -> dict[int | None, float]:
        """What the best candidates of each session lend to all of it."""
        scores: defaultdict[int | None, list[float]] = defaultdict(list)
        for number, terms in own.items():
            if traits[number].session_id is not None:
                scores[traits[number].session_id].append(sum(terms.values()))
        return {
            session: self.session * sum(heapq.nlargest(self.session_best, values)) / self.session_best
            for session, values in scores.items()
        }

    def _beside(
        self, reader: Reader, own: Mapping[int, Mapping[str, float]], traits: Mapping[int, Traits]
    ) -> dict[int, float]:
        """What the neighbours of each candidate lend to it."""
        placed = [number for number in own if traits[number].session_id is not None]
        return {
            number: self.beside * sum(sum(own[near].values()) for near in around if near in own)
            for number, around in reader.neighbours_in_session(placed).items()
        }

    def _sum(self, number: int, own: Mapping[str, float], beside: float, session: float) -> Scored:
        terms = {**own, "beside": beside, "session": session} if beside or session else own
        return Scored(number, sum(terms.values()), terms)


HOUSE = House()
