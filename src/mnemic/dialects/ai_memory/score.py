"""ai-memory's order: six factors for words, blended with likeness where there are vectors, and ranked again."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mnemic.dialects.ai_memory.overlap import overlap
from mnemic.model.candidates import Ask, Candidate, Weights
from mnemic.model.enums import Tier
from mnemic.model.filter import Query
from mnemic.model.shapes import Merit
from mnemic.model.time import DAY, Moment
from mnemic.search.candidates import gather
from mnemic.search.query import LARGE, Vocabulary, all_words, asked_words, query_terms, rarity
from mnemic.search.ranking import Profile, Scored
from mnemic.storage.base import Reader

if TYPE_CHECKING:
    from mnemic.model.vectors import Embedding

SPARE = 2
"""Word matches requested, as a multiple of the limit: cached use counts may be slightly old."""
TIER_BOOST: Mapping[str, float] = {Tier.LONG: 3.0, Tier.MID: 1.0, Tier.SHORT: 0.0}


def weighing(now: Moment, boosts: Mapping[str, float] = TIER_BOOST) -> Weights:
    """What each of the factors beside the words counts."""
    return Weights(priority=0.5, use=0.1, most_uses=50, confidence=2.0, tiers=boosts, aging=0.1, now=now)


def factors(bm25: float, merit: Merit, weights: Weights) -> dict[str, float]:
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


def total(bm25: float, merit: Merit, weights: Weights) -> float:
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

    def scored(self, reader: Reader, query: Query, vector: Embedding | None) -> list[Scored]:
        """The best by the sum of six factors."""
        weights = weighing(query.now, self.boosts)
        bm25 = self._matches(reader, query, weights)
        found = reader.look(list(bm25), Merit)
        scores = {one.id: total(bm25[one.id], one, weights) for one in found}
        best = heapq.nlargest(query.limit, found, key=lambda one: (scores[one.id], one.id))
        return [Scored(one.id, scores[one.id], factors(bm25[one.id], one, weights)) for one in best]

    def _matches(self, reader: Reader, query: Query, weights: Weights) -> dict[int, float]:
        """The BM25 of the memories that may be among the best."""
        ask = Ask(filter=query.filter, every=self.every, weights=weights, depth=SPARE * query.limit)
        if self.every:
            return _bm25(reader, replace(ask, terms=all_words(query.text)))
        vocabulary = Vocabulary(reader, query.filter.namespaces)
        if vocabulary.total < LARGE:
            plain = _bm25(reader, replace(ask, terms=asked_words(query.text)))
            if len(plain) >= query.limit:
                return plain
        # Too few were found, so that a word may be misspelt; or the store is large and a common word costs too much.
        return _bm25(reader, replace(ask, terms=query_terms(vocabulary, query.text).all))


def _bm25(reader: Reader, ask: Ask) -> dict[int, float]:
    return {number: row.bm25 for number, row in reader.candidates(ask).rows.items()}


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
    """Candidates of each source, as a multiple of the limit; at least `shallowest`."""
    shallowest: int = 50

    def scored(self, reader: Reader, query: Query, vector: Embedding | None) -> list[Scored]:
        """The memories that may answer *query*, scored."""
        candidates = self._candidates(reader, query, vector)
        weights = weighing(query.now)
        by_words = {
            number: total(candidates[number].bm25, merit, weights)
            for number, merit in {one.id: one for one in reader.look(list(candidates), Merit)}.items()
        }
        best = max(by_words.values(), default=1.0)
        scores = []
        for number, value in by_words.items():
            terms = {
                "semantic": self.semantic * max(0.0, candidates[number].cosine),
                "keyword": self.keyword * value / best,
            }
            found = candidates[number].statement_id
            scores.append(Scored(number, sum(terms.values()), terms, statement_id=found))
        return scores

    def _candidates(self, reader: Reader, query: Query, vector: Embedding | None) -> dict[int, Candidate]:
        found = gather(reader, query, vector, max(self.shallowest, self.depth * query.limit))
        return {
            number: candidate
            for number, candidate in found.items()
            if candidate.bm25 > 0 or candidate.cosine >= self.least_cosine
        }


@dataclass(frozen=True, slots=True)
class Reranked:
    """The best of another order, ranked again by how the words of question and memory lie over each other."""

    first: Profile
    share: float = 0.4
    depth: int = 3
    shallowest: int = 30

    def scored(self, reader: Reader, query: Query, vector: Embedding | None) -> list[Scored]:
        """The memories that may answer *query*, scored."""
        pool = max(self.shallowest, self.depth * query.limit)
        first = self.first.scored(reader, query, vector)
        best = {
            one.memory_id: one
            for one in heapq.nlargest(pool, first, key=lambda one: (one.score, one.memory_id))
        }
        weights = rarity(Vocabulary(reader, query.filter.namespaces), query.text)
        scores = []
        for memory in reader.get(list(best)):
            again = self.share * overlap(query.text, memory.title, memory.content, weights)
            terms = {name: (1 - self.share) * value for name, value in best[memory.id].terms.items()}
            score = sum(terms.values()) + again
            terms["rerank"] = again
            found = best[memory.id].statement_id
            scores.append(Scored(memory.id, score, terms, statement_id=found))
        return scores


RECALLED = SixFactor()
SEARCHED = SixFactor(every=True, boosts={})
HYBRID = Hybrid()
RERANKED = Reranked(HYBRID)
