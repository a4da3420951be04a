"""What the daemon takes: how large a request, how slow, how many at once; and what becomes of who leaves."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing
from urllib.parse import urlsplit

import httpx
import pytest
from server_process import environment, serving

from mnemic.core.context import Context
from mnemic.dialects.framework import Dialect, Shape
from mnemic.storage.queries import count
from mnemic.transports import workers
from mnemic.transports.http import connections

HEAD = b"GET /api/v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n"

STUCK = Dialect(name="stuck", title="Stuck", instructions="Wait.")
running: list[str] = []
"""What is being done just now."""


class Nothing(Shape):
    """No arguments."""


class Done(Shape):
    """It is over."""


@STUCK.operation(title="Ask on")
def ask_on(ctx: Context, request: Nothing) -> Done:
    """Ask the store again and again."""
    running.append("ask_on")
    try:
        while True:
            count(ctx.store.read())
            time.sleep(0.01)
    finally:
        running.remove("ask_on")


@STUCK.operation(title="One statement")
def one_statement(ctx: Context, request: Nothing) -> Done:
    """Ask the store one question that has no end."""
    running.append("one_statement")
    try:
        endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c"
        ctx.store.read()._db.execute(endless)  # type: ignore[attr-defined]
        return Done()
    finally:
        running.remove("one_statement")


@STUCK.operation(title="Quick")
def quick(ctx: Context, request: Nothing) -> Done:
    """Do nothing."""
    return Done()


def connected(url: str) -> socket.socket:
    """A connection to the daemon on which nothing was sent."""
    place = urlsplit(url)
    assert place.hostname and place.port
    return socket.create_connection((place.hostname, place.port), timeout=10)


def answered(url: str, sent: bytes) -> bytes:
    """What the daemon answers to *sent* before it closes the connection."""
    with closing(connected(url)) as wire:
        try:
            wire.sendall(sent)
        except (BrokenPipeError, ConnectionResetError):
            return b"closed"
        return rest(wire)


def rest(wire: socket.socket) -> bytes:
    """Everything that still comes."""
    came = b""
    try:
        while piece := wire.recv(65_536):
            came += piece
    except ConnectionResetError:
        pass
    return came


def until(holds) -> None:
    """Wait until it *holds*."""
    ends_at = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < ends_at, "it did not come to be"
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (HEAD + b"".join(b"x-%d: y\r\n" % number for number in range(101)), b"431"),
        (HEAD + b"x-long: " + b"y" * 40_000 + b"\r\n\r\n", b"431"),
        (HEAD + b"x-endless: " + b"y" * 400_000, b"431"),
        (b"GET /api/v1/health?" + b"y" * 40_000, b"414"),
    ],
    ids=["many headers", "long header", "endless header", "long address"],
)
def test_a_request_is_refused_while_it_comes(ctx, sent, status):
    with serving(ctx) as url:
        assert answered(url, sent).startswith((b"HTTP/1.1 " + status, b"closed"))
        assert httpx.get(f"{url}/api/v1/health").status_code == 200


def test_a_body_without_end_is_not_listened_to(ctx):
    head = b"POST /api/v1/memories HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"10000\r\n" + b"y" * 65_536 + b"\r\n"
    with serving(ctx) as url:
        came = answered(url, head + chunk * 60)
        assert came.startswith((b"HTTP/1.1 413", b"closed")) or not came


def test_who_sends_a_request_too_slowly_is_hung_up_on(ctx, monkeypatch):
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.2)
    monkeypatch.setattr(connections, "SWEEP_SECONDS", 0.05)
    half = [b"", HEAD, b"POST /api/v1/memories HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{"]
    with serving(ctx) as url, ExitStack() as wires:
        for sent in half:
            wire = wires.enter_context(closing(connected(url)))
            wire.sendall(sent)
            assert not rest(wire).startswith(b"HTTP/1.1 200")
        assert httpx.get(f"{url}/api/v1/health").status_code == 200


def test_half_open_connections_do_not_block_others(ctx, monkeypatch):
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 20)
    with serving(ctx) as url, ExitStack() as wires:
        for _ in range(60):
            wires.enter_context(closing(connected(url))).sendall(HEAD)
        for _ in range(3):
            assert httpx.get(f"{url}/api/v1/health").status_code == 200


def test_connections_of_one_address_are_limited(ctx, monkeypatch):
    monkeypatch.setattr(connections, "MAX_PER_ADDRESS", 5)
    with serving(ctx) as url, ExitStack() as wires:
        opened = [wires.enter_context(closing(connected(url))) for _ in range(8)]
        opened[-1].sendall(HEAD + b"Connection: close\r\n\r\n")
        assert rest(opened[-1]).startswith(b"HTTP/1.1 200")
        assert [rest(wire) for wire in opened[:3]] == [b""] * 3, "the first ones made room"


@pytest.mark.parametrize("tool", ["ask_on", "one_statement"])
def test_work_ends_when_its_client_leaves(ctx, tool):
    with serving(ctx, dialects={"stuck": STUCK}) as url:
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{url}/api/v1/tools/stuck/{tool}", json={}, timeout=0.5)
        until(lambda: not running)
        assert httpx.post(f"{url}/api/v1/tools/stuck/quick", json={}).status_code == 200


def test_abandoned_work_does_not_block_others(ctx):
    with serving(ctx, dialects={"stuck": STUCK}) as url:
        body = b"POST /api/v1/tools/stuck/ask_on HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}"
        with ExitStack() as wires:
            for _ in range(40):
                wires.enter_context(closing(connected(url))).sendall(body)
            until(lambda: len(running) == workers.MAX_PER_CLIENT)
            assert httpx.get(f"{url}/api/v1/health").status_code == 200, "it does not wait behind the work"
        assert httpx.post(f"{url}/api/v1/tools/stuck/quick", json={}, timeout=20).status_code == 200
        until(lambda: not running)


def test_a_client_leaves_threads_to_others():
    pool = workers.Workers(threads=4, per_client=3)
    gate, started = threading.Event(), []
    busy = [pool.submit("greedy", lambda: started.append("greedy") or gate.wait()) for _ in range(10)]
    until(lambda: len(started) == 3)
    assert pool.submit("modest", lambda: "done").result.result(10) == "done"
    gate.set()
    assert [task.result.result(10) for task in busy] == [True] * 10


def test_clients_take_turns():
    pool = workers.Workers(threads=1, per_client=1)
    gate, order = threading.Event(), []
    first = pool.submit("greedy", gate.wait)
    waiting = [pool.submit("greedy", lambda: order.append("greedy")) for _ in range(3)]
    waiting.append(pool.submit("modest", lambda: order.append("modest")))
    gate.set()
    for task in (first, *waiting):
        task.result.result(10)
    assert order.index("modest") <= 1


def test_what_waits_is_dropped_when_it_is_cancelled_and_too_much_is_refused():
    pool = workers.Workers(threads=1, per_client=1)
    gate = threading.Event()
    running = pool.submit("client", gate.wait)
    until(running.result.running)
    waiting = [pool.submit("client", lambda: None) for _ in range(workers.MAX_QUEUED)]
    with pytest.raises(workers.TooMany):
        pool.submit("client", lambda: None)
    for task in waiting:
        task.cancel()
    last = pool.submit("client", lambda: "done")
    gate.set()
    assert last.result.result(10) == "done"


ENDING = """
import sys, time
from mnemic.app import open_app
from mnemic.dialects.native.dialect import MNEMIC
from mnemic.dialects.framework import Shape
from mnemic.settings import load
from mnemic.transports import signals
from mnemic.transports.http import daemon
from mnemic.transports.mcp import stdio

