"""Server-sent events: change notifications over HTTP streams."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import orjson
from starlette.responses import StreamingResponse

from mnemic.core.history import has_changed_since
from mnemic.dialects.execution import guarded
from mnemic.errors import MnemicError, Unavailable
from mnemic.model.change import BEGINNING
from mnemic.transports.mcp import headers
from mnemic.transports.mcp.subscriptions import LOOK_SECONDS, Listen, Trouble, acknowledged, ended, updated
from mnemic.transports.workers import Caller, TooMany

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from mnemic.core.context import Context
    from mnemic.model.change import Position
    from mnemic.storage.base import Store

log = logging.getLogger(__name__)

Admit = Callable[[], Awaitable["Context"]]
"""Repeats the authentication of a listener; raises if access was revoked."""

MAX_STREAMS = 256
MAX_STREAMS_PER_CLIENT = 128
ALIVE_SECONDS = 15.0
"""Interval of keep-alive events and repeated authentication."""
ALIVE = b": alive\r\n\r\n"


def event(message: dict[str, Any]) -> bytes:
    """*message* as a server-sent event."""
    return b"event: message\r\ndata: " + orjson.dumps(message) + b"\r\n\r\n"


@dataclass(slots=True, eq=False)
class SubscribedClient:
    """Subscriptions of one client: URIs, last change delivered, and streams."""

    addresses: set[str] = field(default_factory=set)
    seen: Position = BEGINNING
    streams: list[EventStream] = field(default_factory=list)
    used_at: float = 0.0
    is_ended: bool = False

    def subscribe(self, address: str, newest: Position) -> None:
        """Subscribe to *address* for changes after *newest*."""
        if not self.addresses:
            self.seen = newest
        self.addresses.add(address)


class Watch:
    """The daemon's single task that waits for changes while anyone listens."""

    def __init__(self, store: Store):
        self.newest = BEGINNING
        self.is_closed = False
        self._store = store
        self._streams = 0
        self._of_client: Counter[str] = Counter()
        self._trouble = Trouble()
        self._looking = asyncio.Lock()
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def look(self) -> Position:
        """Position of the newest change; wakes all streams if it is new."""
        async with self._looking:
            return self._note(guarded(self._store.newest))

    def _note(self, newest: Position) -> Position:
        if newest != self.newest:
            self.newest = newest
            self.wake()
        return newest

    def wake(self) -> None:
        """Wake every stream."""
        self._woken.set()
        self._woken = asyncio.Event()

    async def wait(self, seconds: float) -> None:
        """Wait for a wake-up, at most this long."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), seconds)

    def close(self) -> None:
        """End every stream and refuse new ones."""
        self.is_closed = True
        self.wake()

    def check_room(self, client: str) -> None:
        """Raise TooMany or Unavailable if *client* or the daemon has its maximum of streams."""
        if self._of_client[client] >= MAX_STREAMS_PER_CLIENT:
            raise TooMany(f"{MAX_STREAMS_PER_CLIENT} streams are open already for this token or address.")
        if self._streams >= MAX_STREAMS:
            raise Unavailable(f"{MAX_STREAMS} clients are listening already.")

    @contextlib.contextmanager
    def watching(self, client: str) -> Iterator[None]:
        """Wait for changes while the block runs, on behalf of *client*."""
        self._streams += 1
        self._of_client[client] += 1
        if self._task is None:
            self._task = asyncio.create_task(self._keep_looking())
        try:
            yield
        finally:
            self._streams -= 1
            self._of_client[client] -= 1
            if not self._streams:
                self._task.cancel()
                self._task = None
            self.wake()

    async def _keep_looking(self) -> None:
        while True:
            with self._trouble.logged_once():
                self._note(await asyncio.to_thread(guarded, self._store.wait, self.newest, LOOK_SECONDS))
                continue
            await asyncio.sleep(LOOK_SECONDS)


class EventStream(StreamingResponse):
    """A response that lasts until the client leaves, loses access, or the stream is ended."""

    def __init__(
        self, watch: Watch, listener: SubscribedClient, caller: Caller, admit: Admit, listen: Listen = None
    ):
        self._watch = watch
        self._caller = replace(caller, has_left=None)
        self._listener = listener
        self._admit = admit
        self._listen = listen
        response_headers = {
            "Content-Type": headers.EVENTS,
            "Cache-Control": "no-store",
            "X-Accel-Buffering": "no",
        }
        super().__init__(self._events(), headers=response_headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send notifications as they come."""
        self._listener.streams.append(self)
        try:
            with self._watch.watching(self._caller.client):
                await super().__call__(scope, receive, send)
        finally:
            self._listener.streams.remove(self)
            self._listener.used_at = time.monotonic()

    async def _events(self) -> AsyncIterator[bytes]:
        if self._listen is not None:
            yield event(acknowledged(self._listen, self._listener.addresses))
        try:
            async for address in self._updates():
                yield event(updated(address, self._listen)) if address else ALIVE
        except MnemicError as error:
            log.info("a stream ends: %s", error)
        if self._listen is not None:
            yield event(ended(self._listen))

    async def _updates(self) -> AsyncIterator[str | None]:
        """Changed URIs as they come; None when a keep-alive is due."""
        await self._watch.look()
        alive_at = time.monotonic() + ALIVE_SECONDS
        while not (self._watch.is_closed or self._listener.is_ended):
            if self._has_to_tell:
                for address in await self._news():
                    yield address
            elif time.monotonic() >= alive_at:
                await self._admit()
                yield None
                alive_at = time.monotonic() + ALIVE_SECONDS
            else:
                await self._watch.wait(alive_at - time.monotonic())

    @property
    def _has_to_tell(self) -> bool:
        """Only the newest stream of a session delivers: older ones may be dead without notice."""
        is_behind = self._listener.seen != self._watch.newest and bool(self._listener.addresses)
        return is_behind and self._listener.streams[-1] is self

    async def _news(self) -> list[str]:
        ctx = await self._admit()
        since, self._listener.seen = self._listener.seen, self._watch.newest
        if ctx.grant is None or await self._caller.run(guarded, has_changed_since, ctx, since):
            return sorted(self._listener.addresses)
        return []
