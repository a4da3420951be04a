"""Impact analysis: the memories that depend on one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mnemic.core.context import Context
from mnemic.core.memories import in_use, locate
from mnemic.core.traversal import Way, walk
from mnemic.model.filter import EdgeFilter
from mnemic.model.graph import Direction, Link, Neighbourhood
from mnemic.model.memory import Memory
from mnemic.storage.base import Reader
from mnemic.storage.queries import passing

CAUSED_BY, DERIVED_FROM, SUPPORTS = "caused_by", "derived_from", "supports"
CAUSAL = (CAUSED_BY, DERIVED_FROM, SUPPORTS)
"""The links whose source rests on their target."""
RESTING = (*CAUSAL, "depends_on")
"""The same, with the one that is drawn by hand."""
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


def impact(ctx: Context, reference: int | str, depth: int = 5, limit: int = 50) -> Neighbourhood:
    """A memory, the living ones that rest on it, nearest first, and the links by which they do."""
    reader = ctx.read()
    start = locate(reader, ctx, reference)
    distance = _resting(reader, ctx, [start.id], depth, limit)
    edges = [
        edge
        for edge in reader.edges(EdgeFilter(at=tuple(distance), direction=Direction.IN, types=RESTING))
        if edge.is_current
    ]
    between = (edge for edge in edges if edge.source_id in distance)
    return Neighbourhood(
        tuple((memory, distance[memory.id]) for memory in reader.get(list(distance))), tuple(between)
    )


def count_resting(ctx: Context, numbers: Sequence[int], depth: int = 5) -> int:
    """How many living memories rest on these, directly or over others, and are not among them."""
    reached = _resting(ctx.read(), ctx, numbers, depth, len(numbers) + MOST_DEPENDENTS)
    return len(reached) - len(set(numbers))


def _resting(reader: Reader, ctx: Context, numbers: Sequence[int], depth: int, limit: int) -> dict[int, int]:
    """Distance of each living memory that depends on these, breadth first, themselves included."""
    distance = dict.fromkeys(numbers, 0)
    frontier = list(distance)
    wanted = in_use(ctx)
    for step in range(1, depth + 1):
        links = (
            reader.look(
                EdgeFilter(at=tuple(frontier), direction=Direction.IN, types=RESTING, is_current=True), Link
            )
            if frontier
            else []
        )
        ahead = [end for end in dict.fromkeys(link.source_id for link in links) if end not in distance]
        allowed = passing(reader, ahead, wanted)
        frontier = [end for end in ahead if end in allowed][: max(0, limit - len(distance))]
        distance |= dict.fromkeys(frontier, step)
    return distance
