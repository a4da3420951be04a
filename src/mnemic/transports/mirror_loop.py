"""Two-way mirroring between a file and the store while a server runs."""

from __future__ import annotations

import contextvars
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mnemic.errors import MnemicError
from mnemic.transports.threads import started

if TYPE_CHECKING:
    from mnemic.core.context import Context
    from mnemic.transfer.mirror import Mirror

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.3
SHARE = 10
"""Share of time spent writing: a large graph's file is written less often."""


@contextmanager
def mirrored(ctx: Context, mirror: Mirror | None) -> Iterator[None]:
    """Import the file first, follow every change, and leave the file complete."""
    if mirror is None:
        yield
        return
    stop = threading.Event()
    keeper = Keeper(ctx, mirror)
    took = keeper.sync()
    inherited = contextvars.copy_context()
    following = (_follow, keeper, stop, took)
    thread = threading.Thread(target=inherited.run, args=following, name="mnemic-mirror", daemon=True)
    follows = started(thread, "the mirrored file is written at the end")
    try:
        yield
    finally:
        stop.set()
        if follows:
            thread.join()
        keeper.sync()


def _follow(keeper: Keeper, stop: threading.Event, took: float) -> None:
    while not stop.wait(max(LOOK_SECONDS, SHARE * took)):
        took = keeper.sync()


class Keeper:
    """Keeps a file and the store in step; reports a failure once."""

    def __init__(self, ctx: Context, mirror: Mirror):
        self._ctx = ctx
        self._mirror = mirror
        self._warned = ""

    def sync(self) -> float:
        """Bring both up to date and return the seconds spent. An unreadable file is no reason to stop."""
        begun = time.monotonic()
        try:
            self._mirror.sync(self._ctx)
        except OSError as error:
            self._warn(error.strerror or str(error))  # the rest may contain the name of a new temporary file
        except MnemicError as error:
            self._warn(str(error))
        else:
            self._warned = ""
        return time.monotonic() - begun

    def _warn(self, problem: str) -> None:
        """Log *problem* unless it was the last one logged."""
        if problem != self._warned:
            self._warned = problem
            log.warning("%s cannot be kept up to date: %s", self._mirror.path, problem)
