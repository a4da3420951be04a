"""Conflicts: living memories of which one contradicts the other, by a link that says so or by what they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from mnemic.core.context import Context
from mnemic.core.judging.beliefs import CONTRADICTS
from mnemic.core.memories import is_in_use
from mnemic.core.unassisted import contradict
from mnemic.model.graph import Direction
from mnemic.model.memory import Memory
from mnemic.model.search import Filter

MOST_COMPARED = 20


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two memories that do not go together, and whether a link says so; else it is our reading of their texts."""

    one: Memory
    other: Memory
    is_linked: bool
    reason: str | None = None


def find(ctx: Context, namespace: str | None = None) -> list[Conflict]:
    """The conflicts between living memories: first those that links tell, then those of nearly equal texts."""
    from mnemic.core.tidying import (
        doubles,  # which loads all that merges and splits; a claim is verified without
    )

    linked = _linked(ctx, namespace)
    told = {frozenset((conflict.one.id, conflict.other.id)) for conflict in linked}
    read = [Conflict(one, other, False) for one, other in doubles.opposed(ctx, namespace)]
    return linked + [one for one in read if frozenset((one.one.id, one.other.id)) not in told]


def _linked(ctx: Context, namespace: str | None) -> list[Conflict]:
    """The living memories that were said to contradict each other, by the number of the link that says so."""
    reader = ctx.store.read()
    living = Filter(namespaces=ctx.scope(namespace), alive_at=ctx.now())
    edges = reader.edges_typed(CONTRADICTS, living)
    ends = {end for edge in edges for end in (edge.source_id, edge.target_id)}
    memories = {memory.id: memory for memory in reader.memories(sorted(ends))}
    return [Conflict(memories[edge.source_id], memories[edge.target_id], True, edge.reason) for edge in edges]


def among(ctx: Context, memories: Sequence[Memory]) -> list[Conflict]:
    """What stands against any of these memories: what a link says contradicts it, or another of them by its text."""
    reader = ctx.store.read()
    living = {memory.id: memory for memory in memories if is_in_use(ctx, memory)}
    edges = [edge for edge in reader.edges(list(living), Direction.BOTH, [CONTRADICTS]) if edge.is_current]
    ends = {end for edge in edges for end in (edge.source_id, edge.target_id)}
    seen = living | {memory.id: memory for memory in reader.memories(sorted(ends)) if is_in_use(ctx, memory)}
    linked = [
        Conflict(seen[edge.source_id], seen[edge.target_id], True, edge.reason)
        for edge in edges
        if edge.source_id in seen and edge.target_id in seen
    ]
    told = {frozenset((conflict.one.id, conflict.other.id)) for conflict in linked}
    read = (
        Conflict(one, other, False)
        for one, other in combinations(list(living.values())[:MOST_COMPARED], 2)
        if frozenset((one.id, other.id)) not in told and contradict(reader, one.content, other.content)
    )
    return [*linked, *read]
