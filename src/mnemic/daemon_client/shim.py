"""`mnemic mcp` as a relay between its client and the daemon, which outlives a daemon that ends.

Imports the standard library alone. The shim remembers the handshake and the requests that have no answer yet. When the
daemon is gone it connects to another, repeats the handshake and these requests. A request whose transaction was kept
is not repeated: the client gets an error that says so.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import time

from mnemic.daemon_client import frames
from mnemic.daemon_client.address import Address, address_of, database_of
from mnemic.daemon_client.client import Gone, Refused, Wire, hello, introduced, surroundings, were_applied
from mnemic.daemon_client.frames import BrokenFrame, packed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

LONGEST_LINE = 4 * 1024 * 1024
"""A longer line is refused by the server and need not be remembered."""
MOST_QUEUED = 1024 * 1024
"""Bytes waiting for the daemon from which on no more are read."""
ORPHAN_CHECK_SECONDS = 2.0
PATIENCE_SECONDS = 8.0
"""How long the daemon may take to finish what is being done when we are asked to stop."""
INTERNAL_ERROR = -32603
REPLY = b'{"jsonrpc":"2.0","id":'
"""How an answer begins as the server writes it."""
KEPT = (
    "The local daemon ended before it could answer, but the change was stored. Do not repeat it; "
    "look at what is there now."
)
LOST = (
    "The local daemon ended and cannot be started again. Nothing was changed. Try again, or start the server with "
    "--in-process."
)


def serve(words: Sequence[str]) -> int | None:
    """Relay until the client leaves; the exit code, or None if this process is to serve the client."""
    database = database_of(words, os.environ)
    address = address_of(database) if database else None
    if address is None:
        return None
    greeting = hello(address, "run", argv=list(words), connection=os.urandom(16).hex(), **surroundings())
    session = DaemonPeer(address, greeting)
    try:
        wire = session.open()
    except Refused as refusal:
        if refusal.reason == "version":
            print(f"{refusal} This client is served by a process of its own.", file=sys.stderr)
        return None
    return None if wire is None else Relay(session, wire).run()


class DaemonPeer:
    """The daemon of one database, and how this client introduces itself there."""

    def __init__(self, address: Address, greeting: bytes):
        self.address = address
        self._greeting = greeting

    def open(self) -> Wire | None:
        """A new connection to the daemon, which is started if it is not there; None if that cannot be."""
        return introduced(self.address, self._greeting, starts=True)


class PendingRequest:
    """A request without an answer: its line, and the transactions that were begun for it."""

    __slots__ = ("line", "marks")

    def __init__(self, line: bytes):
        self.line = line
        self.marks: list[Any] = []


class ReplayState:
    """State to replay to a new daemon: the handshake, subscriptions, requests without an answer."""

    def __init__(self) -> None:
        self.handshake: list[bytes] = []
        self.subscriptions: dict[str, bytes] = {}
        self.requests: dict[Any, PendingRequest] = {}
        self.partial = bytearray()
        self._is_overlong = False

    def take(self, data: bytes) -> None:
        """Note what the client says in *data*."""
        *ended, rest = data.split(b"\n")
        for piece in ended:
            self._add(piece)
            if not self._is_overlong:
                self._note(bytes(self.partial) + b"\n")
            self.partial.clear()
            self._is_overlong = False
        self._add(rest)

    def _add(self, piece: bytes) -> None:
        self.partial += piece
        if len(self.partial) > LONGEST_LINE:
            self._is_overlong = True
            self.partial.clear()

    def _note(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return  # the server says what is wrong with it
        if not isinstance(message, dict):
            return
        method, id = message.get("method"), message.get("id")
        params = message.get("params")
        if method == "initialize":
            self.handshake = [line]
        elif method == "notifications/initialized":
            self.handshake.append(line)
        elif method == "notifications/cancelled" and isinstance(params, dict):
            self.requests.pop(_hashable(params.get("requestId")), None)
        elif method in ("resources/subscribe", "resources/unsubscribe") and isinstance(params, dict):
            self._subscribe(str(params.get("uri")), line if method == "resources/subscribe" else None)
        if id is not None and method is not None:
            self.requests[_hashable(id)] = PendingRequest(line)

    def _subscribe(self, uri: str, line: bytes | None) -> None:
        self.subscriptions.pop(uri, None)
        if line is not None:
            self.subscriptions[uri] = line

    def answered(self, line: bytes) -> Any:
        """The id of the request that *line* answers, which is forgotten; None for a notification."""
        id = reply_id(line)
        self.requests.pop(id, None)
        return id

    def mark(self, content: bytes) -> None:
        """Note that a transaction begins for a request."""
        reply = json.loads(content)
        request = self.requests.get(_hashable(reply["id"]))
        if request is not None:
            request.marks.append(reply)


def reply_id(line: bytes) -> Any:
    """The id in an answer of the server; None in a notification."""
    if not line.startswith(REPLY):
        return None
    rest = line[len(REPLY) :]
    text = rest[: 4 * 1024].decode(errors="replace")
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except ValueError:
        return json.loads(line).get("id")


def _hashable(id: Any) -> Any:
    return id if isinstance(id, (int, str)) else None


class Relay:
    """Carries lines between standard input and output and the daemon, in one thread."""

    def __init__(self, session: DaemonPeer, wire: Wire):
        self._session = session
        self._wire: Wire | None = wire
        self._state = ReplayState()
        self._queued = bytearray()
        """What is to be sent to the daemon."""
        self._replayed: set[Any] = set()
        """Ids whose next answer the client had before."""
        self._reads = True
        """Whether standard input is open."""
        self._code: int | None = None
        self._ends_at: float | None = None
        self._parent = os.getppid()

    def run(self) -> int:
        """Relay until both sides are done; the exit code."""
        woken = self._listen_to_signals()
        while self._code is None and not self._is_late():
            readable, writable = self._wait(woken)
            if woken in readable:
                os.read(woken, 16)
                self._end_input(PATIENCE_SECONDS)
            if self._wire is not None and self._wire.socket in readable:
                self._receive(self._wire)
            if self._wire is not None and writable:
                self._flush(self._wire)
            if 0 in readable and self._reads:
                self._read()
        return self._code or 0

    def _listen_to_signals(self) -> int:
        woken, wakes = os.pipe()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: os.write(wakes, b"!"))
        return woken

    def _is_late(self) -> bool:
        if os.getppid() != self._parent and self._reads:
            self._end_input(PATIENCE_SECONDS)
        return self._ends_at is not None and time.monotonic() > self._ends_at

    def _wait(self, woken: int) -> tuple[list[Any], list[Any]]:
        """Wait until something can be read or sent."""
        sources: list[Any] = [woken]
        if self._reads and len(self._queued) < MOST_QUEUED:
            sources.append(0)
        if self._wire is not None:
            sources.append(self._wire.socket)
        sinks = [self._wire.socket] if self._wire is not None and self._queued else []
        readable, writable, _ = select.select(sources, sinks, [], ORPHAN_CHECK_SECONDS)
        return readable, writable

    def _read(self) -> None:
        """Take what the client says. A daemon that has left is replaced before anything is sent."""
        data = os.read(0, frames.CHUNK)
        if not data:
            self._end_input()
            return
        reason = self._reconnect() if self._wire is None else None
        self._state.take(data)
        if reason is None:
            self._queued += packed(frames.INPUT, data)
        else:
            self._give_up(reason)

    def _end_input(self, patience_seconds: float | None = None) -> None:
        """The client has left or we are asked to stop: let the daemon finish what it is doing."""
        if patience_seconds is not None:
            self._ends_at = time.monotonic() + patience_seconds
        if self._reads:
            self._reads = False
            self._queued += packed(frames.INPUT_END)
        if self._wire is None:
            self._code = 0

    def _flush(self, wire: Wire) -> None:
        try:
            sent = wire.socket.send(self._queued, socket.MSG_DONTWAIT)
            del self._queued[:sent]
        except BlockingIOError:
            pass
        except OSError:
            self._lose()

    def _receive(self, wire: Wire) -> None:
        """Pass on what the daemon says."""
        try:
            data = wire.socket.recv(frames.CHUNK)
            if not data:
                raise Gone
            for tag, content in wire.feed(data):
                self._handle(tag, content)
        except (OSError, Gone, BrokenFrame):
            self._lose()

    def _handle(self, tag: bytes, content: bytes) -> None:
        if tag == frames.OUTPUT:
            self._answer(content)
        elif tag == frames.ERROR:
            _write(2, content)
        elif tag == frames.MARK:
            self._state.mark(content)
        elif tag == frames.EXIT:
            if self._reads:
                raise Gone  # it was stopped; another takes over when it is needed
            self._code = int(json.loads(content)["code"])

    def _answer(self, line: bytes) -> None:
        id = self._state.answered(line)
        if id is not None and id in self._replayed:
            self._replayed.discard(id)
        elif not _write(1, line):
            self._end_input(PATIENCE_SECONDS)

    def _lose(self) -> None:
        """The daemon has ended. If no request waits for an answer, another is found at the next request."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None
        self._queued.clear()
        if not self._state.requests:
            self._code = None if self._reads else 0
        elif (reason := self._reconnect()) is not None:
            self._give_up(reason)

    def _reconnect(self) -> str | None:
        """Tell another daemon all that this one knew and has not answered; why not, if there is none."""
        try:
            self._wire = self._session.open()
        except Refused as refusal:
            return str(refusal)
        if self._wire is None:
            return LOST
        self._queued = bytearray(b"".join(packed(frames.INPUT, line) for line in self._replay()))
        if not self._reads:
            self._queued += packed(frames.INPUT_END)
        return None

    def _replay(self) -> Iterator[bytes]:
        """The lines that another daemon must hear: what the client said before, and what waits for an answer."""
        waiting = set(self._state.requests)
        for line in (*self._state.handshake, *self._state.subscriptions.values()):
            id = _hashable(json.loads(line).get("id"))
            if id is not None and id not in waiting:
                self._replayed.add(id)
                yield line
            elif id is None:
                yield line
        for id, request in list(self._state.requests.items()):
            if were_applied(self._session.address, request.marks):
                self._answer(_error_line(id, KEPT))
            else:
                request.marks.clear()
                yield request.line
        if self._state.partial:
            yield bytes(self._state.partial)

    def _give_up(self, reason: str) -> None:
        """Answer all pending requests with an error; the next request tries again."""
        for id, request in list(self._state.requests.items()):
            is_kept = were_applied(self._session.address, request.marks)
            self._answer(_error_line(id, KEPT if is_kept else reason))
        if not self._reads:
            self._code = 1


def _error_line(id: Any, message: str) -> bytes:
    """An error answer to the request *id*."""
    reply = {"jsonrpc": "2.0", "id": id, "error": {"code": INTERNAL_ERROR, "message": message}}
    return json.dumps(reply, separators=(",", ":")).encode() + b"\n"


def _write(descriptor: int, content: bytes) -> bool:
    """Write all of *content*; False if the reader has closed."""
    rest = memoryview(content)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except OSError:
            return False
    return True
