"""A memory: one thing worth knowing, and the draft it is made from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from mnemic.model.values import Moment, State, Tier

UNRATED, HIGHEST_QUALITY = 5.0, 10.0
"""How good a memory counts for that nobody has rated, and the most it can."""
NAMING = frozenset({"title", "namespace", "state"})
"""The fields that say under which title a memory lives: with these it changes who bears one."""
UNTOLD_KINDS = frozenset({"", "note", "Generic"})
"""The kinds of memories for which nobody chose one."""
_NUMBER = re.compile(r" \(\d+\)$")


def without_number(title: str) -> str:
    """*title* without the number in brackets that tells it from others of its name."""
    return _NUMBER.sub("", title) if title.endswith(")") else title


def is_beginning(title: str, body: str) -> bool:
    """Whether *title*, but for a number behind it, only repeats how *body* begins: such a title was made from it."""
    start, words = without_number(title), body.lstrip()
    return words.startswith(start) and not words[len(start) : len(start) + 1].isalnum()


def heading(title: str, kind: str) -> str:
    """What the body of a memory is read under: its title, and its kind if someone chose one."""
    return title if kind in UNTOLD_KINDS else f"{title} ({kind})"


class Statement(NamedTuple):
    """One sentence or paragraph of a memory's body. Its text never changes; a change makes a new one."""

    id: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One thing worth knowing, as the store holds it."""

    id: int
    uid: str
    namespace: str
    title: str
    kind: str = "note"
    summary: str | None = None
    tags: tuple[str, ...] = ()
    priority: int = 5
    confidence: float = 1.0
    quality: float | None = None
    rating: float | None = None
    rating_count: int = 0
    tier: Tier = Tier.LONG
    source: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    session_id: int | None = None
    created_at: Moment
    updated_at: Moment
    accessed_at: Moment | None = None
    access_count: int = 0
    days_used: int = 0
    """On how many different days (in UTC) it was used."""
    expires_at: Moment | None = None
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    state: State = State.LIVING
    state_reason: str | None = None
    state_at: Moment | None = None
    statements: tuple[Statement, ...] = ()

    @property
    def occurred_at(self) -> Moment:
        """When it happened, as far as somebody said; else when it was stored."""
        return self.created_at if self.valid_from is None else self.valid_from

    @property
    def worth(self) -> float:
        """How good it proved, from 0 to 10."""
        return UNRATED if self.quality is None else self.quality

    @property
    def texts(self) -> list[str]:
        """The body as it was given: the text of each statement, in order."""
        return [statement.text for statement in self.statements]

    @property
    def content(self) -> str:
        """The body as one text: its statements joined by line breaks."""
        return "\n".join(self.texts)

    def has_expired(self, now: Moment) -> bool:
        """Whether its time is over."""
        return self.expires_at is not None and self.expires_at <= now


class Draft(NamedTuple):
    """A memory to be: what its author says of it. The store adds id, uid and times."""

    namespace: str
    title: str
    texts: tuple[str, ...]
    kind: str = "note"
    summary: str | None = None
    tags: tuple[str, ...] = ()
    priority: int = 5
    confidence: float = 1.0
    quality: float | None = None
    tier: Tier = Tier.LONG
    source: str | None = None
    metadata: Mapping[str, object] = MappingProxyType({})
    session_id: int | None = None
    created_at: Moment | None = None
    expires_at: Moment | None = None
    valid_from: Moment | None = None
    valid_to: Moment | None = None
