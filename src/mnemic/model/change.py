"""The journal: every change as the store remembers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from mnemic.model.time import Moment

USE = "use"
"""The operation that counts uses; it changes neither content, namespace nor state."""


class Position(NamedTuple):
    """A place in the journal of one store. Later changes have greater positions.

    Only an engine looks inside: numbers may have gaps, and positions of different stores cannot be compared.
    """

    epoch: int = 0
    """What orders transactions, where numbers alone do not."""
    number: int = 0

    def __str__(self) -> str:
        """The position as text, for keeping; `parse` reads it."""
        return f"{self.epoch}.{self.number}" if self.epoch else str(self.number)

    @classmethod
    def parse(cls, text: str) -> Position:
        """The position that is written *text*; ValueError if it is none."""
        epoch, _, number = text.rpartition(".")
        return cls(int(epoch or 0), int(number))


BEGINNING = Position()
"""Before the first change."""


class Subject(StrEnum):
    """What kind of thing a change was made to."""

    MEMORY = "memory"
    EDGE = "edge"
    SESSION = "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One row of the journal. *before* and *after* hold the fields that differ.

    A creation has no *before*; a purge leaves a tombstone with neither. The body of a memory is in both as
    `statements`, the texts in order.
    """

    sequence: int
    """The number by which users name the change. There may be gaps."""
    position: Position
    batch: int
    """The sequence of the first change made in the same transaction: what was done together."""
    at: Moment
    actor: str
    operation: str
    subject: Subject
    subject_id: int
    before: Mapping[str, object] | None
    after: Mapping[str, object] | None
