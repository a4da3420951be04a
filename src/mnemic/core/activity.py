"""Counter of calls in progress, so that background work can pause for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

LULL_SECONDS = 0.01
"""A caller that just had an answer often asks again at once."""


class Activity:
    """Counts the calls being answered. Safe between threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running = 0
        self._ended_at = float("-inf")

    @contextmanager
    def call(self) -> Iterator[None]:
        """Count the block as a call in progress."""
        with self._changed:
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._ended_at = time.monotonic()
                self._changed.notify_all()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Do not count the caller while the block waits for background work."""
        with self._changed:
            counted = self._running > 0
            self._running -= counted
            self._ended_at = float("-inf")
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._running += counted

    def wait_until_quiet(self, seconds: float) -> None:
        """Return when no call is in progress, or after *seconds*, so that background work never starves."""
        ends_at = time.monotonic() + seconds
        with self._changed:
            while (now := time.monotonic()) < ends_at and (self._running or now < self._quiet_at):
                self._changed.wait(ends_at - now if self._running else min(ends_at, self._quiet_at) - now)

    @property
    def _quiet_at(self) -> float:
        return self._ended_at + LULL_SECONDS
