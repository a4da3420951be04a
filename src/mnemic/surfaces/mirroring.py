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
    took = _sync(ctx, mirror)
    thread = threading.Thread(
        target=_follow, args=(ctx, mirror, stop, took), name="mnemic-mirror", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        _sync(ctx, mirror)


def _follow(ctx: Context, mirror: Mirror, stop: threading.Event, took: float) -> None:
    while not stop.wait(max(LOOK_SECONDS, SHARE * took)):
        took = _sync(ctx, mirror)


def _sync(ctx: Context, mirror: Mirror) -> float:
    """Bring both up to date: how many seconds that took. A file that cannot be had is no reason to stop."""
    begun = time.monotonic()
    try:
        mirror.sync(ctx)
    except (OSError, MnemicError) as error:
        log.warning("%s cannot be kept up to date: %s", mirror.path, error)
    return time.monotonic() - begun
