"""Breadth-first search along links: neighbours of a memory, and the shortest path between two.

Each step reads the links of a whole frontier at once and the memories are read once at the end, so the cost depends on
the result, not on the size of the store.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mnemic.core.batches import batches
from mnemic.core.context import Context
from mnemic.core.memories import in_use, known, locate
from mnemic.errors import NotFound
from mnemic.model.filter import EdgeFilter, Filter
from mnemic.model.graph import Direction, Edge, Link, Neighbourhood
from mnemic.model.memory import Memory
from mnemic.storage.base import Reader
from mnemic.storage.queries import memory_numbered, passing

LONGEST_PATH = 20
WIDEST_SEARCH = 50_000
AT_ONCE = 32
"""Frontier nodes expanded at once, at least; when few more are wanted, all links would be too many."""
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
    goal: int | None = None
    """Go no further than the step that reaches this memory."""


def known_memory(reader: Reader, ctx: Context, number: int) -> Memory:
    """The living or superseded memory with this id; NotFound if there is none that the caller may see."""
    memory = memory_numbered(reader, number) if passing(reader, [number], known(ctx)) else None
    if memory is None:
        raise NotFound(f"No memory {number}")
    return memory


def links_at(ctx: Context, numbers: Sequence[int]) -> list[Link]:
    """The links of these memories whose ends are both living or superseded, and seen by the caller."""
    reader = ctx.read()
    links = reader.look(EdgeFilter(at=tuple(numbers), is_current=True), Link) if numbers else []
    seen = passing(
        reader, sorted({end for link in links for end in (link.source_id, link.target_id)}), known(ctx)
    )
    return [link for link in links if link.source_id in seen and link.target_id in seen]


def explore(
    ctx: Context,
    reference: int | str,
    direction: Direction = Direction.BOTH,
    types: Sequence[str] | None = None,
    depth: int = 1,
    limit: int = 50,
) -> Neighbourhood:
    """The living memories within *depth* links of one, nearest first, and the links between them."""
    reader = ctx.read()
    start = locate(reader, ctx, reference)
    way = Way(direction=direction, types=_only(types), depth=depth, limit=limit)
    distance, links = reached(reader, start.id, way, in_use(ctx))
    return Neighbourhood(_measured(reader, distance), tuple(_edges(reader, links)))


def path(
    ctx: Context,
    reference: int | str,
    target: int | str,
    direction: Direction = Direction.BOTH,
    types: Sequence[str] | None = None,
    longest: int = LONGEST_PATH,
) -> Neighbourhood:
    """Shortest path of living memories between two, of at most *longest* links; empty if there is none."""
    reader = ctx.read()
    start, goal = locate(reader, ctx, reference), locate(reader, ctx, target)
    way = Way(direction=direction, types=_only(types), depth=longest, limit=WIDEST_SEARCH, goal=goal.id)
    distance, links = reached(reader, start.id, way, in_use(ctx))
    if goal.id not in distance:
        return Neighbourhood((), ())
    numbers, steps = _retraced(distance, links, direction, goal.id)
    edges = {edge.id: edge for edge in _edges(reader, steps)}
    return Neighbourhood(
        tuple((memory, step) for step, memory in enumerate(reader.get(numbers))),
        tuple(edges[step.id] for step in steps),
    )


def _only(types: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if types is None else tuple(types)


def _edges(reader: Reader, links: Sequence[Link]) -> list[Edge]:
    """These links whole, by number."""
    return reader.edges(EdgeFilter(ids=tuple(link.id for link in links))) if links else []


def _retraced(
    distance: dict[int, int], links: Sequence[Link], direction: Direction, goal: int
) -> tuple[list[int], list[Link]]:
    """The places and the links of a shortest way to *goal*, from its start."""
    came_by: dict[int, tuple[int, Link]] = {}
    for link in links:
        for place, end in _ways(link, direction):
            if distance[end] == distance[place] + 1:
                came_by.setdefault(end, (place, link))
    numbers, steps = [goal], []
    while distance[numbers[-1]]:
        place, step = came_by[numbers[-1]]
        numbers.append(place)
        steps.append(step)
    return numbers[::-1], steps[::-1]


def walk(ctx: Context, start: int, way: Way) -> Region:
    """The memories reached from *start*, superseded ones too, nearest first, and the links that were followed.

    NotFound without a start.
    """
    reader = ctx.read()
    known_memory(reader, ctx, start)
    distance, followed = reached(reader, start, way, known(ctx))
    return Region(_measured(reader, distance), tuple(followed))


def surroundings(ctx: Context, start: int, depth: int) -> Region:
    """The memories within *depth* links of *start*, nearest first, and every link between any two of them."""
    reader = ctx.read()
    known_memory(reader, ctx, start)
    ring = len(reader.look(EdgeFilter(at=(start,), is_current=True), Link))
    limit = min(WIDEST_RING, max(WIDEST, 1 + ring))
    distance, _ = reached(reader, start, Way(depth=depth, limit=limit), known(ctx))
    places = tuple(distance)
    links = reader.look(EdgeFilter(sources=places, targets=places, is_current=True), Link)
    return Region(_measured(reader, distance), tuple(links), is_cut=len(distance) >= limit)


def _measured(reader: Reader, distance: dict[int, int]) -> tuple[tuple[Memory, int], ...]:
    return tuple((memory, distance[memory.id]) for memory in reader.get(list(distance)))


def reached(reader: Reader, start: int, way: Way, passable: Filter) -> tuple[dict[int, int], list[Link]]:
    """How far from *start* each place is that *way* leads to past *passable* memories, and the links between these."""
    if way.limit < 1:
        return {}, []
    passable = replace(passable, min_confidence=way.min_confidence)
    distance = {start: 0}
    followed: dict[int, Link] = {}
    frontier = [start]
    for step in range(1, way.depth + 1):
        places, frontier = frontier, []
        for some in batches(places, max(AT_ONCE, way.limit // 8)):
            if len(distance) >= way.limit:
                break
            links = reader.look(
                EdgeFilter(at=tuple(some), direction=way.direction, types=way.types, is_current=True),
                Link,
            )
            ahead = [end for end in _ahead(some, links, way.direction) if end not in distance]
            allowed = passing(reader, ahead, passable)
            fresh = [end for end in ahead if end in allowed][: way.limit - len(distance)]
            distance |= dict.fromkeys(fresh, step)
            followed |= {link.id: link for link in links}
            frontier += fresh
        if not frontier or way.goal in distance:
            break
    return distance, sorted(
        link for link in followed.values() if link.source_id in distance and link.target_id in distance
    )


def _ahead(frontier: Sequence[int], links: Sequence[Link], direction: Direction) -> Iterator[int]:
    """Where *links* lead from the places of *frontier*, once each, in the order of these."""
    ends: dict[int, list[int]] = {place: [] for place in frontier}
    for link in links:
        for place, end in _ways(link, direction):
            if place in ends:
                ends[place].append(end)
    return iter(dict.fromkeys(end for place in frontier for end in ends[place]))


def _ways(link: Link, direction: Direction) -> Iterator[tuple[int, int]]:
    """From where to where *link* leads."""
    if direction is not Direction.IN:
        yield link.source_id, link.target_id
    if direction is not Direction.OUT:
        yield link.target_id, link.source_id
