"""Memories that are about others: found by searches that ask for them, but no entities.

They are told by a kind and a key of their metadata, since the kind alone is a word that an entity's type may be. Their
titles were made up, so they stand in nobody's way: what is linked to a mere name does not mean them.
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
