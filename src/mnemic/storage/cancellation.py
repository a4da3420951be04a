"""Cancellation of work whose caller has left: checked by the thread that works, at every question to the store."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Cancellation:
    """Whether a piece of work is no longer wanted. Set by any thread."""

    __slots__ = ("is_set",)

    def __init__(self) -> None:
        self.is_set = False

    def set(self) -> None:
        """The work is no longer wanted."""
        self.is_set = True

    def run(self, work: Callable[[], T]) -> T:
        """What *work* returns; it ends with Cancelled at its next question to the store once this is set."""
        _thread.current = self
        try:
            return work()
        finally:
            _thread.current = None


class _Thread(threading.local):
    current: Cancellation | None = None


_thread = _Thread()


def is_cancelled() -> bool:
    """Whether what this thread is doing is no longer wanted."""
    current = _thread.current
    return current is not None and current.is_set
