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
from mnemic.retrieval.text import LARGE, all_words, asked_words, content_words, query_terms
from mnemic.storage.base import Match, Merit, Reader, Weights

if TYPE_CHECKING:
    from mnemic.embedding.base import Embedding

SPARE = 2
"""So many times the limit are asked for, since what is kept of a memory's uses may be a little old."""
TIER_BOOST: Mapping[str, float] = {Tier.LONG: 3.0, Tier.MID: 1.0, Tier.SHORT: 0.0}


def weighing(now: Moment, boosts: Mapping[str, float] = TIER_BOOST) -> Weights:
    """What each of the factors beside the words counts."""
    return Weights(priority=0.5, use=0.1, most_uses=50, confidence=2.0, tiers=boosts, aging=0.1, now=now)


def factors(bm25: float, merit: Merit | Match, weights: Weights) -> dict[str, float]:
    """The terms of the six-factor score: words, priority, use, confidence, tier, recency."""
    days = max(0, weights.now - merit.updated_at) / DAY
    return {
        "words": bm25,
        "priority": weights.priority * merit.priority,
        "use": weights.use * min(merit.access_count, weights.most_uses),
        "confidence": weights.confidence * merit.confidence,
        "tier": weights.tiers.get(merit.tier, 0.0),
        "recency": 1.0 / (1.0 + weights.aging * days),
    }


def total(bm25: float, merit: Merit | Match, weights: Weights) -> float:
    """The sum of the factors: of hundreds of candidates few are shown, and only those need the terms one by one."""
    age = weights.now - merit.updated_at
    return (
        bm25
        + weights.priority * merit.priority
        + weights.use * min(merit.access_count, weights.most_uses)
        + weights.confidence * merit.confidence
        + weights.tiers.get(merit.tier, 0.0)
        + (1.0 / (1.0 + weights.aging * age / DAY) if age > 0 else 1.0)
    )


@dataclass(frozen=True, slots=True)
class SixFactor:
    """What holds any of the words, or every one, by the sum of six factors."""

    every: bool = False
    boosts: Mapping[str, float] = field(default_factory=lambda: TIER_BOOST)

    def candidates(self, reader: Reader, query: Query, vector: Embedding | None) -> Mapping[int, Candidate]:
        """See Profile. None: the words give every number that counts, so `scored` asks them itself."""
        return {}

    def scored(self, reader: Reader, query: Query, candidates: Mapping[int, Candidate]) -> list[Scored]:
        """See Profile."""
        weights = weighing(query.now, self.boosts)
        found = self._matches(reader, query, weights)
        scores = {one.memory_id: total(one.bm25, one, weights) for one in found}
        best = heapq.nlargest(query.limit, found, key=lambda one: (scores[one.memory_id], one.memory_id))
        return [Scored(one.memory_id, scores[one.memory_id], factors(one.bm25, one, weights)) for one in best]

    def _matches(self, reader: Reader, query: Query, weights: Weights) -> list[Match]:
        limit = SPARE * query.limit
        if self.every:
            terms = all_words(query.text)
            return reader.matches(terms, query.filter, weights, every=True, limit=limit)
        if reader.size(query.filter.namespaces) < LARGE:
            plain = reader.matches(asked_words(query.text), query.filter, weights, every=False, limit=limit)
            if len(plain) >= query.limit:
                return plain
        # Too few were found, so that a word may be misspelt; or the store is large and a common word costs too much.
        corrected = query_terms(reader, query.text, query.filter.namespaces).all
        return reader.matches(corrected, query.filter, weights, every=False, limit=limit)


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

    def candidates(self, reader: Reader, query: Query, vector: Embedding | None) -> Mapping[int, Candidate]:
        """See Profile."""
        found = gather(reader, query, vector, max(self.shallowest, self.depth * query.limit))
        return {
            number: candidate
            for number, candidate in found.items()
            if candidate.bm25 > 0 or candidate.cosine >= self.least_cosine
        }

    def scored(self, reader: Reader, query: Query, candidates: Mapping[int, Candidate]) -> list[Scored]:
        """See Profile."""
        weights = weighing(query.now)
        by_words = {
            number: total(candidates[number].bm25, merit, weights)
            for number, merit in reader.merits(list(candidates)).items()
        }
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

    def candidates(self, reader: Reader, query: Query, vector: Embedding | None) -> Mapping[int, Candidate]:
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
        weights = rarity(reader, query.text, query.filter.namespaces)
        scores = []
        for memory in reader.memories(list(best)):
            again = self.share * overlap(query.text, memory.title, memory.content, weights)
            terms = {name: (1 - self.share) * value for name, value in best[memory.id].terms.items()}
            scores.append(Scored(memory.id, sum(terms.values()) + again, {**terms, "rerank": again}))
        return scores


def rarity(reader: Reader, question: str, namespaces: Sequence[str] | None) -> dict[str, float]:
    """How much each telling word of *question* says: the rarer it is in these namespaces, the more."""
    total = max(1, reader.size(namespaces))
    frequencies = reader.frequencies(content_words(question), namespaces)
    return {word: math.log(1 + total / (1 + count)) for word, count in frequencies.items()}


RECALLED = SixFactor()
SEARCHED = SixFactor(every=True, boosts={})
HYBRID = Hybrid()
RERANKED = Reranked(HYBRID)
