"""Session context of a hit: the turns before and after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mnemic.core.context import Context
from mnemic.model.filter import Filter, Hit
from mnemic.model.memory import Memory
from mnemic.model.text_size import estimated_tokens
from mnemic.storage.base import Reader
from mnemic.storage.queries import neighbours_in_session, passing


def with_surroundings(
    ctx: Context, hits: Sequence[Hit], around: int, wanted: Filter, room: int | None
) -> tuple[Hit, ...]:
    """*hits*, each with up to *around* turns before and after it that are within the namespaces of *wanted*.

    No turn is shown twice. With *room*, the turns nearest to the best hits come first, while they fit.
    """
    reader = ctx.read()
    near = _near(reader, [hit.memory.id for hit in hits], around)
    visible = _visible(reader, {turn for turns in near.values() for turn, _ in turns}, wanted)
    shown = {hit.memory.id for hit in hits}
    chosen: dict[int, list[Memory]] = {}
    for hit in hits:
        chosen[hit.memory.id] = []
        for turn, _ in near[hit.memory.id]:
            memory = visible.get(turn)
            cost = estimated_tokens(memory.content) if memory else 0
            if memory is None or turn in shown or (room is not None and cost > room):
                continue
            shown.add(turn)
            room = None if room is None else room - cost
            chosen[hit.memory.id].append(memory)
    return tuple(_with(hit, chosen[hit.memory.id]) for hit in hits)


def _near(reader: Reader, memory_ids: Sequence[int], around: int) -> dict[int, list[tuple[int, int]]]:
    """For each memory, the turns at most *around* steps away with their distance, nearest first."""
    reached = {number: {number: 0} for number in memory_ids}
    edge = {number: {number} for number in memory_ids}
    for step in range(1, around + 1):
        beside = neighbours_in_session(reader, sorted(set().union(*edge.values()))) if edge else {}
        for number, seen in reached.items():
            fresh = {turn for last in edge[number] for turn in beside.get(last, ()) if turn not in seen}
            seen |= dict.fromkeys(fresh, step)
            edge[number] = fresh
    return {
        number: sorted(((turn, step) for turn, step in seen.items() if step), key=lambda one: one[1])
        for number, seen in reached.items()
    }


def _visible(reader: Reader, turns: set[int], wanted: Filter) -> dict[int, Memory]:
    """The living *turns* within the namespaces of *wanted*; its other conditions are ignored."""
    scope = Filter(namespaces=wanted.namespaces, alive_at=wanted.alive_at)
    return {memory.id: memory for memory in reader.get(sorted(passing(reader, turns, scope)))}


def _with(hit: Hit, turns: Sequence[Memory]) -> Hit:
    ordered = sorted(turns, key=lambda turn: turn.id)
    return replace(
        hit,
        before=tuple(turn for turn in ordered if turn.id < hit.memory.id),
        after=tuple(turn for turn in ordered if turn.id > hit.memory.id),
    )
