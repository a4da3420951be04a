"""Links between memories, and what a walk along them finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from mnemic.model.memory import Memory
from mnemic.model.values import Moment, State


class Direction(StrEnum):
    """Which way a link is followed."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


UNRATED_LINK = 1.0
"""How good a link counts for that nobody has rated."""


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
    updated_at: Moment | None = None
    """When it was last rated or changed; None if it never was."""
    quality: float | None = None
    rating: float | None = None
    rating_count: int = 0

    @property
    def worth(self) -> float:
        """How good it proved, from 0 to 10."""
        return UNRATED_LINK if self.quality is None else self.quality

    @property
    def is_current(self) -> bool:
        """Whether it has not ended."""
        return self.valid_to is None


class Link(NamedTuple):
    """As much of an edge as a walk needs, which reads thousands."""

    id: int
    source_id: int
    target_id: int
    type: str
    weight: float


# A whole graph is listed as these, a hundred thousand at a time: tuples take a quarter of a dataclass's time.
class Entity(NamedTuple):
    """A memory as the graph vocabularies list it: its name, its type and its observations."""

    id: int
    title: str
    kind: str
    texts: list[str]


class Relation(NamedTuple):
    """A link by the names of its ends."""

    id: int
    source: str
    target: str
    type: str


@dataclass(frozen=True, slots=True)
class Sketch:
    """An entity to be."""

    name: str
    kind: str
    observations: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    of: int | None = None
    """The number of the entity that is meant, where the name alone does not tell."""


class Triple(NamedTuple):
    """A relation by the names of its ends."""

    source: str
    target: str
    type: str


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The memories reached from a start, each with its distance, and the links walked."""

    memories: tuple[tuple[Memory, int], ...]
    edges: tuple[Edge, ...]
