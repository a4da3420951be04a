"""Turns at writing: threads and processes that want to write wait in a queue.

SQLite lets a process that finds the file locked sleep and try again, so the last writer is the first to
write again and others wait for long. The kernel hands a lock on a file of its own to the one who has waited longest.
It is a courtesy: SQLite's lock protects the data, and a process that cannot queue, or has queued for too long, does
without.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path

try:
    import fcntl
except ImportError:  # no such lock on this system
    fcntl = None  # type: ignore[assignment]

SUFFIX = "-turn"
QUEUE_SECONDS = 10.0
"""A process that keeps the lock for longer is stopped or stuck; SQLite's patience begins then."""
PATIENCE_SECONDS = 60.0
"""How long a statement waits for a lock of SQLite's before Busy."""
STEP_SECONDS = (0.0005, 0.0015)
"""How often it tries."""


class Turns:
    """A lock to be held while writing, by one thread of one process at a time; the same thread may take it again."""

    def __init__(self, database: Path | None):
        self._path = database.with_name(database.name + SUFFIX) if database and fcntl else None
        self.threads = threading.RLock()
        self._depth = 0
        self._file: int | None = None

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *exception: object) -> None:
        self.release()

    def acquire(self) -> None:
        """Wait for one's turn."""
        self.threads.acquire()
        self._depth += 1
        if self._depth == 1 and self._opened() and not self._locked():
            assert self._file is not None
            _Wait(self._file).at_most(QUEUE_SECONDS)

    def try_acquire(self) -> bool:
        """Take one's turn if that is possible at once; whether it was."""
        if not self.threads.acquire(blocking=False):
            return False
        if self._depth or not self._opened() or self._locked():
            self._depth += 1
            return True
        self.threads.release()
        return False

    def release(self) -> None:
        """Let the next one in."""
        if self._depth == 1 and self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)
        self._depth -= 1
        self.threads.release()

    def close(self) -> None:
        """Close the file."""
        with self.threads:
            if self._file is not None:
                os.close(self._file)
            self._file = self._path = None

    def _opened(self) -> bool:
        if self._file is None and self._path is not None:
            try:
                self._file = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            except OSError:
                self._path = None
        return self._file is not None

    def _locked(self) -> bool:
        """Lock the file now if it is free; where locking is not supported, do without."""
        assert self._file is not None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            self.close()
        return True


class _Wait:
    """A thread that waits for the lock, since a wait in the kernel cannot be cancelled."""

    def __init__(self, file: int):
        self._file = file
        self._guard = threading.Lock()
        self._is_over = False

    def at_most(self, seconds: float) -> None:
        thread = threading.Thread(target=self._wait, name="mnemic-turn", daemon=True)
        thread.start()
        thread.join(seconds)
        with self._guard:
            self._is_over = thread.is_alive()

    def _wait(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            with self._guard:
                if self._is_over:  # nobody waits for it any more
                    fcntl.flock(self._file, fcntl.LOCK_UN)
        except OSError:
            return


def patient(clock: Callable[[], float] = time.monotonic) -> Callable[[int], bool]:
    """A busy handler that waits in short random steps, so that waiting processes do not move in lockstep.

    The steps do not grow: the longest waiter would poll least often and be overtaken by all others.
    """
    started = 0.0

    def wait(attempt: int) -> bool:
        nonlocal started
        if attempt == 0:
            started = clock()
        elif clock() - started > PATIENCE_SECONDS:
            return False
        time.sleep(random.uniform(*STEP_SECONDS))
        return True

    return wait
