"""Walking along links from one memory, through what was superseded too.

Each step reads the links of all the places it stands on at once, and the memories are read once, at the end: so a walk
takes as long as what it finds, not as long as the store is large.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mnemic.core.context import Context
from mnemic.core.memories import known
from mnemic.errors import NotFound
from mnemic.model.graph import Direction, Edge, Neighbourhood
from mnemic.model.memory import Memory
from mnemic.storage.base import Reader

WIDEST = 500
"""So many memories are shown around one; the nearest come first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Where a walk goes: which way, along which types of links, how far, and to how many places, the start included.

    Memories with less than the least confidence are not entered, so nothing behind them is reached through them.
    """

    direction: Direction = Direction.BOTH
    types: tuple[str, ...] | None = None
    depth: int = 5
    limit: int = 20
    min_confidence: float | None = None


def known_memory(reader: Reader, ctx: Context, number: int) -> Memory:
    """The memory with this number, living or superseded; NotFound if there is none that the caller may see."""
    memory = reader.memory(number) if reader.passing([number], known(ctx)) else None
    if memory is None:
        raise NotFound(f"No memory {number}")
    return memory


def walk(ctx: Context, start: int, way: Way) -> Neighbourhood:
    """The memories reached from *start*, nearest first, and the links that were followed. NotFound without a start."""
    reader = ctx.store.read()
    known_memory(reader, ctx, start)
    distance, followed = reached(reader, ctx, start, way)
    return Neighbourhood(_measured(reader, distance), tuple(followed))


def surroundings(ctx: Context, start: int, depth: int, limit: int = WIDEST) -> Neighbourhood:
    """The memories within *depth* links of *start*, nearest first, and every link between any two of them."""
    reader = ctx.store.read()
    known_memory(reader, ctx, start)
    distance, _ = reached(reader, ctx, start, Way(depth=depth, limit=limit))
    return Neighbourhood(_measured(reader, distance), tuple(reader.edges_between(list(distance))))


def _measured(reader: Reader, distance: dict[int, int]) -> tuple[tuple[Memory, int], ...]:
    return tuple((memory, distance[memory.id]) for memory in reader.memories(list(distance)))


def reached(reader: Reader, ctx: Context, start: int, way: Way) -> tuple[dict[int, int], list[Edge]]:
    """How far from *start* each place is that *way* leads to, breadth first, and the links between these places."""
    passable = replace(known(ctx), min_confidence=way.min_confidence)
    distance = {start: 0}
    followed: dict[int, Edge] = {}
    frontier = [start]
    for step in range(1, way.depth + 1):
        if not frontier or len(distance) >= way.limit:
            break
        edges = [one for one in reader.edges(frontier, way.direction, way.types) if one.valid_to is None]
        ahead = [end for end in _ahead(frontier, edges, way.direction) if end not in distance]
        allowed = reader.passing(ahead, passable)
        frontier = [end for end in ahead if end in allowed][: way.limit - len(distance)]
        distance |= dict.fromkeys(frontier, step)
        followed |= {edge.id: edge for edge in edges}
    between = (edge for edge in followed.values() if {edge.source_id, edge.target_id} <= distance.keys())
    return distance, sorted(between, key=lambda edge: edge.id)


def _ahead(frontier: Sequence[int], edges: Sequence[Edge], direction: Direction) -> Iterator[int]:
    """Where *edges* lead from the places of *frontier*, once each, in the order of these."""
    ends: dict[int, list[int]] = {place: [] for place in frontier}
    for edge in edges:
        if direction is not Direction.IN and edge.source_id in ends:
            ends[edge.source_id].append(edge.target_id)
        if direction is not Direction.OUT and edge.target_id in ends:
            ends[edge.target_id].append(edge.source_id)
    return iter(dict.fromkeys(end for place in frontier for end in ends[place]))
