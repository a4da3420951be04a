"""Links between memories: making, ending and walking them."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.core.context import Context
from mnemic.core.memories import in_use, locate, must_live
from mnemic.core.states import retire
from mnemic.errors import NotFound
from mnemic.model.enums import State
from mnemic.model.filter import EdgeFilter
from mnemic.model.graph import Direction, Edge, EdgeDraft, EdgePatch, Neighbourhood
from mnemic.model.limits import not_itself
from mnemic.storage.base import Reader, Writer
from mnemic.storage.queries import edge_between, edge_numbered, passing

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
    """Link two memories; an existing link gets the new weight and reason.

    With *keeps* it stays unchanged. With *supersedes* the target is superseded in the same transaction.
    """

    def work(tx: Writer) -> Edge:
        start, end = locate(tx, ctx, source), locate(tx, ctx, target)
        must_live(start)
        must_live(end)
        not_itself(start.id, end.id)
        standing = edge_between(tx, start.id, end.id, type)
        if standing and keeps:
            return standing
        if standing:
            chosen = reason if reason is not None else standing.reason
            edge = tx.update_edge(standing, EdgePatch(weight=weight, reason=chosen))
        else:
            edge = tx.insert_edge(EdgeDraft(start.id, end.id, type, weight=weight, reason=reason))
        if supersedes:
            retire(tx, [end.id], reason, ctx.now())
        return edge

    return ctx.change("link", work, namespaces=ctx.usual)


def link_once(
    tx: Writer, source_id: int, target_id: int, type: str, weight: float = 1.0, reason: str | None = None
) -> bool:
    """Link two memories unless they are; whether a link was made."""
    not_itself(source_id, target_id)
    if edge_between(tx, source_id, target_id, type):
        return False
    tx.insert_edge(EdgeDraft(source_id, target_id, type, weight=weight, reason=reason))
    return True


def end_link(ctx: Context, source: int | str, target: int | str, type: str) -> Edge:
    """End the link of this type; it stays in the store as something that was true until now."""

    def work(tx: Writer) -> Edge:
        start, end = locate(tx, ctx, source), locate(tx, ctx, target)
        standing = edge_between(tx, start.id, end.id, type)
        if standing is None:
            raise NotFound(f"No link {type!r} from memory {start.id} to {end.id}")
        return tx.update_edge(standing, EdgePatch(valid_to=ctx.now()))

    return ctx.change("end_link", work, namespaces=ctx.usual)


def find_link(reader: Reader, ctx: Context, number: int) -> Edge:
    """The living link with this number, whose ends the caller may see, or NotFound."""
    edge = edge_numbered(reader, number)
    ends = reader.get([edge.source_id, edge.target_id]) if edge and edge.state is State.LIVING else []
    if edge is None or not ends:
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
    reader = ctx.read()
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
    reached = tuple((memory, distance[memory.id]) for memory in reader.get(list(distance)))
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
    """Shortest path of living memories between two, of at most *longest* links; empty if there is none."""
    reader = ctx.read()
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
    memories = reader.get(numbers[::-1])
    return Neighbourhood(tuple((memory, step) for step, memory in enumerate(memories)), tuple(edges[::-1]))


def _current(
    reader: Reader, numbers: Sequence[int], direction: Direction, types: Sequence[str] | None
) -> list[Edge]:
    """The links at these memories that have not ended."""
    only = None if types is None else tuple(types)
    return reader.edges(EdgeFilter(at=tuple(numbers), direction=direction, types=only, is_current=True))


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
    seen = passing(reader, fresh, in_use(ctx))
    return [number for number in fresh if number in seen]
