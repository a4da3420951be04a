"""A clean end: SIGTERM and SIGINT as a flag that wakes whoever waits, instead of an exception anywhere."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
from collections.abc import Iterator

log = logging.getLogger(__name__)

LAST_SECONDS = 3.0
"""How long after its grace period a process may take to let go of what it has open."""


class Stop:
    """Asked to stop. Safe to set from a signal or another thread; `readable` wakes a `select`."""

    def __init__(self) -> None:
        self.is_set = False
        self.readable, self._writable = os.pipe()

    def set(self, *_: object) -> None:
        """Ask for the end."""
        self.is_set = True
        os.write(self._writable, b"!")

    def close(self) -> None:
        """Let go of the pipe."""
        os.close(self.readable)
        os.close(self._writable)


def end_within(seconds: float) -> None:
    """End this process if it is still there after so long, whatever its threads are doing.

    What was committed is kept; a transaction that is open is rolled back by whoever opens the database next.
    """

    def end() -> None:
        log.error("still busy %g s after it was asked to stop: ended", seconds)
        os._exit(1)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


@contextlib.contextmanager
def stopped_by_signals(grace_seconds: float | None = None) -> Iterator[Stop]:
    """A Stop that SIGTERM and SIGINT set while the block runs; with a grace period the process ends after it."""
    stop = Stop()

    def asked(*_: object) -> None:
        if grace_seconds is not None and not stop.is_set:
            end_within(grace_seconds + LAST_SECONDS)
        stop.set()

    # Elsewhere a blocked read cannot be woken, so Ctrl-C must stay an exception.
    numbers = (signal.SIGTERM, signal.SIGINT) if os.name == "posix" else ()
    before = {number: signal.signal(number, asked) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        stop.close()
