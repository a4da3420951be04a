"""Links between memories, and what a walk along them finds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from mnemic.model.memory import Memory
from mnemic.model.values import Moment, State


class Direction(StrEnum):
    """Which way a link is followed."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A typed, directed, weighted link. Ended links keep their row with *valid_to* set."""

    id: int
    source_id: int
    target_id: int
    type: str
    weight: float = 1.0
    reason: str | None = None
    created_at: Moment
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    state: State = State.LIVING


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The memories reached from a start, each with its distance, and the links walked."""

    memories: tuple[tuple[Memory, int], ...]
    edges: tuple[Edge, ...]
