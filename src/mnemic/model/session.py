"""A session: a stretch of work that memories belong to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar

from mnemic.model import limits
from mnemic.model.patch import UNSET, Patch, Unset
from mnemic.model.time import Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A stretch of work: when it began and ended, what it was about and what came of it."""

    id: int
    namespace: str
    name: str
    started_at: Moment
    ended_at: Moment | None = None
    topic: str | None = None
    summary: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)


SESSION_RULES: Mapping[str, limits.Rule] = {
    **dict.fromkeys(("namespace", "name"), limits.name),
    **dict.fromkeys(("topic", "summary"), limits.statement),
    **dict.fromkeys(("started_at", "ended_at"), limits.MOMENT),
}
"""What each field of a session, a draft or a patch may hold."""


@dataclass(frozen=True, slots=True)
class SessionDraft(limits.Bounded):
    """A session to be: started now and called after its number where neither is given."""

    rules: ClassVar = SESSION_RULES
    namespace: str
    _: KW_ONLY
    name: str | None = None
    started_at: Moment | None = None
    ended_at: Moment | None = None
    topic: str | None = None
    summary: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPatch(limits.Bounded, Patch):
    """A change to a session."""

    rules: ClassVar = SESSION_RULES
    namespace: str | Unset = UNSET
    name: str | Unset = UNSET
    started_at: Moment | Unset = UNSET
    ended_at: Moment | Unset | None = UNSET
    topic: str | Unset | None = UNSET
    summary: str | Unset | None = UNSET
    metadata: Mapping[str, object] | Unset = UNSET
