"""Search: candidates, then a profile that puts them in order."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from mnemic.model.search import Hit, Query
from mnemic.retrieval.profiles import Profile
from mnemic.storage.base import Reader

if TYPE_CHECKING:
    from mnemic.embedding.base import Vectors


def search(reader: Reader, query: Query, vector: Vectors | None, profile: Profile) -> list[Hit]:
    """The memories that answer *query* in the order of *profile*, each with the terms of its score."""
    candidates = profile.candidates(reader, query, vector)
    scored = profile.scored(reader, query, candidates)
    best = heapq.nlargest(query.limit, scored, key=lambda one: (one.score, one.memory_id))
    memories = {memory.id: memory for memory in reader.memories([one.memory_id for one in best])}
    return [
        Hit(
            memory=memories[one.memory_id],
            score=one.score,
            terms=one.terms,
            statement_id=candidates[one.memory_id].statement_id if one.memory_id in candidates else None,
        )
        for one in best
        if one.memory_id in memories
    ]
