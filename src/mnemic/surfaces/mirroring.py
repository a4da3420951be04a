"""Keeping a mirror file and the store alike while a server runs."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mnemic.errors import MnemicError

if TYPE_CHECKING:
    from mnemic.core.context import Context
    from mnemic.core.moving.mirror import Mirror

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.3
SHARE = 10
"""Of a large graph the file is written less often: so that it takes a tenth of the time at most."""


@contextmanager
def mirrored(ctx: Context, mirror: Mirror | None) -> Iterator[None]:
    """Take in what the file has before anything else happens, follow every change, and end with the file complete."""
    if mirror is None:
        yield
        return
    stop = threading.Event()
    keeper = Keeper(ctx, mirror)
    took = keeper.sync()
    thread = threading.Thread(target=_follow, args=(keeper, stop, took), name="mnemic-mirror", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        keeper.sync()


def _follow(keeper: Keeper, stop: threading.Event, took: float) -> None:
    while not stop.wait(max(LOOK_SECONDS, SHARE * took)):
        took = keeper.sync()


class Keeper:
    """Keeps a file and the store alike, and says once why it cannot."""

    def __init__(self, ctx: Context, mirror: Mirror):
        self._ctx = ctx
        self._mirror = mirror
        self._told = ""

    def sync(self) -> float:
        """Bring both up to date: how many seconds that took. A file that cannot be had is no reason to stop."""
        begun = time.monotonic()
        try:
            self._mirror.sync(self._ctx)
        except OSError as error:
            self._tell(error.strerror or str(error))  # the rest may be the name of a new file each time
        except MnemicError as error:
            self._tell(str(error))
        else:
            self._told = ""
        return time.monotonic() - begun

    def _tell(self, problem: str) -> None:
        """Log *problem* unless it is the one that was told last."""
        if problem != self._told:
            self._told = problem
            log.warning("%s cannot be kept up to date: %s", self._mirror.path, problem)
