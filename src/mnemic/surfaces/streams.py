"""Streams of events over HTTP: what a client is told without asking, for as long as it listens."""

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
from mnemic.errors import MnemicError, Unavailable
from mnemic.surfaces import headers
from mnemic.surfaces.bridge import guarded
from mnemic.surfaces.subscriptions import LOOK_SECONDS, Listen, Trouble, acknowledged, ended, updated
from mnemic.surfaces.workers import Caller, TooMany

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from mnemic.core.context import Context
    from mnemic.storage.base import Store

log = logging.getLogger(__name__)

Admit = Callable[[], Awaitable["Context"]]
"""Asks again who listens and what they may see; raises if they may not any more."""

MAX_STREAMS = 256
MAX_STREAMS_PER_CLIENT = 128
ALIVE_SECONDS = 15.0
"""How often a stream says that it is alive, and asks whether its client may still listen."""
ALIVE = b": alive\r\n\r\n"


def event(message: dict[str, Any]) -> bytes:
    """*message* as an event."""
    return b"event: message\r\ndata: " + orjson.dumps(message) + b"\r\n\r\n"


@dataclass(slots=True, eq=False)
class Listener:
    """Who is to be told: of what, up to which change that is done, and on which streams."""

    addresses: set[str] = field(default_factory=set)
    seen: int = 0
    streams: list[EventStream] = field(default_factory=list)
    used_at: float = 0.0
    is_ended: bool = False

    def subscribe(self, address: str, newest: int) -> None:
        """Tell of *address* whatever comes after change *newest*."""
        if not self.addresses:
            self.seen = newest
        self.addresses.add(address)


class Watch:
    """The one task of a daemon that looks for changes, while anyone listens."""

    def __init__(self, store: Store):
        self.sequence = 0
        self.is_closed = False
        self._store = store
        self._streams = 0
        self._of_client: Counter[str] = Counter()
        self._trouble = Trouble()
        self._looking = asyncio.Lock()
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def look(self) -> int:
        """The number of the newest change. If it is a new one, all streams wake up."""
        async with self._looking:
            newest = guarded(self._store.sequence)
            if newest != self.sequence:
                self.sequence = newest
                self.wake()
            return newest

    def wake(self) -> None:
        """Let every stream see what it has to do."""
        self._woken.set()
        self._woken = asyncio.Event()

    async def wait(self, seconds: float) -> None:
        """Wait to be woken, for at most so long."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), seconds)

    def close(self) -> None:
        """End every stream, now and from now on."""
        self.is_closed = True
        self.wake()

    def check_room(self, client: str) -> None:
        """TooMany or Unavailable if there are as many streams as we keep, for *client* or for all."""
        if self._of_client[client] >= MAX_STREAMS_PER_CLIENT:
            raise TooMany(f"{MAX_STREAMS_PER_CLIENT} streams are open already for this token or address.")
        if self._streams >= MAX_STREAMS:
            raise Unavailable(f"{MAX_STREAMS} clients are listening already.")

    @contextlib.contextmanager
    def watching(self, client: str) -> Iterator[None]:
        """Look for changes while the block runs, for *client*."""
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
            await asyncio.sleep(LOOK_SECONDS)
            with self._trouble.told_once():
                await self.look()


class EventStream(StreamingResponse):
    """A response that goes on until the client leaves, may not listen any more, or is told that it is over."""

    def __init__(self, watch: Watch, listener: Listener, caller: Caller, admit: Admit, listen: Listen = None):
        self._watch = watch
        self._caller = replace(caller, has_left=None)
        self._listener = listener
        self._admit = admit
        self._listen = listen
        told = {"Content-Type": headers.EVENTS, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(self._events(), headers=told)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send what there is to tell."""
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
        """The addresses that changed, as they do; None when it is time for a sign of life."""
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
        """Of several streams of one session only the newest tells: the others may be dead without our knowing."""
        is_behind = self._listener.seen != self._watch.sequence and bool(self._listener.addresses)
        return is_behind and self._listener.streams[-1] is self

    async def _news(self) -> list[str]:
        ctx = await self._admit()
        since, self._listener.seen = self._listener.seen, self._watch.sequence
        if ctx.grant is None or await self._caller.run(guarded, has_changed_since, ctx, since):
            return sorted(self._listener.addresses)
        return []
