"""The journal: every change as the store remembers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from mnemic.model.values import Moment

USE = "use"
"""The operation that counts uses: it changes neither what a memory says nor where it stands, nor whether it lives."""


class Subject(StrEnum):
    """What kind of thing a change was made to."""

    MEMORY = "memory"
    EDGE = "edge"
    SESSION = "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One row of the journal. *before* and *after* hold the fields that differ.

    A birth has no *before*; a purge leaves a tombstone with neither. The body of a memory stands in
    both as `statements`, the texts in order.
    """

    sequence: int
    batch: int
    """The sequence of the first change made in the same transaction: what was done together."""
    at: Moment
    actor: str
    operation: str
    subject: Subject
    subject_id: int
    before: Mapping[str, object] | None
    after: Mapping[str, object] | None
