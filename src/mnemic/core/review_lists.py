"""Costly lists of the review queue: made in the background, one at a time, and kept for all callers."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from threading import Event, Lock, Thread

from mnemic.core.activity import Activity
from mnemic.errors import Cancelled
from mnemic.model.change import Position
from mnemic.storage.cancellation import Cancellation, is_cancelled

KEPT_SECONDS, UNCHANGED_SECONDS = 120.0, 3_600.0
"""How long a list is kept; and if the journal has not moved on, since vectors may be new."""
MOST_ITEMS = 500
"""A longer list is not looked through by a person."""
LONGEST_PAUSE_SECONDS = 0.05
"""Longest wait of a step for calls in progress."""
LOOK_SECONDS = 0.1
"""How often a caller that waits for a list is asked whether it is still there."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A memory in the queue with the others it concerns, by their numbers, and why."""

    memory_id: int
    other_ids: tuple[int, ...] = ()
    reason: str = ""


Step = Finding | float
"""What the search for findings tells: one of them, or the share of the work that is done."""


class ReviewList:
    """A list that is being made, or is complete. Safe between threads."""

    def __init__(self, steps: Callable[[], Iterable[Step]], at: Position, former: ReviewList | None = None):
        self._steps = steps
        self._former = former.findings if former else []
        self._found: list[Finding] = []
        self._done = Event()
        self._cancellation = Cancellation()
        self._error: Exception | None = None
        self._since = time.monotonic()
        self._at = at
        self._share = 0.0

    def start(self, turn: Lock, activity: Activity) -> None:
        """Begin, as soon as it is this list's *turn*, in a thread of its own that makes way for calls."""
        work = partial(self._make, turn, activity)
        Thread(target=self._cancellation.run, args=(work,), name="mnemic-review", daemon=True).start()

    def _make(self, turn: Lock, activity: Activity) -> None:
        try:
            with turn:
                for step in self._steps():
                    if self._cancellation.is_set:
                        raise Cancelled("The program ends.")
                    self._take(step)
                    if len(self._found) == MOST_ITEMS:
                        break
                    activity.wait_until_quiet(LONGEST_PAUSE_SECONDS)
        except Exception as error:  # raised for those who wait for the list
            self._error = error
        finally:
            self._since = time.monotonic()
            self._done.set()

    def _take(self, step: Step) -> None:
        if isinstance(step, Finding):
            self._found.append(step)
        else:
            self._share = step

    def wait(self, seconds: float | None) -> None:
        """Return when the list is complete, or after *seconds*; raise what kept it from being made."""
        ends_at = time.monotonic() + (float("inf") if seconds is None else seconds)
        while not self._done.wait(min(LOOK_SECONDS, max(0.0, ends_at - time.monotonic()))):
            if is_cancelled():
                raise Cancelled("The caller left before the answer. Nothing was written.")
            if time.monotonic() >= ends_at:
                return
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """End after the step in hand."""
        self._cancellation.set()

    @property
    def findings(self) -> list[Finding]:
        """What was found; while the list is made anew, what was found before if that is more."""
        found = list(self._found)
        return found if self._done.is_set() or len(found) >= len(self._former) else self._former

    @property
    def progress(self) -> float | None:
        """The share of the work that is done; None when the list is complete."""
        return None if self._done.is_set() else self._share

    def holds(self, newest: Position) -> bool:
        """Whether the list is being made, or is not too old: it may be older while nothing has changed."""
        seconds = UNCHANGED_SECONDS if self._at == newest else KEPT_SECONDS
        return not self._done.is_set() or (self._error is None and time.monotonic() < self._since + seconds)


class ReviewLists:
    """The lists of a store, by what was asked for."""

    def __init__(self) -> None:
        self._lists: dict[Hashable, ReviewList] = {}
        self._lock = Lock()
        self._turn = Lock()

    def of(
        self, key: Hashable, newest: Position, steps: Callable[[], Iterator[Step]], activity: Activity
    ) -> ReviewList:
        """The list kept under *key*, begun now if there is none or it is too old."""
        with self._lock:
            known = self._lists.get(key)
            if known is None or not known.holds(newest):
                self._lists[key] = known = ReviewList(steps, newest, known)
                known.start(self._turn, activity)
            return known

    def close(self) -> None:
        """Cancel running work and drop all lists."""
        with self._lock:
            for one in self._lists.values():
                one.stop()
            self._lists.clear()
