"""Review of captured memories: which wait for it, and what accepting one or saying it again does."""

from __future__ import annotations

from dataclasses import replace

from mnemic.core import memories
from mnemic.core.context import Context
from mnemic.core.memories import Revision
from mnemic.model.annotations import EPISODE, REFLECTION, TURN
from mnemic.model.enums import State
from mnemic.model.filter import Filter, Order
from mnemic.model.memory import Memory, MemoryPatch
from mnemic.search.similarity import NEAR, jaccard, near_duplicates
from mnemic.storage.base import Writer
from mnemic.storage.queries import contents

SOURCE = "captured"
UNREVIEWED = "captured"
"""The tag of a captured memory that nobody has accepted yet."""
ACCEPTED_CONFIDENCE = 1.0
SAID_AGAIN, SUREST_UNREVIEWED = 0.1, 0.9
"""What a repetition adds to the confidence of an unreviewed memory, and how far."""
MOST_WAITING = 1_000
MOST_REJECTED = 1_000
_ANNOTATIONS = (TURN[0], EPISODE[0], REFLECTION[0])


def waiting(ctx: Context, limit: int = MOST_WAITING) -> list[Memory]:
    """The captured memories without a review, newest first."""
    reader = ctx.read()
    wanted = Filter(namespaces=ctx.scope(), tags=(UNREVIEWED,), alive_at=ctx.now())
    found = reader.get(reader.select(wanted, limit=limit, order=Order.NEWEST))
    return [memory for memory in found if memory.source == SOURCE]


def accept(ctx: Context, reference: int | str) -> Memory:
    """Take a captured memory for what its author meant: reviewed, and sure."""
    memory = memories.find(ctx, reference)
    if not is_unreviewed(memory):
        return memory
    return memories.revise(
        ctx, memory.id, Revision(tags=reviewed_tags(memory), confidence=ACCEPTED_CONFIDENCE)
    )


def revise(ctx: Context, reference: int | str, revision: Revision) -> Memory:
    """Change a memory's text or fields. A rewritten captured memory counts as reviewed."""
    memory = memories.find(ctx, reference)
    if is_unreviewed(memory) and revision.text is not None:
        tags = reviewed_tags(memory) if revision.tags is None else revision.tags
        revision = replace(revision, tags=tags, confidence=revision.confidence or ACCEPTED_CONFIDENCE)
    return memories.revise(ctx, reference, revision)


def is_unreviewed(memory: Memory) -> bool:
    """Whether *memory* was captured and is not accepted yet."""
    return memory.source == SOURCE and UNREVIEWED in memory.tags


def reviewed_tags(memory: Memory) -> tuple[str, ...]:
    """The tags of *memory* once it is reviewed."""
    return tuple(tag for tag in memory.tags if tag != UNREVIEWED)


def known(tx: Writer, ctx: Context, text: str) -> Memory | None:
    """The living memory that says *text* or nearly so; a turn or an episode does not count."""
    wanted = Filter(namespaces=(ctx.home(),), not_kinds=_ANNOTATIONS)
    return next((memory for memory, _ in near_duplicates(tx, text, wanted)), None)


def confirm(tx: Writer, memory: Memory) -> None:
    """Make an unreviewed memory surer, since it was said again."""
    if is_unreviewed(memory) and memory.confidence < SUREST_UNREVIEWED:
        tx.update(
            memory, MemoryPatch(confidence=round(min(SUREST_UNREVIEWED, memory.confidence + SAID_AGAIN), 2))
        )


def was_rejected(tx: Writer, ctx: Context, text: str) -> bool:
    """Whether a captured memory that says *text* or nearly so was deleted instead of accepted."""
    wanted = Filter(namespaces=(ctx.home(),), tags=(UNREVIEWED,), states=frozenset({State.FORGOTTEN}))
    rejected = contents(tx, tx.select(wanted, limit=MOST_REJECTED, order=Order.LAST))
    return any(jaccard(text, one) >= NEAR for one in rejected.values())
