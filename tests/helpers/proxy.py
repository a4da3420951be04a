"""Proxies between a client and a server on this machine."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Proxy:
    """Passes bytes on to a server until it is told to cut all connections."""

    def __init__(self, target: int):
        self._target = target
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Proxy:
        self._start(self._accept)
        return self

    def __exit__(self, *exception: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.cut()
        for thread in self._threads:
            thread.join()

    def cut(self) -> None:
        """Drop every connection."""
        cut, self._open = self._open, []
        for one in cut:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _start(self, work, *args) -> None:
        self._threads.append(threading.Thread(target=work, args=args))
        self._threads[-1].start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._target))
            self._open += [client, server]
            self._start(self._pass_on, client, server)
            self._start(self._pass_on, server, client)

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while some := source.recv(65536):
                target.sendall(self._passed(some))
            target.shutdown(socket.SHUT_WR)
        except OSError:
            return

    def _passed(self, some: bytes) -> bytes:
        """What is passed on instead of *some*."""
        return some


class Pooler(Proxy):
    """A proxy that tells clients another session number than the server has, as a pooler does."""

    def _passed(self, some: bytes) -> bytes:
        """The first answer of the server names its session in a message of type K, 12 bytes long or more."""
        start = some.find(b"K\x00\x00\x00\x0c")
        return some if start < 0 else some[: start + 5] + b"\x7f\xff\xff\xff" + some[start + 9 :]
