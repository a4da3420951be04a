"""What is asked of the store (Query, Filter) and what it answers with (Hit)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from mnemic.model.memory import Memory
from mnemic.model.values import Moment, State, Tier

LIVING_ONLY = frozenset({State.LIVING})


class Order(StrEnum):
    """In which order memories are listed; what is equal, the last changed or made first."""

    PRIORITY = "priority"
    NEWEST = "newest"
    CONFIDENCE = "confidence"
    USE = "use"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which memories count. An unset field does not restrict; all set ones must hold."""

    ids: tuple[int, ...] | None = None
    namespaces: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    not_kinds: tuple[str, ...] | None = None
    without: tuple[tuple[str, str], ...] | None = None
    """Leave out memories of a kind whose metadata has a key: pairs of both."""
    tags: tuple[str, ...] | None = None
    tier: Tier | None = None
    session_ids: tuple[int, ...] | None = None
    min_priority: int | None = None
    min_confidence: float | None = None
    max_confidence: float | None = None
    since: Moment | None = None
    until: Moment | None = None
    """Both bounds compare with `occurred_at`, which is the time of creation unless told otherwise."""
    states: frozenset[State] = LIVING_ONLY
    alive_at: Moment | None = None
    """Leave out what has expired by this moment."""

    @property
    def is_plain(self) -> bool:
        """True when nothing but the namespace restricts and little is left out, so the indexes alone can answer."""
        narrow = (
            self.ids,
            self.kinds,
            self.not_kinds,
            self.tags,
            self.tier,
            self.session_ids,
            self.min_priority,
            self.min_confidence,
            self.max_confidence,
            self.since,
            self.until,
        )
        return all(value is None for value in narrow) and self.states == LIVING_ONLY


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
