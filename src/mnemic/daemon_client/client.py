"""The client's side of the daemon: find it, start it, introduce oneself. Imports the standard library alone."""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
import time

from mnemic import __version__
from mnemic.daemon_client import frames
from mnemic.daemon_client.address import Address, address_of, database_of
from mnemic.daemon_client.frames import BrokenFrame, Frames, packed, packed_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

START_SECONDS = 20.0
"""How long a daemon may take to answer; after that one does without."""
ATTEMPTS = 3
"""A daemon that ends while one connects is replaced so many times."""
SERVER = "mnemic.daemon.server"
LOCK_DESCRIPTOR = 3
"""The number under which a new daemon is handed its lock."""
CODE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The installation. Two of them may have the same version while one is developed."""


class Refused(Exception):
    """The daemon does not do it; *reason* is one word for programs."""

    def __init__(self, reason: str, message: str):
        super().__init__(message)
        self.reason = reason


class Gone(Exception):
    """The daemon has ended before it answered."""


class CommandResult:
    """How a command ended that the daemon ran."""

    __slots__ = ("code", "err", "out")

    def __init__(self, code: int, out: bytes, err: bytes):
        self.code = code
        self.out = out
        self.err = err


class Wire:
    """A connection to the daemon, over which messages come one by one."""

    def __init__(self, connected: socket.socket):
        self.socket = connected
        self._frames = Frames()
        self._ready: list[tuple[bytes, bytes]] = []

    def send(self, message: bytes) -> None:
        """Send a packed message; Gone if the daemon has ended."""
        try:
            self.socket.sendall(message)
        except OSError as error:
            raise Gone from error

    def receive(self) -> tuple[bytes, bytes]:
        """The next message; Gone at the end."""
        while not self._ready:
            try:
                data = self.socket.recv(frames.CHUNK)
            except OSError as error:
                raise Gone from error
            if not data:
                raise Gone
            self._ready += self._frames.feed(data)
        return self._ready.pop(0)

    def feed(self, data: bytes) -> list[tuple[bytes, bytes]]:
        """The messages that are complete with *data*, which the caller read from the socket."""
        ready, self._ready = [*self._ready, *self._frames.feed(data)], []
        return ready

    def close(self) -> None:
        """Hang up."""
        self.socket.close()


def connect(address: Address) -> socket.socket | None:
    """A connection to the daemon of the same user that listens there; None if there is none."""
    wire = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    wire.settimeout(START_SECONDS)
    try:
        wire.connect(address.socket)
        if is_same_user(wire):
            return wire
    except OSError:
        pass
    wire.close()
    return None


def is_same_user(wire: socket.socket) -> bool:
    """Whether the process at the other end is run by this user, as far as the system tells."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True  # the folder of the socket is closed to others
    credentials = wire.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, user, _ = struct.unpack("3i", credentials)
    return bool(user == os.getuid())


def reach(address: Address, *, starts: bool) -> socket.socket | None:
    """A connection to the daemon; it is started if it is not there and *starts*. None if there is none to be had."""
    ends_at = time.monotonic() + START_SECONDS
    child: int | None = None
    while (wire := connect(address)) is None:
        if not starts or time.monotonic() > ends_at or _has_ended(child):
            return None
        if child is None:
            try:
                child = _start(address)
            except OSError:  # no process may be started, no file opened
                return None
        time.sleep(0.01)
    return wire


def _start(address: Address) -> int | None:
    """Start the daemon and return its process; None while another, about to start or to end, has the lock."""
    lock = _locked(address.lock)
    if lock is None:
        return None
    try:
        return _spawn(address.database, lock)
    finally:
        os.close(lock)  # the daemon has it now


def _locked(path: str) -> int | None:
    """The locked file at *path*, under a number that a new process does not use; None if another has it."""
    import fcntl

    opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        lock = fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, 16)
    finally:
        os.close(opened)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock), os.stat(path)):
            return lock
    except OSError:  # locked, or just removed by a daemon that has ended
        pass
    os.close(lock)
    return None


def _spawn(database: str, lock: int) -> int:
    """Start the daemon's process, with nothing of ours open but the lock."""
    null = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-P", "-m", SERVER, database],
        os.environ,
        file_actions=[*null, (os.POSIX_SPAWN_DUP2, lock, LOCK_DESCRIPTOR)],
    )


