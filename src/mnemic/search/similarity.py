"""Similarity of texts by shared words and of vectors by cosine; near-duplicate look-up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mnemic.model.filter import Filter
from mnemic.model.memory import Memory
from mnemic.storage import tokenizer
from mnemic.storage.base import Reader
from mnemic.storage.queries import contents

if TYPE_CHECKING:
    from mnemic.model.vectors import Vectors

NEAR = 0.7
"""Jaccard similarity from which two texts count as near-duplicates."""
LOOKED_AT = 5
"""Candidates compared word by word."""


def jaccard(left: str, right: str) -> float:
    """Jaccard similarity of the words of two texts."""
    return _jaccard(set(tokenizer.words(left)), set(tokenizer.words(right)))


def _jaccard(ours: set[str], theirs: set[str]) -> float:
    shared = len(ours & theirs)
    every = len(ours) + len(theirs) - shared
    return shared / every if every else 1.0


def near_duplicates(reader: Reader, body: str, wanted: Filter) -> tuple[tuple[Memory, float], ...]:
    """Near-duplicates of *body* with their Jaccard similarity, most similar first."""
    suspects = reader.near_duplicates(body, wanted, limit=LOOKED_AT)
    if not suspects:
        return ()
    ours = set(tokenizer.words(body))
    shares = {
        number: _jaccard(ours, set(tokenizer.words(text)))
        for number, text in contents(reader, suspects).items()
    }
    near = {number: share for number, share in shares.items() if share >= NEAR}
    ranked = sorted(near, key=lambda number: -near[number])
    return tuple((memory, near[memory.id]) for memory in reader.get(ranked))


def nearest_cosines(
    vectors: Sequence[Vectors], references: Sequence[Vectors], weights: Sequence[float]
) -> list[float]:
    """For each of *vectors* the largest weighted cosine to one of *references*, at least 0."""
    from mnemic.numeric import np

    cosines = np.maximum(0.0, np.array(vectors) @ np.array(references).T)
    nearest: list[float] = (cosines * np.array(weights)).max(axis=1).tolist()
    return nearest
