"""What a client asked to be told the changes of, and the messages that tell it, in both protocol eras."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mnemic.errors import MnemicError

if TYPE_CHECKING:
    from mnemic.storage.base import Store

log = logging.getLogger(__name__)

Listen = int | str | None
"""The id of the `subscriptions/listen` that asked to be told; None is the session of a handshake."""

LISTEN = "subscriptions/listen"
SUBSCRIBE = "resources/subscribe"
SUBSCRIBING = frozenset((SUBSCRIBE, "resources/unsubscribe"))
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"

LOOK_SECONDS = 1.0
"""How often we look for what other processes changed."""


def updated(address: str, listen: Listen = None) -> dict[str, Any]:
    """The message that *address* has changed."""
    marked = {} if listen is None else _marked(listen)
    return _notification("notifications/resources/updated", {"uri": address, **marked})


def acknowledged(listen: Listen, addresses: Collection[str]) -> dict[str, Any]:
    """The message that a `subscriptions/listen` is answered with at once: what it will be told of."""
    told = {"resourceSubscriptions": sorted(addresses)} if addresses else {}
    return _notification(
        "notifications/subscriptions/acknowledged", {"notifications": told, **_marked(listen)}
    )


def ended(listen: Listen) -> dict[str, Any]:
    """The message that a `subscriptions/listen` is answered with when we end it."""
    return {"jsonrpc": "2.0", "id": listen, "result": {"resultType": "complete", **_marked(listen)}}


def _notification(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def _marked(listen: Listen) -> dict[str, Any]:
    return {"_meta": {SUBSCRIPTION_KEY: listen}}


class Trouble:
    """Looks that fail while the store cannot be asked: they are logged once, until one does not."""

    def __init__(self) -> None:
        self._told = ""

    @contextmanager
    def told_once(self) -> Iterator[None]:
        """Let what the block does fail with an error of ours."""
        try:
            yield
        except MnemicError as error:
            if str(error) != self._told:
                self._told = str(error)
                log.warning("subscriptions: %s", error)
        else:
            self._told = ""


class Subscriptions:
    """Tells of each address subscribed to when the store has changed, here or in another process."""

    def __init__(self, store: Store, tell: Callable[[dict[str, Any]], None]):
        self._store = store
        self._tell = tell
        self._wanted: dict[Listen, set[str]] = {None: set()}
        self._seen = 0
        self._trouble = Trouble()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, address: str) -> None:
        """Tell the session of *address* from now on."""
        with self._lock:
            self._want(None, {*self._wanted[None], address})

    def remove(self, address: str) -> None:
        """Tell the session of *address* no more."""
        with self._lock:
            self._wanted[None].discard(address)

    def listen(self, listen: Listen, addresses: set[str]) -> None:
        """Tell *listen* of *addresses* from now on, and before anything else that we will."""
        with self._lock:
            self._want(listen, addresses)
            self._tell(acknowledged(listen, addresses))

    def end(self, listen: Listen) -> None:
        """Tell *listen* nothing more."""
        with self._lock:
            self._wanted.pop(listen, None)

    def look(self) -> None:
        """Tell, if there is anything to tell; while the store cannot be asked there is not."""
        with self._trouble.told_once():
            self._look()

    def _look(self) -> None:
        with self._lock:
            if not self._is_needed or self._store.sequence() == self._seen:
                return
            self._seen = self._store.sequence()
            for listen, addresses in self._wanted.items():
                for address in sorted(addresses):
                    self._tell(updated(address, listen))

    def close(self) -> None:
        """Stop looking, and say so to whoever listens."""
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
            self._seen = self._store.sequence()
        self._wanted[listen] = addresses
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="mnemic-subscriptions", daemon=True)
            self._thread.start()

    def _watch(self) -> None:
        while not self._stopped.wait(LOOK_SECONDS):
            self.look()
