"""Shapes of memories: as much of one as a caller asks for, one field a column.

A store fills any NamedTuple whose fields it knows: the fields of a Memory but for its statements, and `content`,
`texts`, `origins`, `statements`, `has_grown`, `links`, `size_bytes` and `is_living`.
"""

from __future__ import annotations

from typing import NamedTuple

from mnemic.model.time import Moment


class Number(NamedTuple):
    """The number of a memory."""

    id: int


class Identity(NamedTuple):
    """The number and the uid of a memory."""

    id: int
    uid: str


class Content(NamedTuple):
    """The text of a memory: its statements joined by newlines."""

    id: int
    content: str


class Origins(NamedTuple):
    """The change each statement of a memory came with: pairs of statement and sequence number."""

    id: int
    origins: tuple[tuple[int, int], ...]


class Usage(NamedTuple):
    """How a memory is used and linked. A link that has ended counts too."""

    id: int
    created_at: Moment
    accessed_at: Moment | None
    access_count: int
    days_used: int
    links: int


class Merit(NamedTuple):
    """Query-independent ranking attributes of a memory."""

    id: int
    priority: int
    confidence: float
    access_count: int
    tier: str
    updated_at: Moment


class Repute(NamedTuple):
    """How good a memory proved and how much it is used."""

    id: int
    quality: float | None
    access_count: int
    accessed_at: Moment | None
    created_at: Moment


class Standing(NamedTuple):
    """A memory without its text: what it is, how sure it is, whether it is living, and how it was used."""

    id: int
    kind: str
    confidence: float
    is_living: bool
    created_at: Moment
    accessed_at: Moment | None
    access_count: int


class Outline(NamedTuple):
    """A memory without its text: what it is, how much it says, how it is used."""

    id: int
    title: str
    kind: str
    created_at: Moment
    accessed_at: Moment | None
    access_count: int
    statements: int
    has_grown: bool
    """Its statements came with more than one change."""


class Departure(NamedTuple):
    """A memory that left: where it was, how large it is, and when it left."""

    id: int
    namespace: str
    size_bytes: int
    """The bytes of its title and text."""
    state_at: Moment
