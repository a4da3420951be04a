"""SIGTERM and SIGINT as a flag that wakes waiters, instead of an exception."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
from collections.abc import Iterator

log = logging.getLogger(__name__)

LAST_SECONDS = 3.0
"""Time after the grace period in which a process may close what it has open."""


class Stop:
    """The stop flag. Safe to set from a signal handler or thread; `readable` wakes a `select`."""

    def __init__(self) -> None:
        self.is_set = False
        self.readable, self._writable = os.pipe()

    def set(self, *_: object) -> None:
        """Set the flag."""
        self.is_set = True
        os.write(self._writable, b"!")

    def close(self) -> None:
        """Close the pipe."""
        os.close(self.readable)
        os.close(self._writable)


def end_within(seconds: float) -> None:
    """Kill this process if it is still running after this time, even if threads hang.

    Committed data is safe; an open transaction is rolled back when the database is next opened.
    """

    def end() -> None:
        log.error("still busy %g s after it was asked to stop: ended", seconds)
        os._exit(1)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


@contextlib.contextmanager
def stopped_by_signals(grace_seconds: float | None = None) -> Iterator[Stop]:
    """A Stop set by SIGTERM and SIGINT while the block runs; with a grace period the process ends after it."""
    stop = Stop()

    def asked(*_: object) -> None:
        if grace_seconds is not None and not stop.is_set:
            end_within(grace_seconds + LAST_SECONDS)
        stop.set()

    # On Windows a blocked read cannot be woken, so Ctrl-C stays an exception.
    numbers = (signal.SIGTERM, signal.SIGINT) if os.name == "posix" else ()
    before = {number: signal.signal(number, asked) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        stop.close()
