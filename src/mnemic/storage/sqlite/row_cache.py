"""Caches of single rows: beginnings of statements, and which namespaces are small."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import apsw

from mnemic.storage.sqlite.memories import NEWEST, as_json
from mnemic.storage.sqlite.rows import rows, value

MOST_KEPT = 20_000
"""Most openings kept, of 250 bytes each, and most sets of namespaces."""
SMALL = 20
"""A namespace is small if no more than one memory in so many lives there."""
# From the index of titles, and no further than it has to be looked through.
SOME_MEMBERS = """
SELECT count(*) FROM (
  SELECT 1 FROM memory WHERE namespace IN (SELECT value FROM json_each(?)) AND state = 'living' LIMIT ?
)
"""
OPENINGS = """
SELECT id, substr(text, 1, ?) FROM statement WHERE id IN (SELECT value FROM json_each(?))
"""


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
    """The first characters of statements. Their texts never change, so each is read once while there is room."""

    def __init__(self, characters: int):
        self._characters = characters
        self._lock = threading.Lock()
        self._texts: dict[int, str] = {}

    def of(
        self, connection: apsw.Connection, statement_ids: Sequence[int], *, is_private: bool
    ) -> dict[int, str]:
        """The openings of these statements."""
        if is_private:  # what that transaction sees may be taken back
            return self._read(connection, statement_ids)
        with self._lock:
            if len(self._texts) > MOST_KEPT:
                self._texts.clear()
            if missing := [number for number in statement_ids if number not in self._texts]:
                self._texts |= self._read(connection, missing)
            return {number: self._texts[number] for number in statement_ids if number in self._texts}

    def _read(self, connection: apsw.Connection, statement_ids: Sequence[int]) -> dict[int, str]:
        return dict(rows(connection, OPENINGS, (self._characters, as_json(list(statement_ids)))))
