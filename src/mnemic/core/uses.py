"""Uses that wait to be written down together."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event, Lock
from typing import NamedTuple

from mnemic.errors import Busy, Denied, StoreUnusable
from mnemic.model.memory import Memory
from mnemic.model.values import Moment

PASSED_OVER = (Busy, Denied, StoreUnusable)
"""Why a use is not counted: there is an answer all the same, and a full disk must not take that away."""


class Use(NamedTuple):
    """Memories that somebody used at a moment."""

    actor: str
    memories: Sequence[Memory]
    at: Moment
    together: bool = False
    """Each pair of them counts as used together."""


class Waiting(NamedTuple):
    """How often a memory was used of late, and when last."""

    times: int
    at: Moment


NEVER = Waiting(0, 0)
MOST_WAITING = 1_000
"""So many uses wait while another process keeps the store locked; each holds the memories that were used."""


class Uses:
    """What was used and is not written down yet. Safe to use from several threads.

    Whatever is written takes from every reader what it had cached, so that a daemon which is asked hundreds of
    questions a second would spend a third of its time on counting.
    """

    def __init__(self) -> None:
        self.settling = Lock()
        """Held while uses are written down: who needs to see them waits for it."""
        self.are_waiting = Event()
        self._lock = Lock()
        self._waiting: list[Use] = []
        self._of_each: dict[int, Waiting] = {}

    def add(self, *uses: Use) -> None:
        """Let *uses* wait; while nobody can write, the oldest make room."""
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
