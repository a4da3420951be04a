"""Standard streams of the daemon's clients: what a command prints goes to the client it runs for."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, cast

_CURRENT: ContextVar[ClientStreams | None] = ContextVar("streams", default=None)


class ClientStreams:
    """The standard streams of one client."""

    def __init__(
        self,
        send: Callable[[int, bytes], None],
        ask: Callable[[], bytes],
        terminals: tuple[bool, bool, bool],
    ):
        source = io.BufferedReader(_Input(ask, terminals[0]))
        self.stdin = io.TextIOWrapper(source, encoding="utf-8")
        self.stdout = _writer(_Output(lambda data: send(1, data), terminals[1]))
        self.stderr = _writer(_Output(lambda data: send(2, data), terminals[2]))

    def use(self) -> None:
        """Make these the standard streams of the current context."""
        _CURRENT.set(self)


def _writer(raw: _Output) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8", errors="replace", line_buffering=True)


class _Output(io.RawIOBase):
    def __init__(self, send: Callable[[bytes], None], is_terminal: bool):
        self._send = send
        self._is_terminal = is_terminal

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._is_terminal

    def write(self, data: Any) -> int:
        self._send(bytes(data))
        return len(data)


class _Input(io.RawIOBase):
    def __init__(self, ask: Callable[[], bytes], is_terminal: bool):
        self._ask = ask
        self._is_terminal = is_terminal
        self._held: io.BytesIO | None = None

    def readable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._is_terminal

    def readinto(self, buffer: Any) -> int:
        if self._held is None:
            self._held = io.BytesIO(self._ask())
        return self._held.readinto(buffer)


class _Switch:
    """A standard stream of this process that is, in the context of a client, the client's own."""

    def __init__(self, name: str):
        self._name = name
        self._own = getattr(sys, name)

    def __getattr__(self, name: str) -> Any:
        current = _CURRENT.get()
        return getattr(self._own if current is None else getattr(current, self._name), name)


class ClientLog(logging.Handler):
    """Shows a record to the client it is about, as its own process would; other records go to *elsewhere*."""

    def __init__(self, elsewhere: logging.Handler):
        super().__init__()
        self._elsewhere = elsewhere
        self._plain = logging.Formatter()

    def emit(self, record: logging.LogRecord) -> None:
        """Write *record* to the standard error of the client, or hand it on."""
        current = _CURRENT.get()
        if current is None or record.levelno < logging.WARNING:
            if record.levelno >= self._elsewhere.level:
                self._elsewhere.handle(record)
        else:
            current.stderr.write(self._plain.format(record) + "\n")


def install() -> None:
    """Let the standard streams of this process be those of the client, wherever there is one."""
    for name in ("stdin", "stdout", "stderr"):
        setattr(sys, name, cast(io.TextIOWrapper, _Switch(name)))
