"""Nearness by several models on one scale: each model compares its own vectors, the best memories of all are kept."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.model.vectors import AS_IT_IS, Scale
from mnemic.storage.base import Nearness


def scaled(scale: Scale, found: Sequence[Nearness]) -> list[Nearness]:
    """*found* with similarities instead of the cosines of one model."""
    if scale == AS_IT_IS:
        return list(found)
    return [Nearness(number, statement, scale.similarity(cosine)) for number, statement, cosine in found]


def best_of(found: Sequence[list[Nearness]], limit: int) -> list[Nearness]:
    """The *limit* nearest memories of what each model *found*; a memory of several counts by its nearest."""
    if len(found) == 1:
        return found[0]
    ordered = sorted((near for each in found for near in each), key=lambda near: -near.similarity)
    best: dict[int, Nearness] = {}
    for near in ordered:
        best.setdefault(near.memory_id, near)
    return list(best.values())[:limit]
