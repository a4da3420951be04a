"""Beliefs: what is held true, how it was corrected, and what it is now."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.core import sessions
from mnemic.core.context import Context
from mnemic.core.leaving import retire
from mnemic.core.memories import SUPERSEDES, known, locate, successor, title_of
from mnemic.core.walking import Way, known_memory, reached
from mnemic.model.graph import Direction
from mnemic.model.memory import Memory
from mnemic.storage.base import Reader

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
    with sessions.writing_within(ctx, "correct") as (tx, session):
        old = known_memory(tx, ctx, number)
        held = _latest(tx, ctx, old.id)
        draft = successor(tx, old, text, title_of(text))._replace(
            kind=CORRECTION,
            confidence=confidence,
            metadata={},
            session_id=session,
        )
        before = tx.last_in_session(session)
        new = tx.add(draft, uid=ctx.new_uid())
        if before is not None:
            tx.add_edge(before, new.id, sessions.NEXT)
        superseded = list(dict.fromkeys((old.id, held)))
        for one in superseded:
            tx.add_edge(new.id, one, SUPERSEDES, reason=reason)
        retire(tx, superseded, reason, ctx.now())
        corrected = Corrected(new, known_memory(tx, ctx, old.id))
    ctx.wake()
    return corrected


def resolve(ctx: Context, number: int) -> Memory:
    """The latest version of the belief that this memory was a version of; itself if it was never superseded."""
    reader = ctx.store.read()
    known_memory(reader, ctx, number)
    return known_memory(reader, ctx, _latest(reader, ctx, number))


def _latest(reader: Reader, ctx: Context, number: int) -> int:
    """Where the links of supersession lead from *number*; of several the newest is followed."""
    seen = {number}
    for _ in range(MOST_HOPS):
        later = {link.source_id for link in reader.links([number], Direction.IN, [SUPERSEDES])} - seen
        allowed = reader.passing(sorted(later), known(ctx))
        if not allowed:
            break
        number = max(allowed)
        seen.add(number)
    return number


def history(ctx: Context, reference: int | str) -> list[Memory]:
    """Every version of the belief that this memory, whatever became of it, is a version of, oldest first.

    NotFound if there is no such memory, or none that the caller may see.
    """
    reader = ctx.store.read()
    number = locate(reader, ctx, reference).id
    versions: set[int] = set()
    for direction in (Direction.OUT, Direction.IN):
        way = Way(direction=direction, types=(SUPERSEDES,), depth=MOST_HOPS, limit=MOST_HOPS)
        versions |= reached(reader, ctx, number, way)[0].keys()
    return sorted(reader.memories(sorted(versions)), key=lambda memory: (memory.created_at, memory.id))
