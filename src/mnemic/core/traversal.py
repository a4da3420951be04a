"""Graph traversal from one memory, superseded memories included.

Each step reads the links of a whole frontier at once and the memories are read once at the end, so the cost depends on
the result, not on the size of the store.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mnemic.core.batches import batches
from mnemic.core.context import Context
from mnemic.core.memories import known
from mnemic.errors import NotFound
from mnemic.model.filter import EdgeFilter
from mnemic.model.graph import Direction, Link
from mnemic.model.memory import Memory
from mnemic.storage.base import Reader
from mnemic.storage.queries import memory_numbered, passing

AT_ONCE = 32
"""Frontier nodes expanded at once; when few more are wanted, all links would be too many."""
WIDEST = 100
"""Memories shown around one, nearest first: a dense graph is the whole store after a few steps."""
WIDEST_RING = 1_000
"""Direct neighbours shown in any case, up to this many."""


@dataclass(frozen=True, slots=True)
class Region:
    """The memories that were reached, each with its distance from the start, and links between them."""

    memories: tuple[tuple[Memory, int], ...]
    links: tuple[Link, ...]
    is_cut: bool = False
    """As many were reached as may be shown, so there may be more."""


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
    """The living or superseded memory with this id; NotFound if there is none that the caller may see."""
    memory = memory_numbered(reader, number) if passing(reader, [number], known(ctx)) else None
    if memory is None:
        raise NotFound(f"No memory {number}")
    return memory


def links_at(ctx: Context, numbers: Sequence[int]) -> list[Link]:
    """The links of these memories whose ends are both living or superseded, and seen by the caller."""
    reader = ctx.read()
    links = reader.look_edges(EdgeFilter(at=tuple(numbers), is_current=True), Link) if numbers else []
    seen = passing(
        reader, sorted({end for link in links for end in (link.source_id, link.target_id)}), known(ctx)
    )
    return [link for link in links if link.source_id in seen and link.target_id in seen]


def walk(ctx: Context, start: int, way: Way) -> Region:
    """The memories reached from *start*, nearest first, and the links that were followed. NotFound without a start."""
    reader = ctx.read()
    known_memory(reader, ctx, start)
    distance, followed = reached(reader, ctx, start, way)
    return Region(_measured(reader, distance), tuple(followed))


def surroundings(ctx: Context, start: int, depth: int) -> Region:
    """The memories within *depth* links of *start*, nearest first, and every link between any two of them."""
    reader = ctx.read()
    known_memory(reader, ctx, start)
    ring = len(reader.look_edges(EdgeFilter(at=(start,), is_current=True), Link))
    limit = min(WIDEST_RING, max(WIDEST, 1 + ring))
    distance, _ = reached(reader, ctx, start, Way(depth=depth, limit=limit))
    places = tuple(distance)
    links = reader.look_edges(EdgeFilter(sources=places, targets=places, is_current=True), Link)
    return Region(_measured(reader, distance), tuple(links), is_cut=len(distance) >= limit)


def _measured(reader: Reader, distance: dict[int, int]) -> tuple[tuple[Memory, int], ...]:
    return tuple((memory, distance[memory.id]) for memory in reader.get(list(distance)))


def reached(reader: Reader, ctx: Context, start: int, way: Way) -> tuple[dict[int, int], list[Link]]:
    """How far from *start* each place is that *way* leads to, breadth first, and the links between these places."""
    if way.limit < 1:
        return {}, []
    passable = replace(known(ctx), min_confidence=way.min_confidence)
    distance = {start: 0}
    followed: dict[int, Link] = {}
    frontier = [start]
    for step in range(1, way.depth + 1):
        places, frontier = frontier, []
        for some in batches(places, AT_ONCE):
            if len(distance) >= way.limit:
                break
            links = reader.look_edges(
                EdgeFilter(at=tuple(some), direction=way.direction, types=way.types, is_current=True),
                Link,
            )
            ahead = [end for end in _ahead(some, links, way.direction) if end not in distance]
            allowed = passing(reader, ahead, passable)
            fresh = [end for end in ahead if end in allowed][: way.limit - len(distance)]
            distance |= dict.fromkeys(fresh, step)
            followed |= {link.id: link for link in links}
            frontier += fresh
        if not frontier:
            break
    return distance, sorted(
        link for link in followed.values() if link.source_id in distance and link.target_id in distance
    )


def _ahead(frontier: Sequence[int], links: Sequence[Link], direction: Direction) -> Iterator[int]:
    """Where *links* lead from the places of *frontier*, once each, in the order of these."""
    ends: dict[int, list[int]] = {place: [] for place in frontier}
    for link in links:
        if direction is not Direction.IN and link.source_id in ends:
            ends[link.source_id].append(link.target_id)
        if direction is not Direction.OUT and link.target_id in ends:
            ends[link.target_id].append(link.source_id)
    return iter(dict.fromkeys(end for place in frontier for end in ends[place]))
