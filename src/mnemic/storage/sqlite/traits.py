"""The traits of memories, kept while nothing changes them: a ranking asks for those of a hundred at every question."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import apsw

from mnemic.storage.base import Traits
from mnemic.storage.sqlite import journal
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.rows import rows

TRAITS = """
SELECT id, confidence, session_id, created_at FROM memory WHERE id IN (SELECT value FROM json_each(?))
"""
MOST_KEPT = 100_000
"""Of so many memories at most, at 150 bytes each."""


class KnownTraits:
    """The traits of the memories that were asked for lately. One instance a store, safe between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sequence = 0
        self._kept: dict[int, Traits] = {}

    def of(self, connection: apsw.Connection, memory_ids: Sequence[int]) -> dict[int, Traits]:
        """The traits of these memories as they are now; unknown numbers are left out."""
        # What a transaction sees may be taken back.
        if connection.in_transaction:
            return _read(connection, memory_ids)
        with self._lock:
            self._follow(connection)
            kept = self._kept
            if missing := [number for number in memory_ids if number not in kept]:
                if len(kept) + len(missing) > MOST_KEPT:
                    kept.clear()
                    missing = list(memory_ids)
                kept |= _read(connection, missing)
            return {number: kept[number] for number in memory_ids if number in kept}

    def _follow(self, connection: apsw.Connection) -> None:
        """Let go of what has changed. Mere use changes no trait."""
        sequence = journal.last(connection)[0]
        if sequence != self._sequence:
            for number in journal.reworded(connection, self._sequence) if self._kept else ():
                self._kept.pop(number, None)
            self._sequence = sequence


def _read(connection: apsw.Connection, memory_ids: Sequence[int]) -> dict[int, Traits]:
    found = rows(connection, TRAITS, (as_json(list(memory_ids)),))
    return {one[0]: Traits._make(one[1:]) for one in found}
