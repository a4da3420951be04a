"""Links between memories: making, ending and walking them."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.core.context import Context
from mnemic.core.leaving import retire
from mnemic.core.memories import in_use, locate, must_live
from mnemic.errors import Invalid, NotFound
from mnemic.model.graph import Direction, Edge, Neighbourhood
from mnemic.model.values import State
from mnemic.storage.base import Reader, Writer

LONGEST_PATH = 20
WIDEST_SEARCH = 50_000


def link(
    ctx: Context,
    source: int | str,
    target: int | str,
    type: str,
    weight: float = 1.0,
    reason: str | None = None,
    *,
    keeps: bool = False,
    supersedes: bool = False,
) -> Edge:
    """A link from one memory to another; if it stands already, its weight and reason are brought up to date.

    Or it *keeps* them as they are. If it *supersedes*, its target is superseded in the same transaction.
    """
    with ctx.write("link") as tx:
        start, end = locate(tx, ctx, source), locate(tx, ctx, target)
        must_live(start)
        must_live(end)
        if start.id == end.id:
            raise Invalid("target: a memory cannot be linked to itself", "target")
        standing = tx.edge_between(start.id, end.id, type)
        if standing and keeps:
            return standing
        if standing:
            told = reason if reason is not None else standing.reason
            edge = tx.change_edge(standing, weight=weight, reason=told)
        else:
            edge = tx.add_edge(start.id, end.id, type, weight=weight, reason=reason)
        if supersedes:
            retire(tx, [end.id], reason, ctx.now())
        return edge


def link_once(
    tx: Writer, source_id: int, target_id: int, type: str, weight: float = 1.0, reason: str | None = None
) -> bool:
    """Link two memories unless they are; whether a link was made."""
    if tx.edge_between(source_id, target_id, type):
        return False
    tx.add_edge(source_id, target_id, type, weight=weight, reason=reason)
    return True


def end_link(ctx: Context, source: int | str, target: int | str, type: str) -> Edge:
    """End the link of this type; it stays in the store as something that was true until now."""
    with ctx.write("end_link") as tx:
        start, end = locate(tx, ctx, source), locate(tx, ctx, target)
        standing = tx.edge_between(start.id, end.id, type)
        if standing is None:
            raise NotFound(f"No link {type!r} from memory {start.id} to {end.id}")
        return tx.change_edge(standing, valid_to=ctx.now())


def find_link(reader: Reader, ctx: Context, number: int) -> Edge:
    """The living link with this number, whose ends the caller may see, or NotFound."""
    edge = reader.edge(number)
    ends = reader.memories([edge.source_id, edge.target_id]) if edge and edge.state is State.LIVING else []
    if edge is None or not ends or not all(ctx.may_see(end.namespace) for end in ends):
        raise NotFound(f"No link {number}")
    return edge


def explore(
    ctx: Context,
    reference: int | str,
    direction: Direction = Direction.BOTH,
    types: Sequence[str] | None = None,
    depth: int = 1,
    limit: int = 50,
) -> Neighbourhood:
    """The living memories within *depth* links of one, nearest first, and the links between them."""
    reader = ctx.store.read()
    start = locate(reader, ctx, reference)
    distance = {start.id: 0}
    walked: dict[int, Edge] = {}
    frontier = [start.id]
    for step in range(1, depth + 1):
        edges = _current(reader, frontier, direction, types)
        fresh = _visible(reader, ctx, [end for edge in edges for end in _ends(edge, direction)], distance)
        for number in fresh[: max(0, limit - len(distance))]:
            distance[number] = step
        walked |= {edge.id: edge for edge in edges}
        frontier = [number for number in fresh if number in distance]
        if not frontier:
            break
    reached = tuple((memory, distance[memory.id]) for memory in reader.memories(list(distance)))
    between = (edge for edge in walked.values() if edge.source_id in distance and edge.target_id in distance)
    return Neighbourhood(reached, tuple(sorted(between, key=lambda edge: edge.id)))


def path(
    ctx: Context,
    reference: int | str,
    target: int | str,
    direction: Direction = Direction.BOTH,
    types: Sequence[str] | None = None,
    longest: int = LONGEST_PATH,
) -> Neighbourhood:
    """The shortest way along living memories from one to another; empty if there is none of at most *longest* links."""
    reader = ctx.store.read()
    start, goal = locate(reader, ctx, reference), locate(reader, ctx, target)
    came_by: dict[int, Edge | None] = {start.id: None}
    frontier = [start.id]
    for _ in range(longest):
        if goal.id in came_by or not frontier or len(came_by) > WIDEST_SEARCH:
            break
        frontier = _widen(reader, ctx, frontier, direction, types, came_by)
    if goal.id not in came_by:
        return Neighbourhood((), ())
    return _retraced(reader, came_by, goal.id)


def _widen(
    reader: Reader,
    ctx: Context,
    frontier: Sequence[int],
    direction: Direction,
    types: Sequence[str] | None,
    came_by: dict[int, Edge | None],
) -> list[int]:
    """One step further from every place of the frontier; each new place remembers the link it was reached by."""
    edges = _current(reader, frontier, direction, types)
    fresh = set(_visible(reader, ctx, [end for edge in edges for end in _ends(edge, direction)], came_by))
    for edge in edges:
        for end in _ends(edge, direction):
            if end in fresh and end not in came_by:
                came_by[end] = edge
    return sorted(fresh)


def _retraced(reader: Reader, came_by: dict[int, Edge | None], goal: int) -> Neighbourhood:
    numbers, edges = [goal], []
    while (edge := came_by[numbers[-1]]) is not None:
        edges.append(edge)
        numbers.append(edge.source_id if edge.target_id == numbers[-1] else edge.target_id)
    memories = reader.memories(numbers[::-1])
    return Neighbourhood(tuple((memory, step) for step, memory in enumerate(memories)), tuple(edges[::-1]))


def _current(
    reader: Reader, numbers: Sequence[int], direction: Direction, types: Sequence[str] | None
) -> list[Edge]:
    """The links at these memories that have not ended."""
    return [edge for edge in reader.edges(numbers, direction, types) if edge.is_current]


def _ends(edge: Edge, direction: Direction) -> tuple[int, ...]:
    """Where following *edge* leads; of a link taken both ways, one end is where we came from."""
    match direction:
        case Direction.OUT:
            return (edge.target_id,)
        case Direction.IN:
            return (edge.source_id,)
    return (edge.source_id, edge.target_id)


def _visible(
    reader: Reader, ctx: Context, numbers: Sequence[int], known: dict[int, Edge | None] | dict[int, int]
) -> list[int]:
    """Those of *numbers* not yet known that are living and may be seen, in order."""
    fresh = [number for number in dict.fromkeys(numbers) if number not in known]
    seen = reader.passing(fresh, in_use(ctx))
    return [number for number in fresh if number in seen]
