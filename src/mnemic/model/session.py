"""A session: a stretch of work that memories belong to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mnemic.model.values import Moment


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
