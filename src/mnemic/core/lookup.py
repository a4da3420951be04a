"""Memories by their uids, and the links they have, for vocabularies that know neither numbers nor titles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mnemic.core.context import Context
from mnemic.model.graph import Direction, Edge
from mnemic.model.memory import Memory
from mnemic.model.search import LIVING_ONLY, Filter
from mnemic.model.values import State

GONE_TOO = LIVING_ONLY | {State.FORGOTTEN}


@dataclass(frozen=True, slots=True)
class Link:
    """A link by the uids of its ends."""

    edge: Edge
    source: str
    target: str


def by_uid(
    ctx: Context,
    uids: Sequence[str],
    namespaces: tuple[str, ...] | None,
    *,
    forgotten: bool = False,
) -> dict[str, Memory]:
    """The memories of *namespaces* that have these uids, in that order; those that were forgotten only if asked for."""
    if not uids:
        return {}
    reader = ctx.store.read()
    numbers = reader.numbers(uids)
    wanted = Filter(namespaces=namespaces, alive_at=ctx.now(), states=GONE_TOO if forgotten else LIVING_ONLY)
    standing = reader.uids(list(numbers.values()), wanted) if numbers else {}
    found = {memory.id: memory for memory in reader.memories(list(standing))}
    return {uid: found[numbers[uid]] for uid in uids if uid in numbers and numbers[uid] in found}


def links_of(
    ctx: Context, memories: Sequence[Memory], namespaces: tuple[str, ...] | None, most: int
) -> dict[int, list[Link]]:
    """Up to *most* links of each memory to what is in use in *namespaces*, by its number; the best rated first."""
    if not memories:
        return {}
    reader = ctx.store.read()
    known = {memory.id: memory.uid for memory in memories}
    edges = [edge for edge in reader.edges(list(known), Direction.BOTH) if edge.is_current]
    ends = {end for edge in edges for end in (edge.source_id, edge.target_id)} - known.keys()
    if ends:
        known |= reader.uids(sorted(ends), Filter(namespaces=namespaces, alive_at=ctx.now()))
    shown: dict[int, list[Link]] = {memory.id: [] for memory in memories}
    for edge in sorted(edges, key=_merit):
        if edge.source_id in known and edge.target_id in known:
            link = Link(edge, known[edge.source_id], known[edge.target_id])
            for end in {edge.source_id, edge.target_id} & shown.keys():
                shown[end].append(link)
    return {number: links[:most] for number, links in shown.items()}


def _merit(edge: Edge) -> tuple[float, int]:
    return -edge.worth, edge.id
