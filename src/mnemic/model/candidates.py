"""Search at the store: what a ranking asks for in one call, and the candidates it gets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from mnemic.model.filter import Filter
from mnemic.model.time import Moment
from mnemic.model.vectors import Embedding, Reading

WORD_DEPTH = 500
"""BM25 is known of so many of the best by words. What vectors find beyond that has no telling word: it counts as 0."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """How many living memories some namespaces have, and how many of them hold each of some terms."""

    total: int
    """To within a twentieth."""
    holders: Mapping[str, int]
    """Of frequent terms to within a tenth; 0 for a term that stands nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much each attribute of a memory adds to the BM25 of its words."""

    priority: float
    use: float
    """For each use, up to `most_uses` of them."""
    most_uses: int
    confidence: float
    tiers: Mapping[str, float]
    aging: float
    """How fast the 1.0 of a memory that was just changed falls with the days."""
    now: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Which memories are candidates, and which attributes of each are needed."""

    filter: Filter = field(default_factory=Filter)
    terms: tuple[str, ...] = ()
    """Words or phrases; no character in them is syntax. A `tokenizer.Word` is found by its stems too."""
    every: bool = False
    """Whether a match holds every term, not just any."""
    weights: Weights | None = None
    """Rank matches by BM25 plus these, not by BM25 alone. Of very many, those may be missed that lack in BM25."""
    text: Embedding | None = None
    """Compared with the vectors of each of its models."""
    depth: int = 0
    """The best so many by words and the nearest so many by vectors are candidates."""
    min_similarity: float = -math.inf
    """The similarity the nearest need; those found by words need none."""
    ids: tuple[int, ...] | None = None
    """No search: these memories are the candidates. The filter only names the namespaces of the word statistics.

    If its states are not the living alone, memories that have left are compared by the vectors they left with.
    """
    shares: tuple[str, ...] = ()
    """Terms whose part of the BM25 is wanted of each candidate."""
    has_traits: bool = False
    """Whether confidence, session, time and neighbours are wanted."""
    opening: int = 0
    """Characters of the best statement to return."""
    has_vectors: bool = False
    """Whether the vector of the best statement is wanted."""


# A recall makes hundreds of these, and a frozen dataclass takes four times as long to make as a tuple.
class Candidate(NamedTuple):
    """A memory that may answer: how well its words and its vectors match, and the attributes that were asked for."""

    memory_id: int
    bm25: float = 0.0
    """By the statistics of the namespaces of the filter; 0 if it is not among the best WORD_DEPTH."""
    cosine: float = 0.0
    """Similarity of its best passage, on the scale that all models share."""
    statement_id: int | None = None
    """The statement of that passage; None if it has no vector."""
    words_rank: int | None = None
    """Its place among the best by words, from 1."""
    near_rank: int | None = None
    """Its place among the nearest, from 1."""
    confidence: float = 1.0
    session_id: int | None = None
    occurred_at: Moment = 0
    beside: tuple[int, ...] = ()
    """The living memories right before and after it in its session."""
    opening: str = ""
    vector: Reading | None = None

    @property
    def distance(self) -> float:
        """How far its best passage lies from the question: 0 is the same, 2 the opposite."""
        return 1.0 - self.cosine


@dataclass(frozen=True, slots=True)
class Candidates:
    """The answer to an `Ask`, all of it from one moment."""

    rows: Mapping[int, Candidate]
    """By memory: the best by words first, then the nearest."""
    shares: tuple[Mapping[int, float], ...] = ()
    """For each of the terms asked for, what it adds to the BM25 of the candidates that hold it."""
