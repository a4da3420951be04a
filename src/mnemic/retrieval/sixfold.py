"""ai-memory's order: six factors for words, blended with likeness where there are vectors, and ranked again."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mnemic.model.search import Query
from mnemic.model.values import DAY, Moment, Tier
from mnemic.retrieval.candidates import Candidate, gather
from mnemic.retrieval.lexical import overlap
from mnemic.retrieval.profiles import Profile, Scored
from mnemic.retrieval.text import LARGE, MAX_TERMS, asked_words, content_words, query_terms
from mnemic.storage import text
from mnemic.storage.base import Match, Merit, Reader

if TYPE_CHECKING:
    from mnemic.embedding.base import Vectors

DEPTH = 300
"""So many of the best by words are put in order by the other factors too."""
TIER_BOOST: Mapping[str, float] = {Tier.LONG: 3.0, Tier.MID: 1.0, Tier.SHORT: 0.0}
MOST_USES = 50


def factors(bm25: float, merit: Merit | Match, now: Moment, boost: float) -> dict[str, float]:
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


def total(
    bm25: float,
    priority: int,
    confidence: float,
    uses: int,
    boost: float,
    changed: Moment,
    now: Moment,
) -> float:
    """The sum of the factors: of hundreds of candidates few are shown, and only those need the terms one by one."""
    recency = 1.0 / (1.0 + 0.1 * (now - changed) / DAY) if now > changed else 1.0
    used = uses if uses < MOST_USES else MOST_USES
    return bm25 + 0.5 * priority + 0.1 * used + 2.0 * confidence + boost + recency


@dataclass(frozen=True, slots=True)
class SixFactor:
    """What holds any of the words, or every one, by the sum of six factors."""

    every: bool = False
    boosts: Mapping[str, float] = field(default_factory=lambda: TIER_BOOST)

    def candidates(self, reader: Reader, query: Query, vector: Vectors | None) -> Mapping[int, Candidate]:
        """See Profile. None: the words give every number that counts, so `scored` asks them itself."""
        return {}

    def scored(self, reader: Reader, query: Query, candidates: Mapping[int, Candidate]) -> list[Scored]:
        """See Profile."""
        found = self._matches(reader, query)
        boosts, now = self.boosts, query.now
        scores = {
            one: total(one[1], one[2], one[3], one[4], boosts.get(one[5], 0.0), one[6], now) for one in found
        }
        best = heapq.nlargest(query.limit, found, key=lambda one: (scores[one], one.memory_id))
        return [Scored(one.memory_id, scores[one], self._terms(one, now)) for one in best]

    def _matches(self, reader: Reader, query: Query) -> list[Match]:
        limit = max(DEPTH, query.limit)
        if self.every:
            terms = tuple(dict.fromkeys(text.words(query.text)))[:MAX_TERMS]
            return reader.matches(terms, query.filter, every=True, limit=limit)
        if reader.size() < LARGE:
            plain = reader.matches(asked_words(query.text), query.filter, every=False, limit=limit)
            if len(plain) >= query.limit:
                return plain
        # Too few were found, so that a word may be misspelt; or the store is large and a common word costs too much.
        return reader.matches(query_terms(reader, query.text).all, query.filter, every=False, limit=limit)

    def _terms(self, one: Match, now: Moment) -> dict[str, float]:
        return factors(one.bm25, one, now, self.boosts.get(one.tier, 0.0))


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
        by_words = {
            number: total(
                candidates[number].bm25,
                merit.priority,
                merit.confidence,
                merit.access_count,
                TIER_BOOST[merit.tier],
                merit.updated_at,
                query.now,
            )
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
