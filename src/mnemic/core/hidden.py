"""What the rules make of memories that are about others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mnemic.model.hidden import HIDDEN, REFLECTION, is_hidden
from mnemic.model.memory import Memory
from mnemic.storage.base import Reader, Writer

TARGET = "target_id"
"""Where a reflection says which one of that sort it is about."""
KEPT = (*HIDDEN, (REFLECTION[0], TARGET))


def bearers(reader: Reader, title: str, namespaces: Sequence[str] | None) -> list[Memory]:
    """The living memories that are called *title* in these namespaces, or anywhere.

    What is hidden is left out: its title was made up, and it gives it up for another.
    """
    return [
        memory for memory in reader.memories(reader.ids_titled(title, namespaces)) if not is_hidden(memory)
    ]


def free_title(tx: Writer, memory: Memory) -> str:
    """The title of *memory*, with a number behind it if it is taken where it is to live.

    What is hidden makes way for what is not, so its title is taken only for another that is hidden.
    """
    others = tx.memories(tx.ids_titled(memory.title, (memory.namespace,)))
    is_taken = any(one.uid != memory.uid and (is_hidden(memory) or not is_hidden(one)) for one in others)
    return tx.unused_title(memory.namespace, memory.title) if is_taken else memory.title


def with_its_keys(memory: Memory, metadata: Mapping[str, object]) -> Mapping[str, object]:
    """*metadata* in the place of the memory's own, but for what tells that it is about others."""
    if not is_hidden(memory):
        return metadata
    own = {key: memory.metadata[key] for kind, key in KEPT if kind == memory.kind and key in memory.metadata}
    return {**own, **metadata}