def _has_ended(child: int | None) -> bool:
    """Whether the process *child* was ours and is over."""
    if child is None:
        return False
    try:
        return os.waitpid(child, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True


def hello(address: Address, kind: str, **more: Any) -> bytes:
    """The first message of a client: who it is, and what *kind* of thing it wants."""
    content = {"version": __version__, "code": CODE, "database": address.database, "kind": kind, **more}
    return packed_json(frames.HELLO, content)


def introduced(address: Address, greeting: bytes, *, starts: bool) -> Wire | None:
    """A connection whose *greeting* was accepted; None if there is no daemon. Refused if it wants nothing of it."""
    for _ in range(ATTEMPTS):
        connected = reach(address, starts=starts)
        if connected is None:
            return None
        wire = Wire(connected)
        try:
            wire.send(greeting)
            return _accepted(wire)
        except (Gone, BrokenFrame):
            wire.close()
        except Refused as refusal:
            wire.close()
            if refusal.reason != "ending":
                raise
            time.sleep(0.05)
    return None


def _accepted(wire: Wire) -> Wire:
    tag, content = wire.receive()
    if tag == frames.ACCEPTED:
        wire.socket.settimeout(None)
        return wire
    if tag != frames.REFUSED:
        raise BrokenFrame("no answer to a greeting")
    facts = json.loads(content)
    raise Refused(facts["reason"], facts["message"])


def surroundings(environment: Mapping[str, str] | None = None, folder: str | None = None) -> dict[str, Any]:
    """What the daemon must know to work on behalf of this process: variables, working folder and terminal."""
    return {
        "environment": dict(os.environ if environment is None else environment),
        "folder": folder or os.getcwd(),
        "columns": _columns(),
        "terminal": [_is_terminal(number) for number in (0, 1, 2)],
    }


def _is_terminal(number: int) -> bool:
    try:
        return os.isatty(number)
    except OSError:
        return False


def _columns() -> int:
    """The width of the terminal as `shutil.get_terminal_size` finds it; 0 if there is none."""
    try:
        return int(os.environ.get("COLUMNS", "")) or os.get_terminal_size(1).columns
    except ValueError:
        pass
    except OSError:
        return 0
    try:
        return os.get_terminal_size(1).columns
    except OSError:
        return 0


def run(
    words: Sequence[str],
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    folder: str | None = None,
) -> CommandResult | None:
    """What `mnemic` with these *words* does in the running daemon of its database; None if none does it."""
    facts = surroundings(environment, folder)
    database = database_of(words, facts["environment"])
    address = address_of(database) if database else None
    if address is None:
        return None
    try:
        wire = introduced(address, hello(address, "run", argv=list(words), **facts), starts=False)
        return None if wire is None else _outcome(wire, stdin)
    except (Refused, Gone, BrokenFrame):
        return None


def _outcome(wire: Wire, stdin: bytes) -> CommandResult:
    output = {frames.OUTPUT: b"", frames.ERROR: b""}
    while True:
        tag, content = wire.receive()
        if tag == frames.EXIT:
            wire.close()
            return CommandResult(json.loads(content)["code"], output[frames.OUTPUT], output[frames.ERROR])
        if tag == frames.WANTED:
            wire.send(packed(frames.INPUT, stdin) + packed(frames.INPUT_END))
        elif tag in output:
            output[tag] += content


def ask(address: Address, kind: str, *, starts: bool = False, **more: Any) -> dict[str, Any] | None:
    """The daemon's answer to a question of this *kind*: status, stop or applied; None without a daemon."""
    try:
        wire = introduced(address, hello(address, kind, **more), starts=starts)
        if wire is None:
            return None
        _, content = wire.receive()
        wire.close()
        answer: dict[str, Any] = json.loads(content)
        return answer
    except (Gone, BrokenFrame):
        return None


def were_applied(address: Address, marks: Sequence[Any]) -> bool:
    """Whether one of these transactions was committed; True if that is unknown, so that none is made twice."""
    if not marks:
        return False
    reply = ask(address, "applied", starts=True, marks=list(marks))
    return reply is None or bool(reply["applied"])
