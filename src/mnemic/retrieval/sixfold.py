"""ai-memory's order: six factors for words, blended with likeness where there are vectors, and ranked again."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mnemic.model.search import Query
from mnemic.model.values import DAY, Moment, Tier
from mnemic.retrieval.candidates import Candidate, gather
from mnemic.retrieval.lexical import overlap
from mnemic.retrieval.profiles import Profile, Scored
from mnemic.retrieval.text import MAX_TERMS, content_words, query_terms
from mnemic.storage import text
from mnemic.storage.base import Merit, Reader

if TYPE_CHECKING:
    from mnemic.embedding.base import Vectors

DEPTH = 300
"""So many of the best by words are put in order by the other factors too."""
TIER_BOOST: Mapping[str, float] = {Tier.LONG: 3.0, Tier.MID: 1.0, Tier.SHORT: 0.0}
MOST_USES = 50


def factors(bm25: float, merit: Merit, now: Moment, boost: float) -> dict[str, float]:
    """The terms of the six-factor score: words, priority, use, confidence, tier, recency."""
    days = max(0, now - merit.updated_at) / DAY
    return {
        "words": bm25,
        "priority": 0.5 * merit.priority,
        "use": 0.1 * min(merit.access_count, MOST_USES),
        "confidence": 2.0 * merit.confidence,
        "tier": boost,
        "recency": 1.0 / (1.0 + 0.1 * days),
    }


@dataclass(frozen=True, slots=True)
class SixFactor:
    """What holds any of the words, or every one, by the sum of six factors."""

    every: bool = False
    boosts: Mapping[str, float] = field(default_factory=lambda: TIER_BOOST)

    def candidates(self, reader: Reader, query: Query, vector: Vectors | None) -> Mapping[int, Candidate]:
        """See Profile."""
        terms: Sequence[str] = (
            tuple(dict.fromkeys(text.words(query.text)))[:MAX_TERMS]
            if self.every
            else query_terms(reader, query.text).all
        )
        found = reader.words(terms, query.filter, every=self.every, limit=max(DEPTH, query.limit))
        return {number: Candidate(number, score) for number, score in found}

    def scored(self, reader: Reader, query: Query, candidates: Mapping[int, Candidate]) -> list[Scored]:
        """See Profile."""
        merits = reader.merits(list(candidates))
        scores = self.scores(candidates, merits, query.now)
        best = heapq.nlargest(query.limit, scores, key=lambda number: (scores[number], number))
        return [
            Scored(number, scores[number], self._terms(candidates[number], merits[number], query.now))
            for number in best
        ]

    def _terms(self, candidate: Candidate, merit: Merit, now: Moment) -> dict[str, float]:
        return factors(candidate.bm25, merit, now, self.boosts.get(merit.tier, 0.0))

    def scores(
        self, candidates: Mapping[int, Candidate], merits: Mapping[int, Merit], now: Moment
    ) -> dict[int, float]:
        """The sum of the factors for each: `factors` in one line, since there are hundreds and few are shown."""
        boosts = self.boosts
        return {
            number: candidates[number].bm25
            + 0.5 * priority
            + 0.1 * (uses if uses < MOST_USES else MOST_USES)
            + 2.0 * confidence
            + boosts.get(tier, 0.0)
            + (1.0 / (1.0 + 0.1 * (now - changed) / DAY) if now > changed else 1.0)
            for number, (priority, confidence, uses, tier, changed) in merits.items()
        }


@dataclass(frozen=True, slots=True)
class Hybrid:
    """Likeness and the six factors blended.

    What only the vectors found has its six factors too, without a word: so a word that two texts share by
    chance counts for no more than a word.
    """

    semantic: float = 0.6
    keyword: float = 0.4
    least_cosine: float = 0.3
    depth: int = 5
    """So many times the limit are looked at of each source, and at least `shallowest`."""
    shallowest: int = 50

    def candidates(self, reader: Reader, query: Query, vector: Vectors | None) -> Mapping[int, Candidate]:
        """See Profile."""
        found = gather(reader, query, vector, max(self.shallowest, self.depth * query.limit))
        return {
            number: candidate
            for number, candidate in found.items()
            if candidate.bm25 > 0 or candidate.cosine >= self.least_cosine
        }

    def scored(self, reader: Reader, query: Query, candidates: Mapping[int, Candidate]) -> list[Scored]:
        """See Profile."""
        by_words = RECALLED.scores(candidates, reader.merits(list(candidates)), query.now)
        best = max(by_words.values(), default=1.0)
        scores = []
        for number, value in by_words.items():
            terms = {
                "semantic": self.semantic * max(0.0, candidates[number].cosine),
                "keyword": self.keyword * value / best,
            }
            scores.append(Scored(number, sum(terms.values()), terms))
        return scores


@dataclass(frozen=True, slots=True)
class Reranked:
    """The best of another order, ranked again by how the words of question and memory lie over each other."""

    first: Profile
    share: float = 0.4
    depth: int = 3
    shallowest: int = 30

    def candidates(self, reader: Reader, query: Query, vector: Vectors | None) -> Mapping[int, Candidate]:
        """See Profile."""
        return self.first.candidates(reader, query, vector)

    def scored(self, reader: Reader, query: Query, candidates: Mapping[int, Candidate]) -> list[Scored]:
        """See Profile."""
        pool = max(self.shallowest, self.depth * query.limit)
        first = self.first.scored(reader, query, candidates)
        best = {
            one.memory_id: one
            for one in heapq.nlargest(pool, first, key=lambda one: (one.score, one.memory_id))
        }
        weights = rarity(reader, query.text)
        scores = []
        for memory in reader.memories(list(best)):
            again = self.share * overlap(query.text, memory.title, memory.content, weights)
            terms = {name: (1 - self.share) * value for name, value in best[memory.id].terms.items()}
            scores.append(Scored(memory.id, sum(terms.values()) + again, {**terms, "rerank": again}))
        return scores


def rarity(reader: Reader, question: str) -> dict[str, float]:
    """How much each telling word of *question* says: the rarer, the more."""
    total = max(1, reader.size())
    frequencies = reader.frequencies(content_words(question))
    return {word: math.log(1 + total / (1 + count)) for word, count in frequencies.items()}


RECALLED = SixFactor()
SEARCHED = SixFactor(every=True, boosts={})
HYBRID = Hybrid()
RERANKED = Reranked(HYBRID)
