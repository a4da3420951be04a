"""A clean end: SIGTERM and SIGINT as a flag that wakes whoever waits, instead of an exception anywhere."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator


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


@contextlib.contextmanager
def stopped_by_signals() -> Iterator[Stop]:
    """A Stop that SIGTERM and SIGINT set while the block runs."""
    stop = Stop()
    # Elsewhere a blocked read cannot be woken, so Ctrl-C must stay an exception.
    numbers = (signal.SIGTERM, signal.SIGINT) if os.name == "posix" else ()
    before = {number: signal.signal(number, stop.set) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        stop.close()
