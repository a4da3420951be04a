"""Lore order: likeness, words, how good a memory proved and how much it is used, fading since its last use."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import exp, log2
from typing import TYPE_CHECKING

from mnemic.dialects.lorekeeper.rare_words import rare_words
from mnemic.model.candidates import Candidate
from mnemic.model.enums import State
from mnemic.model.filter import Filter, Order, Query
from mnemic.model.memory import HIGHEST_QUALITY, UNRATED
from mnemic.model.shapes import Repute
from mnemic.model.time import DAY, Moment
from mnemic.search.candidates import gather
from mnemic.search.query import Vocabulary, query_terms
from mnemic.search.ranking import Scored
from mnemic.storage import queries
from mnemic.storage.base import Reader

if TYPE_CHECKING:
    from mnemic.model.vectors import Embedding

DEPTH = 200
"""Nearest vectors and best word matches considered."""
FORGOTTEN_LOOKED_AT = 1_000
"""Most recently forgotten memories considered, if asked for."""
FORGOTTEN = frozenset({State.FORGOTTEN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Lore:
    """A weighted sum of four signals from 0 to 1, times what time has left of it.

    Only what reaches *least* before it fades is answered. The words of the best memory count 1, of the others their
    share of its BM25. A forgotten memory is in no index: its vectors are compared as they were stored, and its words
    count by the share of the question they cover, so that they never weaken those of the living.
    """

    semantic: float = 0.45
    keyword: float = 0.30
    quality: float = 0.15
    usage: float = 0.10
    decay: float = 0.0077
    """How fast a memory fades, a day."""
    usage_cap: int = 100
    """Uses that count in full."""
    least: float = 0.1
    among: tuple[int, ...] | None = None
    """Only these compete, and all of them do."""
    with_forgotten: bool = False

    def _candidates(self, reader: Reader, query: Query, vector: Embedding | None) -> dict[int, Candidate]:
        """Candidates with BM25 relative to the best."""
        if self.among is None:
            found = gather(reader, query, vector, max(DEPTH, query.limit))
            top = max((one.bm25 for one in found.values()), default=0.0)
        else:
            found, top = self._listed(reader, query, vector, self.among)
        share = 1.0 / (top or 1.0)
        shares = {number: Candidate(number, one.bm25 * share, one.cosine) for number, one in found.items()}
        return {**shares, **self._forgotten(reader, query, vector)} if self.with_forgotten else shares

    def _listed(
        self, reader: Reader, query: Query, vector: Embedding | None, numbers: tuple[int, ...]
    ) -> tuple[dict[int, Candidate], float]:
        """Candidates of a listing without words, and the best BM25 of all memories."""
        wanted = replace(query.filter, ids=numbers)
        standing = reader.select(wanted, limit=len(numbers))
        terms = query_terms(Vocabulary(reader, query.filter.namespaces), query.text).all
        by_words = dict(queries.best_words(reader, terms, wanted, limit=len(numbers)))
        best = queries.best_words(reader, terms, query.filter, limit=1) if by_words else []
        near = {} if vector is None else queries.similarities(reader, vector, standing)
        found = {
            number: Candidate(number, by_words.get(number, 0.0), near.get(number, 0.0)) for number in standing
        }
        return found, best[0][1] if best else 0.0

    def _forgotten(self, reader: Reader, query: Query, vector: Embedding | None) -> dict[int, Candidate]:
        numbers = self.among
        if numbers is None:
            spaces = query.filter.namespaces
            numbers = tuple(
                reader.select(
                    Filter(namespaces=spaces, states=frozenset({State.FORGOTTEN})),
                    order=Order.LEFT,
                    limit=FORGOTTEN_LOOKED_AT,
                )
            )
        wanted = replace(query.filter, ids=numbers, states=FORGOTTEN, alive_at=None)
        gone = reader.get(reader.select(wanted, limit=len(numbers)))
        near = (
            {}
            if vector is None
            else queries.similarities(reader, vector, [memory.id for memory in gone], FORGOTTEN)
        )
        query_words = rare_words(reader, query.text, query.filter.namespaces)
        return {
            memory.id: Candidate(
                memory.id,
                query_words.share_in(f"{memory.title}\n{memory.summary or ''}\n{memory.content}"),
                near.get(memory.id, 0.0),
            )
            for memory in gone
        }

    def scored(self, reader: Reader, query: Query, vector: Embedding | None) -> list[Scored]:
        """Rank by score first; the terms of a score are computed for the returned hits only."""
        candidates = self._candidates(reader, query, vector)
        reputes = {one.id: one for one in reader.look(list(candidates), Repute)}
        scores = self._scores(candidates, reputes, query.now)
        best = heapq.nlargest(query.limit, scores, key=lambda number: (scores[number], number))
        return [
            Scored(number, scores[number], self._terms(candidates[number], reputes[number], query.now))
            for number in best
        ]

    def _scores(
        self, candidates: Mapping[int, Candidate], reputes: Mapping[int, Repute], now: Moment
    ) -> dict[int, float]:
        """The faded score of each candidate that reaches *least* before it fades."""
        scores = {}
        for number, (_, quality, uses, accessed_at, created_at) in reputes.items():
            _, words, cosine = candidates[number][:3]
            combined = (
                self.semantic * min(1.0, max(0.0, cosine))
                + self.keyword * words
                + self.quality * (UNRATED if quality is None else quality) / HIGHEST_QUALITY
                + (self.usage * self._usage(uses) if uses else 0.0)
            )
            if combined >= self.least:
                scores[number] = combined * self.faded(accessed_at or created_at, now)
        return scores

    def _terms(self, candidate: Candidate, repute: Repute, now: Moment) -> dict[str, float]:
        return {
            "semantic": min(1.0, max(0.0, candidate.cosine)),
            "keyword": candidate.bm25,
            "quality": (UNRATED if repute.quality is None else repute.quality) / HIGHEST_QUALITY,
            "usage": self._usage(repute.access_count),
            "decay": self.faded(repute.accessed_at or repute.created_at, now),
        }

    def _usage(self, uses: int) -> float:
        return min(1.0, log2(1 + uses) / log2(1 + self.usage_cap))

    def faded(self, last_used: Moment, now: Moment) -> float:
        """Decay factor since the last use."""
        return exp(-self.decay * max(0, now - last_used) / DAY)
