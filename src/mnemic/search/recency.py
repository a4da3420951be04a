"""Recency decay and reciprocal rank fusion, and the order made of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING

from mnemic.model.candidates import Candidate
from mnemic.model.filter import Query
from mnemic.model.shapes import Usage
from mnemic.model.time import HOUR, Moment
from mnemic.search.candidates import ranked
from mnemic.search.ranking import Scored
from mnemic.storage.base import Reader

if TYPE_CHECKING:
    from mnemic.model.vectors import Embedding

DECAY_PER_HOUR = 0.0001
LEAST_RECENCY = 0.1
FUSION = 60


def recency(moment: Moment, now: Moment) -> float:
    """Decay by the hours since *moment*: half after 289 days, never below a tenth."""
    return max(LEAST_RECENCY, exp(-DECAY_PER_HOUR * max(0, now - moment) / HOUR))


def fused(candidate: Candidate) -> float:
    """The places of a candidate in both lists as one number (reciprocal rank fusion)."""
    ranks = (candidate.near_rank, candidate.words_rank)
    return sum(1 / (FUSION + rank) for rank in ranks if rank is not None)


def fusions(candidates: Mapping[int, Candidate]) -> dict[int, float]:
    """What fusion says of each candidate; of none, when no memory holds all the words."""
    if all(candidate.words_rank is None for candidate in candidates.values()):
        return {}
    return {number: fused(candidate) for number, candidate in candidates.items()}


@dataclass(frozen=True, slots=True)
class Recent:
    """The places in both lists fused (or likeness, if the words found nothing), times recency."""

    def scored(self, reader: Reader, query: Query, vector: Embedding | None) -> list[Scored]:
        """The memories that may answer *query*, scored."""
        candidates = ranked(reader, query, vector, query.limit)
        rrf = fusions(candidates)
        return [
            self._scored(candidates[number], recency(used.created_at, query.now), rrf.get(number))
            for number, used in {one.id: one for one in reader.look(list(candidates), Usage)}.items()
        ]

    def _scored(self, candidate: Candidate, lately: float, rrf: float | None) -> Scored:
        found = (
            {"distance": candidate.distance} if rrf is None else {"distance": candidate.distance, "rrf": rrf}
        )
        base = max(0.0, candidate.cosine) if rrf is None else rrf
        terms = {**found, "recency": lately}
        return Scored(candidate.memory_id, base * lately, terms, statement_id=candidate.statement_id)


RECENT = Recent()