class Nothing(Shape):
    "No arguments."

def stuck(ctx, request):
    "Keep the write lock and never come back."
    def work(tx):
        print("stuck", file=sys.stderr, flush=True)
        time.sleep(3600)

    ctx.change("stuck", work)

stuck.__annotations__ = {"request": Nothing, "return": Nothing}
MNEMIC.operation(title="Stuck")(stuck)
daemon.GRACE_SECONDS = stdio.PATIENCE_SECONDS = 0.3
signals.LAST_SECONDS = daemon.LAST_SECONDS = 0.5
with open_app(load({})) as app:
    if sys.argv[1] == "http":
        daemon.run_http(app, "127.0.0.1", 0, lambda url: print(url, flush=True))
    else:
        stdio.run_stdio(app, MNEMIC)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("surface", ["http", "stdio"])
def test_a_server_ends_after_its_grace_period_whatever_it_does(tmp_path, surface):
    with subprocess.Popen(
        [sys.executable, "-c", ENDING, surface],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        try:
            if surface == "http":
                url = process.stdout.readline().decode().strip()
                ask = threading.Thread(
                    target=lambda: _posted(f"{url}/api/v1/tools/mnemic/stuck"), daemon=True
                )
                ask.start()
            else:
                process.stdin.write(
                    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"stuck","arguments":{}}}\n'
                )
                process.stdin.flush()
            while b"stuck" not in process.stderr.readline():
                pass
            process.send_signal(signal.SIGTERM)
            process.wait(30)
        finally:
            process.kill()


def _posted(url: str) -> None:
    try:
        httpx.post(url, json={}, timeout=60)
    except httpx.HTTPError:
        return
