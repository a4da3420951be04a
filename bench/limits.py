"""Limits: a daemon beside clients that send too much, too slowly, or disconnect before the answer."""

from __future__ import annotations

import contextlib
import http.client
import resource
import socket
import time
from collections.abc import Iterator

from bench.figures import Figure
from bench.processes import resident_megabytes
from bench.run import Bench
from bench.stores import copied
from bench.transports import Daemon

HEADER_MEGABYTES = 195
HALF_OPEN = 1_200
ABANDONED = 200
HEAD = b"GET /api/v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n"
HEALTH_MS = 1_000


def limits(bench: Bench) -> Iterator[Figure]:
    """Memory after many headers; time of health beside half-open connections and after abandoned exports."""
    size = bench.sizes[1]
    _allow_sockets()
    with copied(bench.stores.ours(size)) as path, Daemon(path) as daemon:
        assert daemon.port
        _health(daemon.port)
        before = resident_megabytes(daemon.pid) or 0.0
        _send_headers(daemon.port)
        grown = (resident_megabytes(daemon.pid) or 0.0) - before
        yield Figure(
            what=f"memory gained by {HEADER_MEGABYTES} MB of headers", measured=grown, unit="MB", limit=20
        )
        with _half_open(daemon.port):
            slowest = max(_health(daemon.port) for _ in range(20))
        what = f"slowest health beside {HALF_OPEN:,} half-open connections"
        yield Figure(what=what, measured=slowest, limit=HEALTH_MS)
        _abandon_exports(daemon.port)
        slowest = max(_health(daemon.port) for _ in range(20))
        what = f"slowest health after {ABANDONED} abandoned exports of {size:,}"
        yield Figure(what=what, measured=slowest, limit=HEALTH_MS)
        recalled = _request(daemon.port, "/api/v1/recall?context=deploy")
        what = f"recall after {ABANDONED} abandoned exports of {size:,}"
        yield Figure(what=what, measured=recalled, limit=HEALTH_MS)


def _allow_sockets() -> None:
    """Raise the limit of open files of this process."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4_096, most) if most > 0 else 4_096, most))


def _send_headers(port: int) -> None:
    """Send small headers, on a new connection whenever the daemon closes one, until all were sent."""
    piece = b"".join(b"x-%05d: y\r\n" % number for number in range(4_096))
    left = HEADER_MEGABYTES * 2**20
    while left > 0:
        with socket.create_connection(("127.0.0.1", port)) as wire, contextlib.suppress(OSError):
            wire.sendall(HEAD)
            while left > 0:
                left -= len(piece)  # counted before it is sent: what is refused counts as well
                wire.sendall(piece)


@contextlib.contextmanager
def _half_open(port: int) -> Iterator[None]:
    """Open connections, each with the beginning of a request."""
    with contextlib.ExitStack() as wires:
        for _ in range(HALF_OPEN):
            wire = wires.enter_context(socket.create_connection(("127.0.0.1", port)))
            with contextlib.suppress(OSError):
                wire.sendall(HEAD)
        yield


def _abandon_exports(port: int) -> None:
    """Request exports and disconnect."""
    for _ in range(ABANDONED):
        with socket.create_connection(("127.0.0.1", port)) as wire:
            wire.sendall(b"GET /api/v1/export HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")


def _health(port: int) -> float:
    return _request(port, "/api/v1/health")


def _request(port: int, path: str) -> float:
    """The wall time of an answer in milliseconds."""
    started = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    with contextlib.closing(connection):
        connection.request("GET", path)
        assert connection.getresponse().status == 200
    return 1000 * (time.perf_counter() - started)
