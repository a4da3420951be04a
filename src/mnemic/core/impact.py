"""Impact: what rests on a memory, and so what is to be looked at again when it changes or goes."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.core.context import Context
from mnemic.core.walking import Way, walk
from mnemic.model.graph import Direction
from mnemic.model.memory import Memory

CAUSED_BY, DERIVED_FROM, SUPPORTS = "caused_by", "derived_from", "supports"
CAUSAL = (CAUSED_BY, DERIVED_FROM, SUPPORTS)
"""The links whose source rests on their target."""
MOST_DEPENDENTS = 10_000


@dataclass(frozen=True, slots=True)
class Dependent:
    """A memory that rests on another, and over how many links."""

    memory: Memory
    distance: int


def dependents(
    ctx: Context, number: int, depth: int = 5, limit: int = MOST_DEPENDENTS
) -> tuple[Dependent, ...]:
    """What was caused by, derived from or given to support this memory, directly or over others, nearest first.

    NotFound if there is no such memory.
    """
    way = Way(direction=Direction.IN, types=CAUSAL, depth=depth, limit=limit + 1)
    _, *others = walk(ctx, number, way).memories
    return tuple(Dependent(memory, distance) for memory, distance in others)
