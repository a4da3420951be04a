"""Resource subscriptions of a client and their notifications, in both protocol eras."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mnemic.errors import MnemicError
from mnemic.model.change import BEGINNING

if TYPE_CHECKING:
    from mnemic.storage.base import Store

log = logging.getLogger(__name__)

Listen = int | str | None
"""Id of the `subscriptions/listen` request; None for a session with handshake."""

LISTEN = "subscriptions/listen"
SUBSCRIBE = "resources/subscribe"
SUBSCRIBING = frozenset((SUBSCRIBE, "resources/unsubscribe"))
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"

LOOK_SECONDS = 1.0
"""Length of one wait for changes in a daemon."""
PATIENCE_SECONDS = 0.25
"""Length of one wait for changes in a server that ends with its client."""


def updated(address: str, listen: Listen = None) -> dict[str, Any]:
    """The notification that *address* has changed."""
    marked = {} if listen is None else _marked(listen)
    return _notification("notifications/resources/updated", {"uri": address, **marked})


def acknowledged(listen: Listen, addresses: Collection[str]) -> dict[str, Any]:
    """The acknowledgement of a `subscriptions/listen`: the accepted URIs."""
    accepted = {"resourceSubscriptions": sorted(addresses)} if addresses else {}
    return _notification(
        "notifications/subscriptions/acknowledged", {"notifications": accepted, **_marked(listen)}
    )


def ended(listen: Listen) -> dict[str, Any]:
    """The final answer to a `subscriptions/listen` that we end."""
    return {"jsonrpc": "2.0", "id": listen, "result": {"resultType": "complete", **_marked(listen)}}


def _notification(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def _marked(listen: Listen) -> dict[str, Any]:
    return {"_meta": {SUBSCRIPTION_KEY: listen}}


class Trouble:
    """Polls that fail while the store is unavailable: logged once until one succeeds."""

    def __init__(self) -> None:
        self._logged = ""

    @contextmanager
    def logged_once(self) -> Iterator[None]:
        """Tolerate our own errors in the block."""
        try:
            yield
        except MnemicError as error:
            if str(error) != self._logged:
                self._logged = str(error)
                log.warning("subscriptions: %s", error)
        else:
            self._logged = ""


class Subscriptions:
    """Notifies of changes to subscribed URIs, made here or by another process."""

    def __init__(self, store: Store, tell: Callable[[dict[str, Any]], None]):
        self._store = store
        self._tell = tell
        self._wanted: dict[Listen, set[str]] = {None: set()}
        self._seen = BEGINNING
        self._trouble = Trouble()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, address: str) -> None:
        """Subscribe the session to *address*."""
        with self._lock:
            self._want(None, {*self._wanted[None], address})

    def remove(self, address: str) -> None:
        """Unsubscribe the session from *address*."""
        with self._lock:
            self._wanted[None].discard(address)

    def listen(self, listen: Listen, addresses: set[str]) -> None:
        """Subscribe *listen* to *addresses* and acknowledge before any notification."""
        with self._lock:
            self._want(listen, addresses)
            self._tell(acknowledged(listen, addresses))

    def end(self, listen: Listen) -> None:
        """End the subscription *listen*."""
        with self._lock:
            self._wanted.pop(listen, None)

    def look(self) -> None:
        """Send due notifications; none while the store is unavailable."""
        with self._trouble.logged_once():
            self._look()

    def _look(self) -> None:
        with self._lock:
            if not self._is_needed or (newest := self._store.newest()) == self._seen:
                return
            self._seen = newest
            for listen, addresses in self._wanted.items():
                for address in sorted(addresses):
                    self._tell(updated(address, listen))

    def close(self) -> None:
        """Stop polling and notify listeners of the end."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(LOOK_SECONDS)
        for listen in self._wanted.keys() - {None}:
            self._tell(ended(listen))

    @property
    def _is_needed(self) -> bool:
        return any(self._wanted.values())

    def _want(self, listen: Listen, addresses: set[str]) -> None:
        if not self._is_needed:
            self._seen = self._store.newest()
        self._wanted[listen] = addresses
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="mnemic-subscriptions", daemon=True)
            self._thread.start()

    def _watch(self) -> None:
        while not self._stopped.is_set():
            with self._trouble.logged_once():
                if self._is_needed and self._store.wait(self._seen, PATIENCE_SECONDS) != self._seen:
                    self._look()
                    continue
            self._stopped.wait(PATIENCE_SECONDS)
