"""Batching of use counts: uses wait here and are written together."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event, Lock
from typing import NamedTuple

from mnemic.errors import Busy, Denied, StoreUnusable
from mnemic.model.memory import Memory
from mnemic.model.recall_entry import RecallEntry
from mnemic.model.time import Moment

PASSED_OVER = (Busy, Denied, StoreUnusable)
"""Why a use is not counted: there is an answer all the same, and a full disk must not take that away."""


class Use(NamedTuple):
    """Memories that somebody used at a moment."""

    actor: str
    memories: Sequence[Memory]
    at: Moment
    together: bool = False
    """Each pair of them counts as used together."""
    recall: RecallEntry | None = None
    """The entry for the recall log, if they were recalled."""


class Waiting(NamedTuple):
    """How often a memory was used of late, and when last."""

    times: int
    at: Moment


NEVER = Waiting(0, 0)
MOST_WAITING = 1_000
"""Maximum of pending uses while another process holds the write lock."""


class Uses:
    """Queue of uses that are not written yet. Thread-safe.

    Every write invalidates the caches of all readers, so a daemon that answers hundreds of
    questions a second would spend a third of its time on counting uses.
    """

    def __init__(self) -> None:
        self.settling = Lock()
        """Held while uses are written down: who needs to see them waits for it."""
        self.are_waiting = Event()
        self._lock = Lock()
        self._waiting: list[Use] = []
        self._of_each: dict[int, Waiting] = {}

    def add(self, *uses: Use) -> None:
        """Queue *uses*; beyond the maximum the oldest are dropped."""
        with self._lock:
            self._waiting += uses
            del self._waiting[:-MOST_WAITING]
            for use in uses:
                for memory in use.memories:
                    times, _ = self._of_each.get(memory.id, NEVER)
                    self._of_each[memory.id] = Waiting(times + 1, use.at)
        self.are_waiting.set()

    def take(self) -> list[Use]:
        """All that wait, in order; from now on they are the caller's to write down."""
        with self._lock:
            self.are_waiting.clear()
            taken, self._waiting = self._waiting, []
            self._of_each = {}
        return taken

    def of(self, memories: Sequence[Memory]) -> list[Waiting]:
        """What waits of each of *memories*."""
        with self._lock:
            return [self._of_each.get(memory.id, NEVER) for memory in memories]
