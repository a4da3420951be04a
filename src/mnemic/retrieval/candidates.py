"""Gathering candidates: what the words find, what the vectors find, and both numbers for each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mnemic.model.search import Query
from mnemic.retrieval.text import MAX_TERMS, query_terms
from mnemic.storage import text
from mnemic.storage.base import Reader

if TYPE_CHECKING:
    from mnemic.embedding.base import Embedding

WORD_DEPTH = 500
"""Deep enough that a memory the vectors found without any telling word has no score worth knowing."""


class Candidate(NamedTuple):
    """A memory that may answer, with what each source says of it."""

    memory_id: int
    bm25: float = 0.0
    cosine: float = 0.0
    statement_id: int | None = None
    near_rank: int | None = None
    """Its place among the nearest, from 1, where a profile asks for places."""
    words_rank: int | None = None
    """Its place among those that hold every word."""

    @property
    def distance(self) -> float:
        """How far its best passage lies from the question: 0 is the same, 2 the opposite."""
        return 1.0 - self.cosine


def gather(reader: Reader, query: Query, vector: Embedding | None, depth: int) -> dict[int, Candidate]:
    """The union of the *depth* best by words and by vectors, each with both numbers."""
    terms = query_terms(reader, query.text).all
    by_words = dict(reader.words(terms, query.filter, every=False, limit=max(WORD_DEPTH, depth)))
    best = list(by_words)[:depth]
    if vector is None:
        return {number: Candidate(number, by_words[number]) for number in best}
    near = {found.memory_id: found for found in reader.nearest(vector, query.filter, limit=depth)}
    near |= reader.similarities(vector, [number for number in best if number not in near])
    return {
        number: Candidate(
            number,
            by_words.get(number, 0.0),
            near[number].similarity if number in near else 0.0,
            near[number].statement_id if number in near else None,
        )
        for number in dict.fromkeys((*best, *near))
    }


def ranked(reader: Reader, query: Query, vector: Embedding | None, depth: int) -> dict[int, Candidate]:
    """The *depth* nearest and the *depth* best that hold every word, with their places; none without a vector."""
    if vector is None:
        return {}
    nearest = reader.nearest(vector, query.filter, limit=depth)
    terms = tuple(dict.fromkeys(text.words(query.text)))[:MAX_TERMS]
    by_words = dict(reader.words(terms, query.filter, every=True, limit=depth))
    near_ranks = {found.memory_id: rank for rank, found in enumerate(nearest, 1)}
    words_ranks = {number: rank for rank, number in enumerate(by_words, 1)}
    near = {found.memory_id: found for found in nearest}
    near |= reader.similarities(vector, [number for number in by_words if number not in near])
    return {
        number: Candidate(
            number,
            by_words.get(number, 0.0),
            near[number].similarity if number in near else 0.0,
            near[number].statement_id if number in near else None,
            near_ranks.get(number),
            words_ranks.get(number),
        )
        for number in dict.fromkeys((*near_ranks, *words_ranks))
    }
