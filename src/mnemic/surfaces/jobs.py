"""Work that nobody waits for: vectors for what was just written, and the end of what has expired."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from mnemic.errors import MnemicError

if TYPE_CHECKING:
    from mnemic.core.context import Context

log = logging.getLogger(__name__)

BATCH = 64
BATCH_CHARACTERS = 64_000
"""A longer text goes alone, after the others: what is in hand when the process ends has to be begun anew."""
FIRST_LOOK_SECONDS = 2.0
"""A server answers its first questions before it looks for work."""
NOTICE_SECONDS = 0.2
"""So much later it is told what is missing, so that the first answer does not wait for finding out."""
EXPIRY_SECONDS = 30 * 60.0
LONGEST_PAUSE_SECONDS = 300.0
SETTLED_AFTER_SECONDS = 0.25


class Worker:
    """One thread in the background. `wake` tells it that something waits for its vector."""

    def __init__(self, ctx: Context):
        self._ctx = ctx
        self._woken = threading.Event()
        self._stopped = threading.Event()
        self._failures: dict[str, int] = {}
        self._told: set[tuple[str, type[Exception]]] = set()
        self._thread = threading.Thread(target=self._run, name="mnemic-jobs", daemon=True)

    def start(self) -> None:
        """Begin. The first look is taken a little later, or when woken."""
        self._thread.start()

    def wake(self) -> None:
        """Say that there is something to do."""
        self._woken.set()

    def stop(self, seconds: float = 2.0) -> None:
        """End after the batch in hand, waiting at most so long for it."""
        self._stopped.set()
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _run(self) -> None:
        if self._ctx.features.has_language:
            self._stopped.wait(NOTICE_SECONDS)
            self._attempt("start", self._tell_missing)
        expire_at = time.monotonic() + FIRST_LOOK_SECONDS
        self._woken.wait(FIRST_LOOK_SECONDS)
        while not self._stopped.is_set():
            self._woken.clear()
            self._attempt("embedding", self._embed)
            if time.monotonic() >= expire_at:
                self._attempt("expiry", self._expire)
                expire_at = time.monotonic() + EXPIRY_SECONDS
            self._woken.wait(max(0.0, expire_at - time.monotonic()))

    def _tell_missing(self) -> None:
        """Say what of the feature tier that was asked for is not there."""
        from mnemic.core.capabilities import capabilities

        if message := capabilities(self._ctx).message:
            log.warning("%s", message)

    def _embed(self) -> None:
        from mnemic.core import upkeep

        while not self._stopped.is_set() and (
            upkeep.embed_pending(self._ctx, BATCH, characters=BATCH_CHARACTERS)
            or upkeep.embed_pending(self._ctx, 1)
        ):
            pass

    def _expire(self) -> None:
        from mnemic.core import lifecycle

        lifecycle.collect(self._ctx)

    def _attempt(self, name: str, job: Callable[[], None]) -> None:
        """Do *job*. After a failure pause, longer each time: a server that is down stays down a while."""
        try:
            job()
        except Exception as error:
            self._tell(name, error)
            self._failures[name] = self._failures.get(name, 0) + 1
            self._stopped.wait(min(2.0 ** self._failures[name], LONGEST_PAUSE_SECONDS))
        else:
            self._failures.pop(name, None)

    def _tell(self, name: str, error: Exception) -> None:
        """Log *error* the first time its kind happens; what we raised on purpose needs no trace."""
        if (name, type(error)) in self._told or self._stopped.is_set():
            return
        self._told.add((name, type(error)))
        log.warning("%s failed: %s", name, error, exc_info=None if isinstance(error, MnemicError) else error)


class Settler:
    """A thread that writes down the uses of a daemon's memories, a moment after they began to wait."""

    def __init__(self, ctx: Context):
        assert ctx.uses is not None, "there is nothing to wait for"
        self._ctx = ctx
        self._uses = ctx.uses
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mnemic-uses", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, seconds: float = 2.0) -> None:
        """Write down what waits and end, waiting at most so long for another process that is writing."""
        self._stopped.set()
        self._uses.are_waiting.set()
        self._thread.join(seconds)

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._uses.are_waiting.wait()
            self._stopped.wait(SETTLED_AFTER_SECONDS)
            self._settle()

    def _settle(self) -> None:
        from mnemic.core.lifecycle import settle

        try:
            settle(self._ctx, waits=not self._stopped.is_set())
        except Exception as error:
            log.warning("uses were not counted: %s", error)
