"""Queries to the store (Filter, EdgeFilter, SessionFilter, ChangeFilter, Query) and search results (Hit)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum

from mnemic.model.change import Position, Subject
from mnemic.model.enums import State, Tier
from mnemic.model.graph import Direction
from mnemic.model.memory import Memory
from mnemic.model.time import Moment

LIVING_ONLY = frozenset({State.LIVING})


class Order(StrEnum):
    """Sort order of listings; ties by last change or creation, newest first."""

    PRIORITY = "priority"
    NEWEST = "newest"
    CONFIDENCE = "confidence"
    USE = "use"
    NUMBER = "number"
    """The first stored first."""
    LAST = "last"
    """The last stored first."""
    LEFT = "left"
    """The last that left its state first."""
    UPDATED = "updated"
    """The last changed first."""
    USED = "used"
    """The last used first."""
    EXPIRY = "expiry"
    """The first to expire first, then those that never do."""
    TITLE = "title"
    KIND = "kind"
    NAMESPACE = "namespace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which memories count. An unset field does not restrict; all set ones must hold."""

    ids: tuple[int, ...] | None = None
    uids: tuple[str, ...] | None = None
    """Hyphens and case do not matter; what is no uid is no memory's."""
    uid_prefix: str | None = None
    """The beginning of a uid, at least four digits of it."""
    name: str | None = None
    """The chosen name, compared after NFC normalisation."""
    title: str | None = None
    """The title exactly as it is shown."""
    metadata: tuple[tuple[str, str], ...] | None = None
    """Pairs of key and value, as JSON, that must all stand at the top level of the metadata."""
    namespaces: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    not_kinds: tuple[str, ...] | None = None
    without: tuple[tuple[str, str], ...] | None = None
    """Leave out memories of a kind whose metadata has a key: pairs of both."""
    tags: tuple[str, ...] | None = None
    tier: Tier | None = None
    session_ids: tuple[int, ...] | None = None
    actor: str | None = None
    """Only memories that this actor stored."""
    min_priority: int | None = None
    min_confidence: float | None = None
    max_confidence: float | None = None
    since: Moment | None = None
    until: Moment | None = None
    """Both bounds compare with `occurred_at`, by default the time of creation."""
    states: frozenset[State] = LIVING_ONLY
    alive_at: Moment | None = None
    """Leave out what has expired by this moment."""
    unchanged_since: Position | None = None
    """Only memories that no change after this position has touched."""

    @property
    def is_plain(self) -> bool:
        """True when nothing but the namespace restricts and little is left out, so the indexes alone can answer."""
        return self.states == LIVING_ONLY and all(getattr(self, name) is None for name in NARROWING)


ALL_STATES = frozenset(State)
NARROWING = tuple(
    one.name for one in fields(Filter) if one.name not in ("namespaces", "states", "without", "alive_at")
)
"""The fields that leave but a part of the living of a namespace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeFilter:
    """Which links count. An unset field does not restrict; all set ones must hold."""

    ids: tuple[int, ...] | None = None
    at: tuple[int, ...] | None = None
    """Memories of which a link must touch one, at the end that `direction` says."""
    direction: Direction = Direction.BOTH
    sources: tuple[int, ...] | None = None
    targets: tuple[int, ...] | None = None
    types: tuple[str, ...] | None = None
    created_at: Moment | None = None
    ends: Filter | None = None
    """The memories at both ends must pass it."""
    near: Filter | None = None
    """The memory at one end at least must pass it."""
    is_current: bool = False
    """Leave out links that have ended."""
    states: frozenset[State] = LIVING_ONLY


ANY_EDGE = EdgeFilter(states=ALL_STATES)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFilter:
    """Which sessions count. An unset field does not restrict; all set ones must hold."""

    ids: tuple[int, ...] | None = None
    namespaces: tuple[str, ...] | None = None
    name: str | None = None
    is_numbered: bool = False
    """Let `name` match with a number in brackets behind it too."""


ANY_SESSION = SessionFilter()


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasFilter:
    """Which aliases count. An unset field does not restrict; all set ones must hold."""

    uids: tuple[str, ...] | None = None
    memory_ids: tuple[int, ...] | None = None
    is_purged: bool = False
    """Only those that stand for memories that were purged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeFilter:
    """Which changes count. An unset field does not restrict; all set ones must hold."""

    after: Position | None = None
    sequences: tuple[int, ...] | None = None
    batch: int | None = None
    subject: Subject | None = None
    subject_ids: tuple[int, ...] | None = None
    since: Moment | None = None
    until: Moment | None = None
    actor: str | None = None


ANY_CHANGE = ChangeFilter()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallFilter:
    """Which entries of the recall log count. An unset field does not restrict; all set ones must hold."""

    after: int | None = None
    """Only entries above this number."""
    since: Moment | None = None
    until: Moment | None = None
    session_id: int | None = None
    visible: tuple[str, ...] | None = None
    """Only recalls that looked nowhere but in these namespaces."""


ANY_RECALL = RecallFilter()


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question to the memory."""

    text: str
    filter: Filter = field(default_factory=Filter)
    limit: int = 10
    min_relevance: float | None = None
    """Leave out hits below this relevance. None: the floor of the ranking; 0: nothing is left out."""
    now: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory that answers a query, its score, and the terms that score is made of."""

    memory: Memory
    score: float
    terms: Mapping[str, float]
    statement_id: int | None = None
    """The statement that matched best, when vectors took part."""
    relevance: float | None = None
    """How likely the memory bears on the question, 0 to 1; None where the ranking does not calibrate."""
    signals: Mapping[str, float] = field(default_factory=dict)
    """What the relevance is computed from."""
    before: tuple[Memory, ...] = ()
    """The turns right before it in its session, oldest first, where they were asked for (`around`)."""
    after: tuple[Memory, ...] = ()
    """The turns right after it."""
