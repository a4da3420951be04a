"""Background work: vectors of new statements, expiry, upkeep of the search, and batched use counts."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from mnemic.errors import MnemicError
from mnemic.free_memory import give_back
from mnemic.model.time import SECOND
from mnemic.storage.base import BACKLOG_LOOKED_AT, CLAIM_LIFETIME
from mnemic.transports.threads import started

if TYPE_CHECKING:
    from mnemic.core.context import Context

log = logging.getLogger(__name__)

BATCH = 64
ATTEMPTS = 3
LONGEST_WAIT_SECONDS = 0.25
"""Longest wait of a piece of work for calls in progress, so that the backlog shrinks beside constant calls too."""
BATCH_CHARACTERS = 64_000
"""A longer text goes alone, after the others: what is in hand when the process ends has to be begun anew."""
FIRST_LOOK_SECONDS = 2.0
"""A server answers its first questions before it looks for work."""
NOTICE_SECONDS = 0.2
"""Delay before it looks for what is missing, so that the first answer does not wait for it."""
EXPIRY_SECONDS = 30 * 60.0
UPKEEP_SECONDS = 5 * 60.0
LONGEST_PAUSE_SECONDS = 300.0
SETTLED_AFTER_SECONDS = 0.25


class Worker:
    """Two threads in the background: for upkeep, which may take long, and for what waits, which `wake` tells of."""

    def __init__(self, ctx: Context):
        self._ctx = ctx
        self._woken = threading.Event()
        self._stopped = threading.Event()
        self._upkeep_stopped = threading.Event()
        self._failures: dict[str, int] = {}
        self._logged: set[tuple[str, type[Exception]]] = set()
        self._has_left_some = False
        self._thread = threading.Thread(target=self._run, name="mnemic-jobs", daemon=True)
        self._keeper = threading.Thread(target=self._keep, name="mnemic-upkeep", daemon=True)

    def start(self) -> None:
        """Begin. The first look is taken a little later, or when woken."""
        without = "new memories wait for `mnemic embed`, nothing expires"
        if started(self._thread, without):
            started(self._keeper, without)

    def wake(self) -> None:
        """Say that there is something to do."""
        self._woken.set()

    def stop(self, seconds: float = 2.0) -> None:
        """End after the current batch, waiting at most this long for it."""
        self._stopped.set()
        self._upkeep_stopped.set()
        self._woken.set()
        for thread in (self._thread, self._keeper):
            if thread.is_alive():
                thread.join(seconds)

    def _keep(self) -> None:
        pause = FIRST_LOOK_SECONDS
        while not self._upkeep_stopped.wait(pause):
            self._attempt("upkeep", lambda: self._ctx.engines.upkeep(self._ctx.store))
            give_back()
            pause = UPKEEP_SECONDS

    def _run(self) -> None:
        if self._ctx.features.has_language:
            self._stopped.wait(NOTICE_SECONDS)
            self._attempt("start", lambda: log_missing(self._ctx))
        expire_at = time.monotonic() + FIRST_LOOK_SECONDS
        self._woken.wait(FIRST_LOOK_SECONDS)
        while not self._stopped.is_set():
            self._woken.clear()
            self._attempt("embedding", self._embed)
            if time.monotonic() >= expire_at:
                self._attempt("expiry", self._expire)
                expire_at = time.monotonic() + EXPIRY_SECONDS
            self._woken.wait(min(self._look_again_seconds(), max(0.0, expire_at - time.monotonic())))

    def _look_again_seconds(self) -> float:
        """When to look for work without being woken: if another process dies, what it has claimed becomes free."""
        return CLAIM_LIFETIME / SECOND if self._has_left_some else EXPIRY_SECONDS

    def _embed(self) -> None:
        from mnemic.core import embedding_queue

        if self._ctx.embedder is None:
            return
        idle = 0
        # Another process may be faster to claim what was seen waiting; what comes to nothing again and again waits.
        while idle < ATTEMPTS and not self._stopped.is_set() and embedding_queue.unclaimed(self._ctx, 1):
            done = embedding_queue.embed_pending(
                self._ctx, BATCH, characters=BATCH_CHARACTERS, pause=self._make_way
            ) or embedding_queue.embed_pending(self._ctx, 1, pause=self._make_way)
            idle = 0 if done else idle + 1
        self._has_left_some = self._ctx.read().backlog(looked_at=BACKLOG_LOOKED_AT) > 0

    def _make_way(self) -> None:
        """Wait while calls are being answered, but not for ever."""
        if not self._stopped.is_set():
            self._ctx.activity.wait_until_quiet(LONGEST_WAIT_SECONDS)

    def _expire(self) -> None:
        from mnemic.core import retention

        retention.collect(self._ctx)

    def _attempt(self, name: str, job: Callable[[], None]) -> None:
        """Do *job*. After a failure pause, longer each time: a server that is down stays down a while."""
        try:
            job()
        except Exception as error:
            self._log_once(name, error)
            self._failures[name] = self._failures.get(name, 0) + 1
            self._stopped.wait(min(2.0 ** self._failures[name], LONGEST_PAUSE_SECONDS))
        else:
            self._failures.pop(name, None)

    def _log_once(self, name: str, error: Exception) -> None:
        """Log *error* the first time its kind happens; what we raised on purpose needs no trace."""
        if (name, type(error)) in self._logged or self._stopped.is_set():
            return
        self._logged.add((name, type(error)))
        log.warning("%s failed: %s", name, error, exc_info=None if isinstance(error, MnemicError) else error)


def log_missing(ctx: Context) -> None:
    """Log what of the feature tier that was asked for is not there."""
    from mnemic.core.capabilities import capabilities

    if message := capabilities(ctx).message:
        log.warning("%s", message)


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
        """Write the waiting uses and end, waiting at most this long for another process that is writing."""
        self._stopped.set()
        self._uses.are_waiting.set()
        self._thread.join(seconds)

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._uses.are_waiting.wait()
            self._stopped.wait(SETTLED_AFTER_SECONDS)
            self._settle()
        self._settle()  # what came while the last ones were written down

    def _settle(self) -> None:
        from mnemic.core.retention import settle

        try:
            settle(self._ctx, waits=not self._stopped.is_set())
        except Exception as error:
            log.warning("uses were not counted: %s", error)
