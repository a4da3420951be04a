"""Profiles: how the numbers a candidate has become one score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from mnemic.model.search import Query
from mnemic.retrieval.candidates import Candidate
from mnemic.storage.base import Reader


@dataclass(frozen=True, slots=True)
class Scored:
    """A memory's score and its terms, which add up to it."""

    memory_id: int
    score: float
    terms: Mapping[str, float]


class Profile(Protocol):
    """A way to score candidates."""

    @property
    def depth(self) -> int:
        """How many candidates of each source it looks at."""

    def scored(self, reader: Reader, query: Query, candidates: Mapping[int, Candidate]) -> list[Scored]:
        """The candidates it lets through, scored."""


@dataclass(frozen=True, slots=True)
class House:
    """A blend of meaning and words, relative to the best of the pool; silent when nothing is relevant."""

    depth: int = 200
    semantic: float = 0.6
    words: float = 0.4
    least_cosine: float = 0.25

    def scored(self, reader: Reader, query: Query, candidates: Mapping[int, Candidate]) -> list[Scored]:
        """See Profile."""
        top = max((candidate.bm25 for candidate in candidates.values()), default=0.0) or 1.0
        return [
            self._score(candidate, top)
            for candidate in candidates.values()
            if candidate.bm25 > 0 or candidate.cosine >= self.least_cosine
        ]

    def _score(self, candidate: Candidate, top: float) -> Scored:
        terms = {
            "semantic": self.semantic * max(0.0, candidate.cosine),
            "words": self.words * candidate.bm25 / top,
        }
        return Scored(candidate.memory_id, sum(terms.values()), terms)


HOUSE = House()
