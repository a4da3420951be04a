"""Limbic order: likeness, raised by how much a memory is used, how lately, and together with what."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import log2
from typing import TYPE_CHECKING

from mnemic.model.candidates import Candidate
from mnemic.model.filter import Query
from mnemic.model.shapes import Usage
from mnemic.model.time import Moment
from mnemic.search.candidates import ranked
from mnemic.search.ranking import Scored
from mnemic.search.recency import fusions, recency
from mnemic.storage.base import Reader

if TYPE_CHECKING:
    from mnemic.model.vectors import Embedding

DEPTH = 3
"""Candidates of each source, as a multiple of the limit."""

POINTS = {
    "qué es": 2,
    "definición": 2,
    "cómo funciona": 2,
    "es un ": 2,
    "es una ": 2,
    "relación": 1,
    "diferencia": 1,
    "ejemplos": 1,
    "comparar": 1,
    "explícame": -2,
    "relación entre": -2,
    "dime todo": -2,
    "cuentame": -2,
    "qué piensas": -2,
}
"""Words of factual (above 0) and associative (below 0) questions."""


class Strategy(StrEnum):
    """What decides which candidates are answered: mostly likeness, mostly use, or the limbic score itself."""

    COSINE_HEAVY = "cosine_heavy"
    LIMBIC_HEAVY = "limbic_heavy"
    HYBRID_BALANCED = "hybrid_balanced"


SHARE_OF_COSINE = {Strategy.COSINE_HEAVY: 0.7, Strategy.LIMBIC_HEAVY: 0.3}


def strategy_for(question: str, limit: int) -> Strategy:
    """How to choose among the candidates: a short question for a few answers is after a fact."""
    length = len(question.split())
    points = sum(value for words, value in POINTS.items() if words in question.lower())
    points += (length <= 3) - (length >= 10) + (limit <= 3) - (limit >= 10)
    if points >= 2:
        return Strategy.COSINE_HEAVY
    return Strategy.LIMBIC_HEAVY if points <= -2 else Strategy.HYBRID_BALANCED


def spread(values: Mapping[int, float]) -> dict[int, float]:
    """*values* stretched so that the least is 0 and the largest 1; all 0 if they are equal."""
    least = min(values.values(), default=0.0)
    span = max(values.values(), default=0.0) - least or 1.0
    return {number: (value - least) / span for number, value in values.items()}


@dataclass(frozen=True, slots=True)
class Limbic:
    """Likeness times importance, recency and company. Which are answered depends on the kind of question."""

    salience: float = 0.5
    per_degree: float = 0.15
    most_links: int = 15
    per_day: float = 0.2
    company: float = 0.01

    def scored(self, reader: Reader, query: Query, vector: Embedding | None) -> list[Scored]:
        """Candidates with their limbic score; the selection may use another one."""
        candidates = ranked(reader, query, vector, DEPTH * query.limit)
        usage = {one.id: one for one in reader.look(list(candidates), Usage)}
        rrf = fusions(candidates)
        base = self._base(candidates, rrf)
        importance = self._importance(usage)
        company = _company(reader, usage, query.now)
        scores = []
        for number, used in usage.items():
            lately = recency(used.accessed_at or used.created_at, query.now)
            score = base[number] * (1 + self.salience * importance[number]) * lately
            terms = {
                "importance": importance[number],
                "temporal_factor": lately,
                "cooc_boost": company[number],
                "distance": candidates[number].distance,
            }
            if number in rrf:
                terms["rrf"] = rrf[number]
            score *= 1 + self.company * company[number]
            scores.append(Scored(number, score, terms, statement_id=candidates[number].statement_id))
        return _chosen(scores, candidates, strategy_for(query.text, query.limit), query.limit)

    def _base(self, candidates: Mapping[int, Candidate], rrf: Mapping[int, float]) -> dict[int, float]:
        """Likeness; for what only the words found, its place among all, between 0.2 and 0.8."""
        place = spread(rrf)
        return {
            number: 0.2 + 0.6 * place[number] if one.near_rank is None else max(0.0, one.cosine)
            for number, one in candidates.items()
        }

    def _importance(self, usage: Mapping[int, Usage]) -> dict[int, float]:
        """How much each is used beside the most used, a little more for links and for use on many days."""
        most = max((used.access_count for used in usage.values()), default=0)
        days = max((used.days_used for used in usage.values()), default=0)
        return {number: self._importance_of(used, most, days) for number, used in usage.items()}

    def _importance_of(self, used: Usage, most_uses: int, most_days: int) -> float:
        if not most_uses:
            return 0.0
        links = min(used.links, self.most_links) / self.most_links
        days = log2(1 + used.days_used) / log2(1 + most_days) if most_days > 1 else 0.0
        uses = log2(1 + used.access_count) / log2(1 + most_uses)
        return uses * (1 + self.per_degree * links) * (1 + self.per_day * days)


def _company(reader: Reader, numbers: Iterable[int], now: Moment) -> defaultdict[int, float]:
    """How often and how lately each was answered together with the others."""
    company: defaultdict[int, float] = defaultdict(float)
    for one, other, (times, last) in reader.companions(list(numbers)):
        tie = log2(1 + times) * recency(last, now)
        company[one] += tie
        company[other] += tie
    return company


def _chosen(
    scores: list[Scored], candidates: Mapping[int, Candidate], strategy: Strategy, limit: int
) -> list[Scored]:
    """The *limit* that are answered."""
    share = SHARE_OF_COSINE.get(strategy)
    if share is None:
        return scores
    place = spread({one.memory_id: one.score for one in scores})

    def blend(one: Scored) -> float:
        likeness = max(0.0, candidates[one.memory_id].cosine)
        return share * likeness + (1 - share) * place[one.memory_id]

    return heapq.nlargest(limit, scores, key=blend)


LIMBIC = Limbic()
