"""How a memory leaves, and how it comes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mnemic.core.hidden import free_title
from mnemic.model.hidden import is_hidden
from mnemic.model.memory import Memory
from mnemic.model.values import Moment, State
from mnemic.storage.base import Writer


def taken_out(tx: Writer, memory: Memory, state: State, reason: str | None, now: Moment) -> Memory:
    """*memory*, in *state* and out of use from now on."""
    return tx.change(memory, state=state, state_reason=reason, state_at=now)


def brought_back(tx: Writer, memory: Memory, **fields: Any) -> Memory:
    """*memory*, in use again, and with these fields changed. Conflict if another bears its title now.

    What is hidden takes another title then.
    """
    if is_hidden(memory):
        fields = {"title": free_title(tx, memory), **fields}
    return tx.change(memory, state=State.LIVING, state_reason=None, state_at=None, **fields)


def retire(tx: Writer, memory_ids: Sequence[int], reason: str | None, now: Moment) -> None:
    """Take those of these memories that are living out of use, as superseded."""
    for memory in tx.memories(memory_ids):
        if memory.state is State.LIVING:
            taken_out(tx, memory, State.SUPERSEDED, reason, now)
