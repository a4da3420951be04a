"""Decay: how much of a memory's weight is left."""

from __future__ import annotations

from math import exp, log2
from typing import Protocol

from mnemic.model.time import DAY, Moment

RATE = 0.01
"""Daily decay of an unused memory."""
FULLY_USED = 10
"""Doublings of use (1,023 uses) at which decay is slowed most: to half the rate."""
WEIGHTS = {"inference": 0.8, "turn": 0.8, "skill": 0.8, "episode": 0.6}
"""What a fresh memory of a kind weighs; any other weighs 1."""


class Used(Protocol):
    """What decay depends on: a memory, or as much of it."""

    @property
    def kind(self) -> str:
        """What it is."""

    @property
    def created_at(self) -> Moment:
        """When it was made."""

    @property
    def accessed_at(self) -> Moment | None:
        """When it was last used."""

    @property
    def access_count(self) -> int:
        """How often it was used."""


def decay(memory: Used, now: Moment) -> float:
    """Current weight of *memory*, 0 to 1.

    The weight of its kind times e^(−0.01 per day) since its last use or creation. Use slows decay by log2(1 + uses) /
    20, at most by half.
    """
    last = memory.created_at if memory.accessed_at is None else max(memory.created_at, memory.accessed_at)
    days = max(0, now - last) / DAY
    use = min(1.0, log2(1 + memory.access_count) / FULLY_USED)
    return WEIGHTS.get(memory.kind, 1.0) * exp(-RATE * days * (1 - use / 2))
