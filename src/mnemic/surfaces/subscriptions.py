"""What a client asked to be told the changes of."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from mnemic.errors import MnemicError

if TYPE_CHECKING:
    from mnemic.storage.base import Store

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""How often we look for what other processes changed."""


class Subscriptions:
    """Tells of each address subscribed to when the store has changed, here or in another process."""

    def __init__(self, store: Store, tell: Callable[[str], None]):
        self._store = store
        self._tell = tell
        self._addresses: set[str] = set()
        self._seen = 0
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, address: str) -> None:
        """Tell of *address* from now on."""
        with self._lock:
            if not self._addresses:
                self._seen = self._store.sequence()
            self._addresses.add(address)
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="mnemic-subscriptions", daemon=True)
            self._thread.start()

    def remove(self, address: str) -> None:
        """Tell of *address* no more."""
        with self._lock:
            self._addresses.discard(address)

    def look(self) -> None:
        """Tell, if there is anything to tell."""
        with self._lock:
            if not self._addresses or self._store.sequence() == self._seen:
                return
            self._seen = self._store.sequence()
            for address in sorted(self._addresses):
                self._tell(address)

    def close(self) -> None:
        """Stop looking."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(LOOK_SECONDS)

    def _watch(self) -> None:
        while not self._stopped.wait(LOOK_SECONDS):
            try:
                self.look()
            except MnemicError as error:
                log.warning("subscriptions: %s", error)
