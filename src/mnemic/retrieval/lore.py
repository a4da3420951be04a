"""Lore order: likeness, words, how good a memory proved and how much it is used, fading since its last use."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import exp, log2
from typing import TYPE_CHECKING

from mnemic.model.memory import HIGHEST_QUALITY, UNRATED
from mnemic.model.search import Query
from mnemic.model.values import DAY, Moment, State
from mnemic.retrieval.candidates import Candidate, gather
from mnemic.retrieval.profiles import Scored
from mnemic.retrieval.telling import telling
from mnemic.retrieval.text import query_terms
from mnemic.storage.base import Reader, Repute

if TYPE_CHECKING:
    from mnemic.embedding.base import Embedding

DEPTH = 200
"""So many of the nearest are looked at, and of those that hold the words."""
FORGOTTEN_LOOKED_AT = 1_000
"""So many of the memories that were forgotten last, where they are asked for."""
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
    """So many uses count in full."""
    least: float = 0.1
    among: tuple[int, ...] | None = None
    """Only these compete, and all of them do."""
    with_forgotten: bool = False

    def candidates(self, reader: Reader, query: Query, vector: Embedding | None) -> Mapping[int, Candidate]:
        """See Profile. The bm25 of each is its share of the best."""
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
        """The memories of a list, whatever they hold, and the BM25 of the best of all memories."""
        wanted = replace(query.filter, ids=numbers)
        standing = reader.select(wanted, limit=len(numbers))
        terms = query_terms(reader, query.text, query.filter.namespaces).all
        by_words = dict(reader.words(terms, wanted, every=False, limit=len(numbers)))
        best = reader.words(terms, query.filter, every=False, limit=1) if by_words else []
        near = {} if vector is None else reader.similarities(vector, standing)
        found = {
            number: Candidate(number, by_words.get(number, 0.0), near[number].similarity)
            if number in near
            else Candidate(number, by_words.get(number, 0.0))
            for number in standing
        }
        return found, best[0][1] if best else 0.0

    def _forgotten(self, reader: Reader, query: Query, vector: Embedding | None) -> dict[int, Candidate]:
        numbers = self.among
        if numbers is None:
            spaces = query.filter.namespaces
            numbers = tuple(reader.left(State.FORGOTTEN, spaces, limit=FORGOTTEN_LOOKED_AT))
        wanted = replace(query.filter, ids=numbers, states=FORGOTTEN, alive_at=None)
        gone = reader.memories(reader.select(wanted, limit=len(numbers)))
        near = {} if vector is None else reader.left_similarities(vector, [memory.id for memory in gone])
        asked = telling(reader, query.text, query.filter.namespaces)
        return {
            memory.id: Candidate(
                memory.id,
                asked.share_in(reader, f"{memory.title}\n{memory.summary or ''}\n{memory.content}"),
                near[memory.id].similarity if memory.id in near else 0.0,
            )
            for memory in gone
        }

    def scored(self, reader: Reader, query: Query, candidates: Mapping[int, Candidate]) -> list[Scored]:
        """See Profile. Of hundreds of candidates few are answered, and only those need their terms one by one."""
        reputes = reader.reputes(list(candidates))
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
        for number, (quality, uses, accessed_at, created_at) in reputes.items():
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
        """What is left of a memory that was last used then."""
        return exp(-self.decay * max(0, now - last_used) / DAY)
