"""Starting of threads where the system may allow no more of them."""

from __future__ import annotations

import logging
import threading

log = logging.getLogger(__name__)


def started(thread: threading.Thread, without: str) -> bool:
    """Whether *thread* runs now; if the system allows no more threads, *without* says in the log what will not work."""
    try:
        thread.start()
    except RuntimeError as error:
        log.warning("%s: %s", error, without)
        return False
    return True
