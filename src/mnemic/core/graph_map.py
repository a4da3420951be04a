"""A map of the graph: the linked memories of a namespace or around one, with the clusters they form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mnemic.core.context import Context
from mnemic.core.traversal import explore
from mnemic.model.filter import EdgeFilter, Filter
from mnemic.model.graph import Direction, Link
from mnemic.storage.base import Reader

MOST_NODES, MOST_LINKS = 10_000, 30_000
ROUNDS = 8
"""Label propagation ends after so many rounds at the latest."""


class MapNode(NamedTuple):
    """A memory on the map."""

    id: int
    title: str
    kind: str
    namespace: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphMap:
    """Memories and the links between them. A cluster is named by a number, the largest has 0."""

    nodes: tuple[MapNode, ...]
    links: tuple[Link, ...]
    clusters: Mapping[int, int]
    """The cluster of each memory, by its number."""
    types: Mapping[str, int]
    """How many links there are of each type in all, shown or not."""
    left_out: int = 0
    """Linked memories for which there was no room: those with the fewest links."""


def whole(
    ctx: Context, namespace: str | None, types: Sequence[str] | None = None, *, limit: int = MOST_NODES
) -> GraphMap:
    """The linked memories of a namespace, or of all that are looked into; if there are too many, the best linked."""
    reader = ctx.read()
    ends = Filter(namespaces=ctx.scope(namespace), alive_at=ctx.now())
    every = EdgeFilter(ends=ends, is_current=True)
    only = EdgeFilter(ends=ends, types=None if types is None else tuple(types), is_current=True)
    links = reader.look(only, Link, limit=MOST_LINKS)
    degrees = Counter(end for link in links for end in (link.source_id, link.target_id))
    chosen = _best_linked(links, degrees, limit)
    shown = [link for link in links if link.source_id in chosen and link.target_id in chosen]
    is_all = types is None and len(links) < MOST_LINKS
    tally = _tally(links) if is_all else reader.tally(every, "type")
    return _mapped(reader, sorted(chosen), shown, tally, len(degrees) - len(chosen))


def _tally(links: Sequence[Link]) -> dict[str, int]:
    return dict(Counter(link.type for link in links).most_common())


def _best_linked(links: Sequence[Link], degrees: Mapping[int, int], limit: int) -> set[int]:
    """As many memories as there is room for, with links between them: the ends of the links between the best linked."""
    if len(degrees) <= limit:
        return set(degrees)
    chosen: set[int] = set()
    for link in sorted(links, key=lambda link: -degrees[link.source_id] - degrees[link.target_id]):
        if len(chosen) + 2 > limit:
            break
        chosen |= {link.source_id, link.target_id}
    return chosen


def around(
    ctx: Context, reference: int | str, types: Sequence[str] | None, depth: int, *, limit: int
) -> GraphMap:
    """The living memories within *depth* links of one."""
    found = explore(ctx, reference, Direction.BOTH, types, depth, limit)
    links = [Link(one.id, one.source_id, one.target_id, one.type, one.weight) for one in found.edges]
    return _mapped(ctx.read(), [memory.id for memory, _ in found.memories], links, _tally(links), 0)


def _mapped(
    reader: Reader, numbers: Sequence[int], links: Sequence[Link], types: Mapping[str, int], left_out: int
) -> GraphMap:
    nodes = tuple(reader.look(numbers, MapNode))
    return GraphMap(
        nodes=nodes,
        links=tuple(links),
        clusters=clusters([node.id for node in nodes], links),
        types=types,
        left_out=left_out,
    )


def clusters(numbers: Sequence[int], links: Sequence[Link]) -> dict[int, int]:
    """The cluster of each memory by label propagation: each takes the label most of its neighbours have."""
    beside: dict[int, list[int]] = {number: [] for number in numbers}
    for link in links:
        beside[link.source_id].append(link.target_id)
        beside[link.target_id].append(link.source_id)
    labels = {number: number for number in numbers}
    for _ in range(ROUNDS):
        changes = 0
        for number, others in beside.items():
            if others and (label := _commonest(labels, others, labels[number])) != labels[number]:
                labels[number] = label
                changes += 1
        if not changes:
            break
    ranked = {label: rank for rank, (label, _) in enumerate(Counter(labels.values()).most_common())}
    return {number: ranked[label] for number, label in labels.items()}


def _commonest(labels: Mapping[int, int], others: Sequence[int], own: int) -> int:
    """The label that most of *others* have; of several its *own*, else the largest.

    The largest is mostly that of one not looked at yet, so that a label does not run through a bridge in one round.
    """
    if len(others) == 1:
        return labels[others[0]]
    counts: dict[int, int] = {}
    for other in others:
        label = labels[other]
        counts[label] = counts.get(label, 0) + 1
    most = max(counts.values())
    return own if counts.get(own) == most else max(label for label, count in counts.items() if count == most)
