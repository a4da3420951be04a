"""Warm-up of the index: what will be asked for is read by a background thread that ends when it is done."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from mnemic.errors import MnemicError
from mnemic.free_memory import give_back

THREAD = "mnemic-warmup"
FIRST_SECONDS = 1.0
"""How long it waits before it begins: a command that asked often may be over by then."""
BREATH_SECONDS = 0.005
"""Pause after each step, so that no question is kept waiting."""
PAUSE_SECONDS = 60.0
"""Least time between two warm-ups: where much is written, what was read is soon dropped."""


class Warmup:
    """Runs a piece of work in steps, in a thread of its own. Safe between threads."""

    def __init__(self, steps: Callable[[], Iterator[None]], errors: type[Exception] = MnemicError):
        self._steps = steps
        self._errors = errors
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._not_before = 0.0

    def start(self) -> None:
        """Begin, unless it is under way or began a moment ago."""
        with self._lock:
            now = time.monotonic()
            if now < self._not_before or self._stopped.is_set() or (self._thread and self._thread.is_alive()):
                return
            self._not_before = now + PAUSE_SECONDS
            self._thread = threading.Thread(target=self._run, name=THREAD, daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End after the step in hand, and begin no more."""
        with self._lock:
            self._stopped.set()
        if self._thread:
            self._thread.join()

    def _run(self) -> None:
        if self._stopped.wait(FIRST_SECONDS):
            return
        with suppress(self._errors, MnemicError):  # whoever asks for what cannot be read is told
            for _ in self._steps():
                if self._stopped.wait(BREATH_SECONDS):
                    return
        give_back()
