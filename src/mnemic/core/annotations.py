"""What the rules make of memories that are about others."""

from __future__ import annotations

from collections.abc import Mapping

from mnemic.model.annotations import HIDDEN, REFLECTION, is_hidden
from mnemic.model.memory import Memory

TARGET = "target_id"
"""Where a reflection says which one of that sort it is about."""
KEPT = (*HIDDEN, (REFLECTION[0], TARGET))


def with_its_keys(memory: Memory, metadata: Mapping[str, object]) -> Mapping[str, object]:
    """*metadata* in the place of the memory's own, but for what tells that it is about others."""
    if not is_hidden(memory):
        return metadata
    own = {key: memory.metadata[key] for kind, key in KEPT if kind == memory.kind and key in memory.metadata}
    return {**own, **metadata}
