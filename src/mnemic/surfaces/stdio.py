"""MCP over standard input and output: bytes to lines, lines to a conversation, and a clean end."""

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

from mnemic.surfaces.jobs import Worker
from mnemic.surfaces.jsonrpc import Conversation
from mnemic.surfaces.mcp import Endpoint, offer
from mnemic.surfaces.mirroring import mirrored
from mnemic.surfaces.parsing import MAX_BYTES
from mnemic.surfaces.signals import Stop, stopped_by_signals

if TYPE_CHECKING:
    from mnemic.app import App
    from mnemic.dialects.operation import Dialect

CHUNK = 65_536
ENDS = 4_096
"""How much of each end of an overlong line is kept, to look for its id."""
ORPHAN_CHECK_SECONDS = 2.0
PATIENCE_SECONDS = 5.0
"""How long a call in progress may go on after we were told to stop."""

_IS_POSIX = os.name == "posix"


def run_stdio(app: App, dialect: Dialect) -> None:
    """Serve *dialect* on standard input and output until the client leaves or a signal says stop."""
    worker = Worker(app.ctx)
    # Whoever starts us on their own machine may name a file of their own; a daemon's callers may not.
    ctx = replace(app.ctx, wake=worker.wake, roots=(*app.ctx.roots, Path.home().resolve()))
    mirror = dialect.mirror(os.environ) if dialect.mirror else None
    with (
        mirrored(ctx, mirror),
        claimed_streams() as (wire_in, wire_out),
        stopped_by_signals(PATIENCE_SECONDS) as stop,
    ):
        source, sink = Source(wire_in, stop), Sink(wire_out, stop)
        conversation = Conversation(Endpoint(dialect, offer(app.settings)), ctx, sink.send)
        worker.start()
        for line, is_whole in lines(source.read):
            (conversation.take if is_whole else conversation.refuse_long_line)(line)
        conversation.close(PATIENCE_SECONDS if stop.is_set else None)
        sink.close()
    worker.stop()


def lines(read: Callable[[], bytes], limit: int = MAX_BYTES) -> Iterator[tuple[bytes, bool]]:
    """The lines that *read* brings, and whether each is whole: of an overlong one only the ends are kept."""
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
    """The part of a line that has come so far, never more than *limit* and a chunk."""

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


class Source:
    """Where the client's bytes come from. Reading ends with them, with *stop*, or with the parent process."""

    def __init__(self, descriptor: int, stop: Stop):
        self._descriptor = descriptor
        self._stop = stop
        self._parent = os.getppid()

    def read(self) -> bytes:
        """The next bytes, or none at the end."""
        return b"" if _IS_POSIX and not self._wait() else os.read(self._descriptor, CHUNK)

    def _wait(self) -> bool:
        """Wait for bytes; False if there will be none."""
        watched = [self._descriptor, self._stop.readable]
        while True:
            ready, _, _ = select.select(watched, [], [], ORPHAN_CHECK_SECONDS)
            if ready:
                return self._stop.readable not in ready
            # A sibling may hold the other end of the pipe open long after the client has died.
            if os.getppid() != self._parent:
                return False


class Sink:
    """Where our lines go, whole and one at a time. A client that stopped listening is a reason to stop."""

    def __init__(self, descriptor: int, stop: Stop):
        self._descriptor = descriptor
        self._stop = stop
        self._lock = threading.Lock()
        self._is_open = True

    def send(self, line: bytes) -> None:
        """Write *line*, unless nobody listens any more."""
        with self._lock:
            rest = memoryview(line)
            while rest and self._is_open:
                try:
                    rest = rest[os.write(self._descriptor, rest) :]
                except OSError:
                    self._is_open = False
                    self._stop.set()

    def close(self) -> None:
        """Take no more lines: a call that outlasted our patience must not write to whatever comes next."""
        with self._lock:
            self._is_open = False


@contextlib.contextmanager
def claimed_streams() -> Iterator[tuple[int, int]]:
    """The real input and output, out of anyone's reach: what is printed meanwhile goes to stderr."""
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
