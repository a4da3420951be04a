"""MCP over standard input and output, with a clean shutdown."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mnemic.transports.background import Worker
from mnemic.transports.json_input import MAX_BYTES
from mnemic.transports.mcp.jsonrpc import RpcConversation
from mnemic.transports.mcp.methods import Endpoint, offer
from mnemic.transports.mirror_loop import mirrored
from mnemic.transports.signals import Stop, stopped_by_signals

if TYPE_CHECKING:
    from mnemic.app import App
    from mnemic.core.context import Context
    from mnemic.dialects.framework import Dialect

CHUNK = 65_536
ENDS = 4_096
"""Bytes kept of each end of an overlong line, to find its id."""
ORPHAN_CHECK_SECONDS = 2.0
PATIENCE_SECONDS = 5.0
"""Grace period for a call in progress at shutdown."""

_IS_POSIX = os.name == "posix"


def run_stdio(app: App, dialect: Dialect) -> None:
    """Serve *dialect* on standard input and output until the client leaves or a stop signal."""
    worker = Worker(app.ctx)
    ctx = for_own_user(replace(app.ctx, wake=worker.wake))
    mirror = dialect.mirror(os.environ) if dialect.mirror else None
    with (
        mirrored(ctx, mirror),
        claimed_streams() as (wire_in, wire_out),
        stopped_by_signals(PATIENCE_SECONDS) as stop,
    ):
        source, sink = InputSource(wire_in, stop), Sink(wire_out, stop)
        conversation = RpcConversation(Endpoint(dialect, offer(app.settings)), ctx, sink.send)
        worker.start()
        listen(conversation, source.read)
        conversation.close(PATIENCE_SECONDS if stop.is_set else None)
        sink.close()
    worker.stop()


def for_own_user(ctx: Context) -> Context:
    """*ctx* for a client that runs as this user, who may name own files; callers over HTTP may not."""
    return replace(ctx, roots=(*ctx.roots, Path.home().resolve()))


def listen(conversation: RpcConversation, read: Callable[[], bytes]) -> None:
    """Hand the lines from *read* to *conversation* until they end."""
    for line, is_whole in lines(read):
        (conversation.take if is_whole else conversation.refuse_long_line)(line)


def lines(read: Callable[[], bytes], limit: int = MAX_BYTES) -> Iterator[tuple[bytes, bool]]:
    """The lines from *read*, each with whether it is complete; of an overlong one only the ends are kept."""
    held = _Held(limit)
    while chunk := read():
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            held.add(piece)
            yield held.take()
        held.add(rest)
    if held.bytes:
        yield held.take()


class _Held:
    """The unfinished line, never more than *limit* plus one chunk."""

    def __init__(self, limit: int):
        self.limit = limit
        self.bytes = bytearray()
        self.is_whole = True

    def add(self, piece: bytes) -> None:
        self.bytes += piece
        if len(self.bytes) > self.limit:
            self.is_whole = False
            del self.bytes[ENDS:-ENDS]

    def take(self) -> tuple[bytes, bool]:
        line = bytes(self.bytes), self.is_whole
        self.bytes.clear()
        self.is_whole = True
        return line


class InputSource:
    """Standard input. Reading ends at its end, with *stop*, or with the parent process."""

    def __init__(self, descriptor: int, stop: Stop):
        self._descriptor = descriptor
        self._stop = stop
        self._parent = os.getppid()

    def read(self) -> bytes:
        """The next bytes; empty at the end."""
        return b"" if _IS_POSIX and not self._wait() else os.read(self._descriptor, CHUNK)

    def _wait(self) -> bool:
        """Wait for bytes; False if there will be none."""
        watched = [self._descriptor, self._stop.readable]
        while True:
            ready, _, _ = select.select(watched, [], [], ORPHAN_CHECK_SECONDS)
            if ready:
                return self._stop.readable not in ready
            # A sibling process may keep the pipe open long after the client has died.
            if os.getppid() != self._parent:
                return False


class Sink:
    """Standard output, one whole line at a time. A closed pipe sets *stop*."""

    def __init__(self, descriptor: int, stop: Stop):
        self._descriptor = descriptor
        self._stop = stop
        self._lock = threading.Lock()
        self._is_open = True

    def send(self, line: bytes) -> None:
        """Write *line*, unless the pipe is closed."""
        with self._lock:
            rest = memoryview(line)
            while rest and self._is_open:
                try:
                    rest = rest[os.write(self._descriptor, rest) :]
                except OSError:
                    self._is_open = False
                    self._stop.set()

    def close(self) -> None:
        """Accept no more lines: a call that outlasts the grace period must not write."""
        with self._lock:
            self._is_open = False


@contextlib.contextmanager
def claimed_streams() -> Iterator[tuple[int, int]]:
    """The real input and output; prints by other code go to stderr meanwhile."""
    sys.stdout.flush()
    source, sink, null = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(null, 1)
    os.close(null)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield source, sink
    finally:
        os.dup2(source, 0)
        os.dup2(sink, 1)
        os.close(source)
        os.close(sink)
