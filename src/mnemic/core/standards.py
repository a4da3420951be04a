"""Standards: the memory that states the rules of a namespace, handed down from its parents."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.core.context import Context
from mnemic.model.memory import Memory

EVERYWHERE = "*"
"""The name under which the standard of all namespaces is set."""


@dataclass(frozen=True, slots=True)
class Standard:
    """What is set for a namespace: the memory, if it is still in use, and the parent that was named."""

    namespace: str
    memory: Memory | None = None
    parent: str | None = None
    is_dangling: bool = False
    """A memory was set, but it is no longer in use."""


def set_standard(ctx: Context, namespace: str, memory_id: int, parent: str | None = None) -> Standard:
    """Make a living memory the standard of *namespace*. Invalid if it were its own parent."""
    raise NotImplementedError


def standard_of(ctx: Context, namespace: str) -> Standard:
    """What is set for this very namespace."""
    raise NotImplementedError


def clear_standard(ctx: Context, namespace: str) -> bool:
    """Take the standard of *namespace* away; False if there was none."""
    raise NotImplementedError


def standards_for(ctx: Context, namespace: str | None) -> list[Memory]:
    """The standards that hold in *namespace*, the most general first: everywhere's, its parents', its own."""
    raise NotImplementedError
