"""Memories by their uids, and the links they have, for dialects that know neither numbers nor titles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mnemic.core.context import Context
from mnemic.model.enums import State
from mnemic.model.filter import LIVING_ONLY, EdgeFilter, Filter
from mnemic.model.graph import Edge
from mnemic.model.memory import Memory
from mnemic.storage import queries
from mnemic.storage.queries import uids_of

GONE_TOO = LIVING_ONLY | {State.FORGOTTEN}


@dataclass(frozen=True, slots=True)
class LoreLink:
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
    reader = ctx.read()
    numbers = queries.numbers(reader, uids)
    wanted = Filter(namespaces=namespaces, alive_at=ctx.now(), states=GONE_TOO if forgotten else LIVING_ONLY)
    standing = uids_of(reader, numbers.values(), wanted) if numbers else {}
    found = {memory.id: memory for memory in reader.get(list(standing))}
    return {uid: found[numbers[uid]] for uid in uids if uid in numbers and numbers[uid] in found}


def links_of(
    ctx: Context, memories: Sequence[Memory], namespaces: tuple[str, ...] | None, most: int
) -> dict[int, list[LoreLink]]:
    """Up to *most* links of each memory to living ones in *namespaces*, by id; best rated first."""
    if not memories:
        return {}
    reader = ctx.read()
    known = {memory.id: memory.uid for memory in memories}
    edges = [edge for edge in reader.edges(EdgeFilter(at=tuple(known))) if edge.is_current]
    ends = {end for edge in edges for end in (edge.source_id, edge.target_id)} - known.keys()
    if ends:
        known |= uids_of(reader, sorted(ends), Filter(namespaces=namespaces, alive_at=ctx.now()))
    shown: dict[int, list[LoreLink]] = {memory.id: [] for memory in memories}
    for edge in sorted(edges, key=_merit):
        if edge.source_id in known and edge.target_id in known:
            link = LoreLink(edge, known[edge.source_id], known[edge.target_id])
            for end in {edge.source_id, edge.target_id} & shown.keys():
                shown[end].append(link)
    return {number: links[:most] for number, links in shown.items()}


def _merit(edge: Edge) -> tuple[float, int]:
    return -edge.worth, edge.id
