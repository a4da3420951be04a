"""Questions that several memories answer: how to tell them, and how alike those memories are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mnemic.embedding.base import Vectors

SEVERAL = (
    r"\bhow (?:many|much|often)\b|\b(?:all|both|list|order|total|altogether|combined|average|different)\b"
)


def asks_for_several(question: str) -> bool:
    """Whether *question* counts, sums up, compares or puts in order ("how many", "in total", "the order of")."""
    return re.search(SEVERAL, question.lower()) is not None


def likeness(vectors: Sequence[Vectors], models: Sequence[Vectors], weights: Sequence[float]) -> list[float]:
    """How near each of *vectors* is to the nearest of *models*, where each of these counts by its weight."""
    from mnemic.numeric import np

    cosines = np.maximum(0.0, np.array(vectors) @ np.array(models).T)
    near: list[float] = (cosines * np.array(weights)).max(axis=1).tolist()
    return near
