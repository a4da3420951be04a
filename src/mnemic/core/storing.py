"""Storing under a title: what bears it in its namespace already is brought up to date instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mnemic.core.context import Context
from mnemic.core.memories import Note, Revision
from mnemic.model.memory import Memory


@dataclass(frozen=True, slots=True)
class Stored:
    """A memory that was stored, whether its title was known, and what it may contradict."""

    memory: Memory
    is_known: bool = False
    contradictions: tuple[Memory, ...] = ()


def store(ctx: Context, note: Note) -> Stored:
    """Keep *note*, which has a title, or bring the memory up to date that bears it.

    Then the text, tags, source and metadata are replaced; priority, confidence and tier are never lowered.
    """
    raise NotImplementedError


def store_all(ctx: Context, notes: Sequence[Note]) -> list[Stored]:
    """`store` for many, in one transaction and without a look for contradictions."""
    raise NotImplementedError


def update(ctx: Context, reference: int, revision: Revision) -> Memory:
    """Change a living memory (by number). A lower tier is not taken over; the tier long has no end.

    Conflict if the new title is taken in its namespace.
    """
    raise NotImplementedError
