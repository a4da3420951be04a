"""Links between memories, and what a walk along them finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum
from typing import ClassVar, NamedTuple

from mnemic.model import limits
from mnemic.model.enums import State
from mnemic.model.memory import Memory
from mnemic.model.patch import UNSET, Patch, Unset
from mnemic.model.time import Moment


class Direction(StrEnum):
    """Which way a link is followed."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


UNRATED_LINK = 1.0
"""Quality of an unrated link."""


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


EDGE_RULES: Mapping[str, limits.Rule] = {
    "type": limits.name,
    "reason": limits.statement,
    "weight": limits.WEIGHT,
    "quality": limits.QUALITY,
    "rating": limits.RATING,
    "rating_count": limits.COUNT,
    **dict.fromkeys(("created_at", "updated_at", "valid_from", "valid_to"), limits.MOMENT),
}
"""What each field of a link, a draft or a patch may hold."""


@dataclass(frozen=True, slots=True)
class EdgeDraft(limits.Bounded):
    """A link to be. The store adds its number and the time of creation where they are not given."""

    rules: ClassVar = EDGE_RULES
    source_id: int
    target_id: int
    type: str
    _: KW_ONLY
    weight: float = 1.0
    reason: str | None = None
    created_at: Moment | None = None
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    state: State = State.LIVING
    updated_at: Moment | None = None
    quality: float | None = None
    rating: float | None = None
    rating_count: int = 0
    id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgePatch(limits.Bounded, Patch):
    """A change to a link."""

    rules: ClassVar = EDGE_RULES
    source_id: int | Unset = UNSET
    target_id: int | Unset = UNSET
    type: str | Unset = UNSET
    weight: float | Unset = UNSET
    reason: str | Unset | None = UNSET
    created_at: Moment | Unset = UNSET
    valid_from: Moment | Unset | None = UNSET
    valid_to: Moment | Unset | None = UNSET
    state: State | Unset = UNSET
    updated_at: Moment | Unset | None = UNSET
    quality: float | Unset | None = UNSET
    rating: float | Unset | None = UNSET
    rating_count: int | Unset = UNSET


def moved_end(edge: Edge, source: int, target: int) -> EdgePatch:
    """Lets *edge* lead to or from *target* where it leads to or from *source*."""
    return EdgePatch(
        source_id=target if edge.source_id == source else edge.source_id,
        target_id=target if edge.target_id == source else edge.target_id,
    )


class Link(NamedTuple):
    """As much of an edge as a walk needs, which reads thousands."""

    id: int
    source_id: int
    target_id: int
    type: str
    weight: float


# A whole graph is listed as these, a hundred thousand at a time: tuples take a quarter of a dataclass's time.
class Entity(NamedTuple):
    """A memory as the graph dialects list it: its name, its type and its observations."""

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
