"""Gathering candidates: what the words find, what the vectors find, and both numbers for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from mnemic.model.search import Query
from mnemic.retrieval.text import all_words, query_terms
from mnemic.storage.base import Nearness, Reader

if TYPE_CHECKING:
    from mnemic.embedding.base import Embedding

LIKELY_COSINE = 0.5
"""How near the best by words is taken to be where nothing has a vector."""
WORD_DEPTH = 500
"""Deep enough that a memory the vectors found without any telling word has no score worth knowing."""


class Candidate(NamedTuple):
    """A memory that may answer, with what each source says of it."""

    memory_id: int
    bm25: float = 0.0
    cosine: float = 0.0
    """Estimated from the words where the memory has no vector, as while it is pending."""
    statement_id: int | None = None
    near_rank: int | None = None
    """Its place among the nearest, from 1, where a profile asks for places."""
    words_rank: int | None = None
    """Its place among those that hold every word."""
    trust: float = 1.0
    """How far similarities to the question can be relied on: little in a language that no model knows."""

    @property
    def distance(self) -> float:
        """How far its best passage lies from the question: 0 is the same, 2 the opposite."""
        return 1.0 - self.cosine


def gather(reader: Reader, query: Query, vector: Embedding | None, depth: int) -> dict[int, Candidate]:
    """The union of the *depth* best by words and by vectors, each with both numbers."""
    terms = query_terms(reader, query.text, query.filter.namespaces).all
    by_words = dict(reader.words(terms, query.filter, every=False, limit=max(WORD_DEPTH, depth)))
    best = list(by_words)[:depth]
    if vector is None:
        return {number: Candidate(number, by_words[number]) for number in best}
    near = {found.memory_id: found for found in reader.nearest(vector, query.filter, limit=depth)}
    near |= reader.similarities(vector, [number for number in best if number not in near])
    estimates = _estimates(by_words, near)
    return {
        number: Candidate(
            number,
            by_words.get(number, 0.0),
            near[number].similarity if number in near else estimates[number],
            near[number].statement_id if number in near else None,
            trust=vector.trust,
        )
        for number in dict.fromkeys((*best, *near))
    }


def _estimates(by_words: Mapping[int, float], near: Mapping[int, Nearness]) -> dict[int, float]:
    """The cosine of each that was found by words and has no vector: by its words as near as the nearest is."""
    top = max(by_words.values(), default=0.0) or 1.0
    nearest = max((found.similarity for found in near.values()), default=LIKELY_COSINE)
    return {number: nearest * bm25 / top for number, bm25 in by_words.items() if number not in near}


def ranked(reader: Reader, query: Query, vector: Embedding | None, depth: int) -> dict[int, Candidate]:
    """The *depth* nearest and the *depth* best that hold every word, with their places; none without a vector."""
    if vector is None:
        return {}
    nearest = reader.nearest(vector, query.filter, limit=depth)
    terms = all_words(query.text)
    by_words = dict(reader.words(terms, query.filter, every=True, limit=depth))
    if reader.backlog(query.filter):
        by_words |= _pending(reader, query, vector, depth)
    near_ranks = {found.memory_id: rank for rank, found in enumerate(nearest, 1)}
    words_ranks = {number: rank for rank, number in enumerate(by_words, 1)}
    near = {found.memory_id: found for found in nearest}
    near |= reader.similarities(vector, [number for number in by_words if number not in near])
    estimates = _estimates(by_words, near)
    return {
        number: Candidate(
            number,
            by_words.get(number, 0.0),
            near[number].similarity if number in near else estimates[number],
            near[number].statement_id if number in near else None,
            near_ranks.get(number),
            words_ranks.get(number),
        )
        for number in dict.fromkeys((*near_ranks, *words_ranks))
    }


def _pending(reader: Reader, query: Query, vector: Embedding, depth: int) -> dict[int, float]:
    """The best of those that hold any word and have no vector yet, which only their words can find."""
    terms = query_terms(reader, query.text, query.filter.namespaces).all
    best = dict(reader.words(terms, query.filter, every=False, limit=depth))
    embedded = reader.similarities(vector, list(best))
    return {number: bm25 for number, bm25 in best.items() if number not in embedded}
