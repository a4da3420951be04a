"""The daemon's process: listen, hand each client to a thread, exit when idle.

`python -m mnemic.daemon.server DATABASE`, with the lock of the database open as descriptor 3; clients start it.
It listens before it loads the rest of the program: early clients wait.
"""

from __future__ import annotations

import contextlib
import logging
import os
import select
import socket
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from mnemic import __version__
from mnemic.daemon_client.address import Address, address_of, data_folder
from mnemic.daemon_client.client import LOCK_DESCRIPTOR

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mnemic.daemon.client_connection import Connection
    from mnemic.daemon.shared_store import SharedStores
    from mnemic.transports.signals import Stop

log = logging.getLogger(__name__)

BACKLOG = 128
LOOK_SECONDS = 2.0
"""How often it looks whether it is still needed."""
LOG_FILE = "daemon.log"
LARGEST_LOG = 1_000_000
LINGER_SECONDS = 2.0
"""How long the stores stay open for the next command."""
PATIENCE_SECONDS = 5.0
"""Grace period for calls in progress."""


def main(words: Sequence[str]) -> None:
    """Serve the database that *words* name until the daemon is idle."""
    address = address_of(words[0])
    assert address is not None, "whoever starts a daemon has found the place for its socket"
    with contextlib.suppress(OSError):
        os.setsid()  # a signal to the client's group of processes is not meant for the daemon
    listener = listening(address)
    try:
        os.chdir("/")
        serve(address, listener)
    except Exception:
        log.exception("the daemon failed")
    finally:
        for path in (address.socket, address.lock):
            with contextlib.suppress(OSError):
                os.unlink(path)
        os.close(LOCK_DESCRIPTOR)


def listening(address: Address) -> socket.socket:
    """The daemon's socket, for this user alone. What lies in its place is stale, since the lock is ours."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(address.socket)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listener.bind(address.socket)
    finally:
        os.umask(before)
    listener.listen(BACKLOG)
    listener.setblocking(False)
    return listener


class DaemonLog(logging.FileHandler):
    """The daemon's log in the data folder. Where there is no such folder yet, only a warning makes one."""

    def __init__(self) -> None:
        folder = data_folder(os.environ)
        path = os.path.join(folder, LOG_FILE)
        with contextlib.suppress(OSError):
            if os.path.getsize(path) > LARGEST_LOG:
                os.replace(path, f"{path}.1")
        super().__init__(path, encoding="utf-8", delay=True)
        self.setLevel(logging.INFO if os.path.isdir(folder) else logging.WARNING)
        self.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(message)s"))

    def _open(self) -> Any:
        os.makedirs(os.path.dirname(self.baseFilename), exist_ok=True)
        return super()._open()


def serve(address: Address, listener: socket.socket) -> None:
    """Accept clients until the daemon is idle, stopped, or its database is gone."""
    from mnemic.daemon.shared_store import SharedStores
    from mnemic.daemon.streams import ClientLog, install
    from mnemic.settings import load
    from mnemic.transports.signals import stopped_by_signals

    logging.getLogger().addHandler(ClientLog(DaemonLog()))
    log.setLevel(logging.INFO)
    install()
    with stopped_by_signals(PATIENCE_SECONDS) as stop:
        daemon = Daemon(address, SharedStores(address.database), load({}).daemon_idle_secs, stop)
        log.info("started for %s", address.database)
        daemon.run(listener)
        log.info("ended for %s", address.database)


class Daemon:
    """The clients, the stores they share, and when it is time to go."""

    def __init__(self, address: Address, stores: SharedStores, idle_seconds: float, stop: Stop):
        self.database = address.database
        self.stores = stores
        self._address = address
        self._idle_seconds = idle_seconds
        self._stop = stop
        self._lock = threading.Lock()
        self._connections: dict[Connection, threading.Thread] = {}
        self._began_at = self._used_at = time.monotonic()
        self._served = 0

    def run(self, listener: socket.socket) -> None:
        """Accept clients until it is time to end; then let them finish."""
        with listener:
            while not self._is_over():
                watched = [listener.fileno(), self._stop.readable]
                ready, _, _ = select.select(watched, [], [], LOOK_SECONDS)
                if listener.fileno() in ready:
                    self._accept(listener)
            os.unlink(self._address.socket)
        self._finish()

    def _accept(self, listener: socket.socket) -> None:
        from mnemic.daemon.client_connection import Connection

        try:
            wire, _ = listener.accept()
        except OSError:  # it has left, or there are too many files open
            return
        wire.setblocking(True)
        connection = Connection(self, wire)
        thread = threading.Thread(target=self._serve, args=(connection,), name="mnemic-client", daemon=True)
        with self._lock:
            self._connections[connection] = thread
        thread.start()

    def _serve(self, connection: Connection) -> None:
        try:
            connection.serve()
        finally:
            with self._lock:
                self._connections.pop(connection, None)
                self._used_at = time.monotonic()
                self._served += connection.is_client

    def let_go(self, connection: Connection) -> None:
        """The work of *connection* is done. With the last MCP client the stores are closed before it is answered."""
        with self._lock:
            connection.is_done = True
            others = any(other.is_client and not other.is_done for other in self._connections)
        if connection.is_server and not others:
            self.stores.close()

    def _is_over(self) -> bool:
        """Whether it is time to end. Idle stores are closed."""
        if self.is_stopped or self.stores.are_gone:
            return True
        with self._lock:
            if self._connections:
                return False
        idle = time.monotonic() - self._used_at
        if idle <= LINGER_SECONDS:
            return False
        self.stores.close()
        return self._served == 0 or idle > self._idle_seconds or not os.path.exists(self.database)

    def _finish(self) -> None:
        """Wait for the clients' calls in progress, then close the stores."""
        with self._lock:
            threads = dict(self._connections)
        ends_at = time.monotonic() + PATIENCE_SECONDS
        for connection in threads:
            connection.end()
        for thread in threads.values():
            thread.join(max(0.0, ends_at - time.monotonic()))
        self.stores.close()

    @property
    def is_stopped(self) -> bool:
        """Whether it was asked to stop."""
        return self._stop.is_set

    def stop(self) -> None:
        """End soon."""
        self._stop.set()

    def is_replaceable(self, asking: Connection) -> bool:
        """Whether no client but *asking* is connected."""
        with self._lock:
            return all(other is asking or not other.is_client for other in self._connections)

    def were_applied(self, marks: Sequence[Mapping[str, Any]]) -> bool:
        """Whether one of these transactions is in the journal."""
        shared = self.stores.any()
        if shared is None:
            from mnemic.settings import Settings

            shared = self.stores.take(Settings(db=self.database, embedder="none"))
        assert shared is not None, "nobody else has a store open"
        from mnemic.model.filter import ChangeFilter

        reader = shared.app.ctx.read()
        return any(
            next(reader.journal(ChangeFilter(since=mark["at"], until=mark["at"], actor=mark["actor"])), None)
            for mark in marks
        )

    def status(self) -> dict[str, Any]:
        """What there is to know of it."""
        with self._lock:
            running = [other for other in self._connections if other.is_client and not other.is_done]
        return {
            "version": __version__,
            "process": os.getpid(),
            "database": self.database,
            "clients": sum(other.is_server for other in running),
            "commands": sum(not other.is_server for other in running),
            "served": self._served,
            "memory_bytes": memory_bytes(),
            "seconds": round(time.monotonic() - self._began_at),
            "idle_limit_seconds": self._idle_seconds,
            "mirrors": self.stores.mirrors(),
        }


def memory_bytes() -> int:
    """Resident memory of this process."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main(sys.argv[1:])
