"""Versions: which store changed each field of a memory, link or session last, so that stores can be merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mnemic.model.change import BEGINNING, Position
from mnemic.model.time import Moment

BIRTH = ""
"""The key of the stamp of everything that has stood since the thing was made."""


class Stamp(NamedTuple):
    """One change of one field. Of two stamps the greater wins in every store, in any order of syncs.

    The moment is a hybrid clock: never before the stamp it replaces, so that a wrong clock cannot undo a later change.
    """

    at: Moment
    store: str
    position: Position

    @property
    def entry(self) -> list[object]:
        """The stamp as JSON holds it."""
        return [self.at, self.store, str(self.position)]

    @classmethod
    def of(cls, entry: Sequence[object]) -> Stamp:
        """The stamp that JSON holds as *entry*; ValueError or TypeError if it is none."""
        at, store, position = entry
        return cls(int(str(at)), str(store), Position.parse(str(position)))


NEVER = Stamp(0, "", BEGINNING)
"""The stamp of a field that nobody ever set."""


@dataclass(frozen=True, slots=True)
class Version:
    """The stamps of one thing by field, tag, metadata key and statement; and the order last given to its statements."""

    stamps: Mapping[str, Stamp] = field(default_factory=dict)
    order: tuple[str, ...] = ()

    @property
    def birth(self) -> Stamp:
        """The stamp of what has not changed since the thing was made."""
        return self.stamps.get(BIRTH, NEVER)

    def stamp(self, key: str, *, is_set: bool) -> Stamp:
        """The stamp of *key*; of one that never changed, that of the creation if it *is_set*."""
        return self.stamps.get(key) or (self.birth if is_set else NEVER)
