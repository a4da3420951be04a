"""What single rows say, kept while it holds: a ranking asks the same of a hundred memories at every question."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import apsw

from mnemic.storage.base import Traits
from mnemic.storage.sqlite import journal
from mnemic.storage.sqlite.memories import NEWEST, as_json
from mnemic.storage.sqlite.rows import rows, value

T = TypeVar("T")

MOST_KEPT = 100_000
"""Of so many rows at most, at 150 bytes each."""
SMALL = 20
"""A namespace is small if no more than one memory in so many lives there."""
# From the index of titles, and no further than it has to be looked through.
SOME_MEMBERS = """
SELECT count(*) FROM (
  SELECT 1 FROM memory WHERE namespace IN (SELECT value FROM json_each(?)) AND state = 'living' LIMIT ?
)
"""
TRAITS = """
SELECT id, confidence, session_id, coalesce(valid_from, created_at)
FROM memory WHERE id IN (SELECT value FROM json_each(?))
"""
OPENINGS = """
SELECT id, substr(text, 1, ?) FROM statement WHERE id IN (SELECT value FROM json_each(?))
"""


class _Kept(Generic[T]):
    """What was read of rows, by their numbers."""

    def __init__(self, read: Callable[[apsw.Connection, Sequence[int]], dict[int, T]]):
        self._read = read
        self._told: dict[int, T] = {}

    def of(self, connection: apsw.Connection, numbers: Sequence[int]) -> dict[int, T]:
        """What the rows with these *numbers* say; unknown numbers are left out."""
        # What a transaction sees may be taken back.
        if connection.in_transaction:
            return self._read(connection, numbers)
        if len(self._told) > MOST_KEPT:
            self._told.clear()
        if missing := [number for number in numbers if number not in self._told]:
            self._told |= self._read(connection, missing)
        return {number: self._told[number] for number in numbers if number in self._told}

    @property
    def is_empty(self) -> bool:
        """Whether nothing was read yet."""
        return not self._told

    def drop(self, numbers: Sequence[int]) -> None:
        """Forget what was read of these."""
        for number in numbers:
            self._told.pop(number, None)


class KnownTraits:
    """The traits of the memories that were asked for lately. One instance a store, safe between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sequence = 0
        self._kept = _Kept(_traits)

    def of(self, connection: apsw.Connection, memory_ids: Sequence[int]) -> dict[int, Traits]:
        """The traits of these memories as they are now; unknown numbers are left out."""
        with self._lock:
            if not connection.in_transaction:
                self._follow(connection)
            return self._kept.of(connection, memory_ids)

    def _follow(self, connection: apsw.Connection) -> None:
        """Forget what has changed. Mere use changes no trait."""
        sequence = journal.last(connection)[0]
        if sequence != self._sequence:
            if not self._kept.is_empty:
                self._kept.drop(journal.reworded(connection, self._sequence))
            self._sequence = sequence


class Sizes:
    """Which namespaces are small, to within a twentieth: a hint by which a search chooses its way."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], tuple[bool, int]] = {}

    def is_small(self, connection: apsw.Connection, namespaces: tuple[str, ...]) -> bool:
        """Whether no more than one memory in twenty lives in these."""
        newest = int(value(connection, NEWEST))
        is_small, looked_at = self._known.get(namespaces, (True, 0))
        if newest - looked_at > newest // SMALL:
            few = newest // SMALL
            is_small = value(connection, SOME_MEMBERS, (as_json(namespaces), few + 1)) <= few
            if len(self._known) > MOST_KEPT:
                self._known.clear()
            self._known[namespaces] = is_small, newest
        return is_small


class Openings:
    """Whether statements begin in a certain way. Their texts never change, so each is read once."""

    def __init__(self, characters: int, holds: Callable[[str], bool]):
        self._characters = characters
        self._holds = holds
        self._lock = threading.Lock()
        self._kept = _Kept(self._read)

    def of(self, connection: apsw.Connection, statement_ids: Sequence[int]) -> list[int]:
        """Those of these statements that do."""
        with self._lock:
            told = self._kept.of(connection, statement_ids)
        return [number for number, does in told.items() if does]

    def _read(self, connection: apsw.Connection, statement_ids: Sequence[int]) -> dict[int, bool]:
        found = rows(connection, OPENINGS, (self._characters, as_json(list(statement_ids))))
        return {number: self._holds(opening) for number, opening in found}


def _traits(connection: apsw.Connection, memory_ids: Sequence[int]) -> dict[int, Traits]:
    found = rows(connection, TRAITS, (as_json(list(memory_ids)),))
    return {one[0]: Traits._make(one[1:]) for one in found}
