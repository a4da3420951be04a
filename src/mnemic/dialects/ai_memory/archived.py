"""A memory in the archive as ai-memory shows it."""

from __future__ import annotations

from typing import Any

from mnemic.formats.document import memory_entry
from mnemic.model.memory import Memory
from mnemic.model.values import iso

EXPIRED, COLLECTED = "expired", "gc"


def archived_entry(memory: Memory) -> dict[str, Any]:
    """The memory, when it came into the archive and why."""
    entry = memory_entry(memory)
    if memory.state_at is not None:
        entry["archived_at"] = iso(memory.state_at)
    reason = memory.state_reason or COLLECTED
    return {**entry, "archive_reason": COLLECTED if reason == EXPIRED else reason}
