"""Limits before authentication: connections, request size, time to a complete request."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from mnemic.transports.json_input import MAX_BYTES

try:
    import resource
except ImportError:  # no such limits on this system
    resource = None  # type: ignore[assignment]

log = logging.getLogger(__name__)

MAX_CONNECTIONS = 1_024
MAX_PER_ADDRESS = 512
MAX_HEADERS = 100
MAX_HEADER_BYTES = 32 * 1024
MAX_URL_BYTES = 32 * 1024
MAX_HEAD_BYTES = MAX_HEADER_BYTES + MAX_URL_BYTES
MAX_MESSAGE_BYTES = MAX_HEAD_BYTES + MAX_BYTES + 512 * 1024
"""Bytes of a whole request, chunk framing included."""
REQUEST_SECONDS = 20.0
"""Time limit for a complete request."""
STALL_SECONDS = 60.0
"""Time limit for a client that reads nothing of a response."""
SWEEP_SECONDS = 1.0
SPARE_FILES = 128
"""File descriptors reserved for databases, logs and pipes."""

TOO_LARGE, URI_TOO_LONG, HEADERS_TOO_LARGE, UNAVAILABLE = 413, 414, 431, 503
REASONS = {
    TOO_LARGE: b"Content Too Large",
    URI_TOO_LONG: b"URI Too Long",
    HEADERS_TOO_LARGE: b"Request Header Fields Too Large",
    UNAVAILABLE: b"Service Unavailable",
}


class _Refusal(Exception):
    """The request exceeds a size limit."""


def capacity() -> int:
    """Connections that fit into the process's file descriptor limit, which is raised where possible."""
    if resource is None:
        return MAX_CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_CONNECTIONS + SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        raised = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        soft = raised
    return (
        MAX_CONNECTIONS
        if soft == resource.RLIM_INFINITY
        else max(16, min(MAX_CONNECTIONS, soft - SPARE_FILES))
    )


class Connections:
    """The daemon's open connections. When full, the one that has been sending longest is closed."""

    def __init__(self, most: int):
        self._most = most
        self._per_address = min(MAX_PER_ADDRESS, most)
        self._open: set[LimitedProtocol] = set()
        self._waiting: dict[LimitedProtocol, None] = {}
        """Connections without a complete request, oldest first."""
        self._by_address: Counter[str] = Counter()
        self._sweeping: asyncio.TimerHandle | None = None

    def enter(self, connection: LimitedProtocol) -> bool:
        """Register *connection*; False if there is no room."""
        self._open.add(connection)
        self._by_address[connection.address] += 1
        self.wait_for(connection)
        if self._by_address[connection.address] > self._per_address and not self._make_room(
            connection, own=True
        ):
            return False
        return len(self._open) <= self._most or self._make_room(connection, own=False)

    def leave(self, connection: LimitedProtocol) -> None:
        """Unregister *connection*, which is closed."""
        if connection in self._open:
            self._open.discard(connection)
            self._by_address[connection.address] -= 1
            if not self._by_address[connection.address]:
                del self._by_address[connection.address]
        self._waiting.pop(connection, None)

    def wait_for(self, connection: LimitedProtocol) -> None:
        """Start the timer of the next request of *connection*."""
        connection.waiting_since = connection.loop.time()
        self._waiting.pop(connection, None)
        self._waiting[connection] = None
        if self._sweeping is None:
            self._sweeping = connection.loop.call_later(SWEEP_SECONDS, self._sweep, connection.loop)

    def work_for(self, connection: LimitedProtocol) -> None:
        """Stop the timer: the request of *connection* is complete."""
        self._waiting.pop(connection, None)

    def _make_room(self, newcomer: LimitedProtocol, *, own: bool) -> bool:
        """Close the connection that has been sending longest, of the newcomer's address if *own*."""
        for connection in self._waiting:
            if connection is not newcomer and (not own or connection.address == newcomer.address):
                connection.end()
                self.leave(connection)
                return True
        return False

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        """Close connections that exceed a time limit."""
        now = loop.time()
        slow = [one for one in self._waiting if now - one.waiting_since > REQUEST_SECONDS]
        stalled = [one for one in self._open if now - one.stalled_since > STALL_SECONDS]
        for connection in (*slow, *stalled):
            connection.end()
        self._sweeping = loop.call_later(SWEEP_SECONDS, self._sweep, loop) if self._open else None


class LimitedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP/1.1 protocol with limits on size, time and number of connections."""

    def __init__(self, *args: Any, connections: Connections, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._limits = connections
        self.address = ""
        self.waiting_since = 0.0
        self.stalled_since = float("inf")
        self._status = 400
        self._in_head = False
        self._in_message = False
        self._head_bytes = self._header_bytes = self._message_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection if there is room."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        if not self._limits.enter(self):
            self._refuse(UNAVAILABLE)

    def connection_lost(self, exc: Exception | None) -> None:
        """Unregister the connection."""
        self._limits.leave(self)
        super().connection_lost(exc)

    def end(self) -> None:
        """Close the connection and drop unsent data."""
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Parse the bytes, unless the request is too large."""
        if self.transport.is_closing():
            return
        if not self._in_message:
            self._limits.wait_for(self)
        starts_in_head = self._in_head or not self._in_message
        super().data_received(data)
        self._message_bytes += len(data)
        if self._in_head and starts_in_head:
            self._head_bytes += len(data)
        if self._in_head and self._head_bytes > MAX_HEAD_BYTES:
            self._refuse(HEADERS_TOO_LARGE)
        elif self._in_message and self._message_bytes > MAX_MESSAGE_BYTES:
            self._refuse(TOO_LARGE)

    def on_message_begin(self) -> None:
        """A request begins."""
        self._in_head = self._in_message = True
        self._head_bytes = self._header_bytes = self._message_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Part of the URL."""
        super().on_url(url)
        self._check(len(self.url) <= MAX_URL_BYTES, URI_TOO_LONG)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header or trailer."""
        super().on_header(name, value)
        self._header_bytes += len(name) + len(value)
        is_small = len(self.headers) <= MAX_HEADERS and self._header_bytes <= MAX_HEADER_BYTES
        self._check(is_small, HEADERS_TOO_LARGE)

    def on_headers_complete(self) -> None:
        """The headers are complete."""
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is complete."""
        self._in_message = False
        self._limits.work_for(self)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request. A client that was answered before its request was complete is disconnected."""
        super().on_response_complete()
        if self._in_message and not self.transport.is_closing():
            self.transport.close()
        elif not self._in_message:
            self._limits.wait_for(self)

    def pause_writing(self) -> None:
        """The client has stopped reading."""
        self.stalled_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """The client reads again."""
        self.stalled_since = float("inf")
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Refuse what the parser stopped at, with the matching status."""
        if self._status == 400:
            super().send_400_response(msg)
        else:
            self._refuse(self._status)

    def _check(self, is_small: bool, status: int) -> None:
        if not is_small:
            self._status = status
            raise _Refusal

    def _refuse(self, status: int) -> None:
        if self.transport.is_closing():
            return
        reason = REASONS[status]
        self.transport.write(
            b"HTTP/1.1 %d %b\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\n"
            b"connection: close\r\n\r\n%b" % (status, reason, len(reason), reason)
        )
        self.transport.close()
