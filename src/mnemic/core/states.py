"""How a memory leaves, and how it comes back."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.core import titles
from mnemic.model.enums import State
from mnemic.model.memory import Memory, MemoryPatch
from mnemic.model.time import Moment
from mnemic.storage.base import Writer

NOTHING = MemoryPatch()


def taken_out(tx: Writer, memory: Memory, state: State, reason: str | None, now: Moment) -> Memory:
    """*memory*, moved to a *state* that is not living."""
    return tx.update(memory, MemoryPatch(state=state, state_reason=reason, state_at=now))


def brought_back(tx: Writer, memory: Memory, patch: MemoryPatch = NOTHING) -> Memory:
    """*memory*, living again and with *patch* applied. Conflict if another memory has its name now."""
    living = MemoryPatch(state=State.LIVING, state_reason=None, state_at=None)
    return titles.update(tx, memory, living.then(patch))


def retire(tx: Writer, memory_ids: Sequence[int], reason: str | None, now: Moment) -> None:
    """Mark those of these memories that are living as superseded."""
    for memory in tx.get(memory_ids):
        if memory.state is State.LIVING:
            taken_out(tx, memory, State.SUPERSEDED, reason, now)
