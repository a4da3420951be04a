"""Beliefs: chains of corrections and their current version."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mnemic.core import sessions, titles
from mnemic.core.context import Context
from mnemic.core.memories import SUPERSEDES, known, locate, successor
from mnemic.core.states import retire
from mnemic.core.traversal import Way, known_memory, reached
from mnemic.model.filter import EdgeFilter, Filter, Order
from mnemic.model.graph import Direction, EdgeDraft, Link
from mnemic.model.memory import Memory
from mnemic.storage.base import Reader, Writer
from mnemic.storage.queries import passing

CORRECTION = "correction"
CONTRADICTS = "contradicts"
MOST_HOPS = 10_000
"""So often a belief is followed to a later one; more is a mistake."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """A correction and the memory it was made of."""

    new: Memory
    old: Memory


def correct(
    ctx: Context, number: int, text: str, *, confidence: float = 0.95, reason: str | None = None
) -> Corrected:
    """Put a correction in the place of a belief, within the session of this caller.

    The old one stays readable as superseded. Of a belief that was corrected before, the version held now is superseded
    too, so that there is one latest. NotFound if there is no such memory.
    """

    def work(tx: Writer, session: int) -> Corrected:
        old = known_memory(tx, ctx, number)
        held = _latest(tx, ctx, old.id)
        superseded = list(dict.fromkeys((old.id, held)))
        retire(tx, superseded, reason, ctx.now())
        draft = replace(
            successor(tx, old, text),
            kind=CORRECTION,
            confidence=confidence,
            metadata={},
            session_id=session,
        )
        before = next(iter(tx.select(Filter(session_ids=(session,)), order=Order.LAST, limit=1)), None)
        new = titles.insert(tx, ctx, draft)
        if before is not None:
            tx.insert_edge(EdgeDraft(before, new.id, sessions.NEXT))
        for one in superseded:
            tx.insert_edge(EdgeDraft(new.id, one, SUPERSEDES, reason=reason))
        return Corrected(new, known_memory(tx, ctx, old.id))

    corrected = sessions.change_within(ctx, "correct", work)
    ctx.wake()
    return corrected


def resolve(ctx: Context, number: int) -> Memory:
    """The latest version of the belief that this memory was a version of; itself if it was never superseded."""
    reader = ctx.read()
    known_memory(reader, ctx, number)
    return known_memory(reader, ctx, _latest(reader, ctx, number))


def _latest(reader: Reader, ctx: Context, number: int) -> int:
    """Where the links of supersession lead from *number*; of several the newest is followed."""
    seen = {number}
    for _ in range(MOST_HOPS):
        later = {
            link.source_id
            for link in reader.look(
                EdgeFilter(at=(number,), direction=Direction.IN, types=(SUPERSEDES,), is_current=True), Link
            )
        } - seen
        allowed = passing(reader, sorted(later), known(ctx))
        if not allowed:
            break
        number = max(allowed)
        seen.add(number)
    return number


def history(ctx: Context, reference: int | str) -> list[Memory]:
    """Every version of the belief that this memory is a version of, in any state, oldest first.

    NotFound if there is no such memory or the caller may not see it.
    """
    reader = ctx.read()
    number = locate(reader, ctx, reference).id
    versions: set[int] = set()
    for direction in (Direction.OUT, Direction.IN):
        way = Way(direction=direction, types=(SUPERSEDES,), depth=MOST_HOPS, limit=MOST_HOPS)
        versions |= reached(reader, number, way, known(ctx))[0].keys()
    return sorted(reader.get(sorted(versions)), key=lambda memory: (memory.created_at, memory.id))
