"""Telling other processes that something was committed, and hearing of what they commit.

A NOTIFY inside of the transaction that writes would make all writers queue for one lock, so it follows the commit, from
one thread of the process. What is not heard is found by polling (`PostgresStore.wait`).
"""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Callable

import psycopg

from mnemic.errors import MnemicError
from mnemic.model.time import Moment
from mnemic.storage.postgres.connection import Pool, Row, connected

LISTEN = "LISTEN mnemic"
# Whether anybody hears it need not outlive a crash: no wait for the disk.
# Those who write next take up the moment, whatever their own clocks say.
NOTIFY = """
SET LOCAL synchronous_commit = off;
SELECT setval('journal_moment', greatest({moment}, last_value)) FROM journal_moment;
NOTIFY mnemic
"""

GATHER_SECONDS = 0.05
"""What is committed within this time of a notification goes into the next one."""
AGAIN_SECONDS = 1.0
"""Pause before the server is tried again after a failure."""


class Announcer:
    """Sends notifications of commits, several in one, from a thread that starts with the first."""

    def __init__(self, pool: Pool):
        self._pool = pool
        self._changed = threading.Condition()
        self._is_due = self._is_closed = False
        self._moment: Moment = 1
        self._thread: threading.Thread | None = None

    def announce(self, moment: Moment) -> None:
        """Let other processes know, soon, that something was committed, and the moment of it."""
        with self._changed:
            self._is_due = True
            self._moment = max(self._moment, moment)
            self._changed.notify_all()
            if self._thread is None and not self._is_closed:
                self._thread = threading.Thread(target=self._run, name="mnemic-notify", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while self._takes_one():
            is_sent = self._sent()
            with self._changed:
                self._is_due |= not is_sent and not self._is_closed
                pause = GATHER_SECONDS if is_sent else AGAIN_SECONDS
                self._changed.wait_for(lambda: self._is_closed, pause)

    def _takes_one(self) -> bool:
        """Wait until a notification is due; False if the end came first."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_due or self._is_closed)
            is_due, self._is_due = self._is_due, False
            return is_due

    def _sent(self) -> bool:
        try:
            with self._pool.taken() as connection:
                connection.execute(NOTIFY.format(moment=int(self._moment)).encode())
        except (psycopg.Error, MnemicError):
            return False
        return True

    def close(self) -> None:
        """Send what is due, and end."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()


class Listener:
    """Calls *heard* for each notification, over a connection of its own that is made anew when it is lost."""

    def __init__(self, url: str, heard: Callable[[], None]):
        self._url = url
        self._heard = heard
        self._lock = threading.Lock()
        self._is_closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._ends: tuple[socket.socket, socket.socket] | None = None
        """What is written to the second wakes the thread, which waits for the first and for the server."""
        self.is_listening = threading.Event()
        """Set while notifications are heard."""

    def start(self) -> None:
        """Begin to listen; nothing if that was done before."""
        with self._lock:
            if self._thread is None and not self._is_closed.is_set():
                self._ends = socket.socketpair()
                self._thread = threading.Thread(
                    target=self._run, args=self._ends[:1], name="mnemic-listen", daemon=True
                )
                self._thread.start()

    def _run(self, end: socket.socket) -> None:
        while not self._is_closed.is_set():
            try:
                with connected(self._url) as connection:
                    if connection.is_pooled:  # each transaction has another session: none can listen
                        return
                    self._listen(connection, end)
            except psycopg.Error:
                # Lost, or a standby, which cannot listen until it is promoted.
                self._is_closed.wait(AGAIN_SECONDS)

    def _listen(self, connection: psycopg.Connection[Row], end: socket.socket) -> None:
        connection.execute(LISTEN)
        self.is_listening.set()
        self._heard()  # of what was committed before
        try:
            with selectors.DefaultSelector() as ready:
                ready.register(connection, selectors.EVENT_READ)
                ready.register(end, selectors.EVENT_READ)
                while not self._is_closed.is_set():
                    ready.select()
                    connection.pgconn.consume_input()
                    while connection.pgconn.notifies():
                        self._heard()
        finally:
            self.is_listening.clear()

    def close(self) -> None:
        """Stop listening."""
        self._is_closed.set()
        with self._lock:
            thread, ends, self._ends = self._thread, self._ends, None
        if thread is not None and ends is not None:
            ends[1].send(b"e")
            thread.join()
            for one in ends:
                one.close()
