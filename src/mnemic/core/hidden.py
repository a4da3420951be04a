"""Memories that are about others: found by searches that ask for them, but no entities.

They are told by a kind and a key of their metadata, since the kind alone is a word that an entity's type may be.
"""

from __future__ import annotations

from collections.abc import Mapping

from mnemic.model.memory import Memory

REFLECTION = ("reflection", "target_type")
EPISODE = ("episode", "episode_of")
TURN = ("turn", "conversation")
HIDDEN = (REFLECTION, EPISODE, TURN)
TARGET = "target_id"
"""Where a reflection says which one of that sort it is about."""
KEPT = (*HIDDEN, (REFLECTION[0], TARGET))


def is_hidden(memory: Memory) -> bool:
    """Whether *memory* is about others and no entity."""
    return any(memory.kind == kind and key in memory.metadata for kind, key in HIDDEN)


def with_its_keys(memory: Memory, metadata: Mapping[str, object]) -> Mapping[str, object]:
    """*metadata* in the place of the memory's own, but for what tells that it is about others."""
    if not is_hidden(memory):
        return metadata
    own = {key: memory.metadata[key] for kind, key in KEPT if kind == memory.kind and key in memory.metadata}
    return {**own, **metadata}
