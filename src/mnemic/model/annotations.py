"""Annotations: memories about other memories, found only by searches that ask for them; never entities.

They are recognised by kind and a metadata key, since an entity may have the same word as its type. Their
titles were made up, so they take no name: what is linked to a mere name does not mean them.
"""

from __future__ import annotations

from mnemic.model.memory import Memory

REFLECTION = ("reflection", "target_type")
EPISODE = ("episode", "episode_of")
TURN = ("turn", "conversation")
HIDDEN = (REFLECTION, EPISODE, TURN)


def is_hidden(memory: Memory) -> bool:
    """Whether *memory* is about others and no entity."""
    return any(memory.kind == kind and key in memory.metadata for kind, key in HIDDEN)
