"""Messages between the daemon and its clients: one byte that says what it is, four for the length, then the content.

Imports the standard library alone.
"""

from __future__ import annotations

import json
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator
    from typing import Any

HELLO, INPUT, INPUT_END = b"H", b"I", b"Z"
"""From the client: who it is and what it wants, its standard input, the end of that."""
ACCEPTED, REFUSED, WANTED, OUTPUT, ERROR, MARK, EXIT = b"A", b"R", b"Q", b"O", b"E", b"M", b"X"
"""From the daemon: yes, no, send your input, standard output and error, a transaction that begins, the exit code."""

MAX_BYTES = 64 * 1024 * 1024
"""Longest content of a message."""
CHUNK = 65_536

_HEADER = struct.Struct("!cI")


class BrokenFrame(ValueError):
    """The other side does not speak this protocol."""


def packed(tag: bytes, content: bytes = b"") -> bytes:
    """A message as it is sent."""
    return _HEADER.pack(tag, len(content)) + content


def packed_json(tag: bytes, content: Any) -> bytes:
    """A message whose content is JSON."""
    return packed(tag, json.dumps(content).encode())


class Frames:
    """Bytes as they come, cut into messages."""

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The messages that are complete with *data*, each as its tag and its content."""
        self._held += data
        while len(self._held) >= _HEADER.size:
            tag, length = _HEADER.unpack_from(self._held)
            if length > MAX_BYTES:
                raise BrokenFrame(f"a message of {length} bytes")
            end = _HEADER.size + length
            if len(self._held) < end:
                return
            content = bytes(self._held[_HEADER.size : end])
            del self._held[:end]
            yield tag, content


def received(wire: socket.socket) -> Iterator[tuple[bytes, bytes]]:
    """The messages that come over *wire* until it is closed."""
    frames = Frames()
    while data := wire.recv(CHUNK):
        yield from frames.feed(data)
