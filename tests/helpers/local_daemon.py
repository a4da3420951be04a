"""The local daemon as tests see it: processes that use it, what it says of itself, and its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from server_process import HELLO, Process, call, environment, request

from mnemic.daemon_client.address import Address, address_of
from mnemic.daemon_client.client import ask

INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'


def address(home: Path) -> Address:
    """Where the daemon of the database in *home* listens."""
    found = address_of(str(home / "memory.db"))
    assert found
    return found


def status(home: Path) -> dict[str, Any] | None:
    """What the daemon of *home* says of itself; None if there is none."""
    return ask(address(home), "status")


def until(fact: Callable[[], Any], seconds: float = 20.0) -> Any:
    """The first true value of *fact*, which must become true in time."""
    ends_at = time.monotonic() + seconds
    while not (told := fact()):
        assert time.monotonic() < ends_at, "it did not happen"
        time.sleep(0.02)
    return told


def is_running(process: int) -> bool:
    """Whether *process* is there and not just a trace of one that has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@contextmanager
def client(home: Path, *words: str, **variables: str) -> Iterator[Process]:
    """A client of `mnemic mcp` after its handshake. The daemon is ended afterwards."""
    try:
        with Process(home, "-m", "mnemic", "mcp", *words, **variables) as process:
            assert "result" in process.ask("initialize", HELLO, id=0)
            process.write(INITIALIZED)
            yield process
    finally:
        end(home)


def end(home: Path) -> None:
    """End the daemon of *home*, if there is one, and wait until it has gone."""
    told = status(home)
    if told:
        os.kill(told["process"], signal.SIGTERM)
        until(lambda: not is_running(told["process"]))


def command(
    home: Path, *words: str, stdin: bytes = b"", folder: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[bytes]:
    """`mnemic` with *words* as a process, in *folder* if that is given."""
    return subprocess.run(
        [sys.executable, "-m", "mnemic", *words],
        input=stdin,
        capture_output=True,
        cwd=folder,
        env={**environment(home), **variables},
        timeout=120,
    )


def told(process: Process, tool: str, id: int = 1, **arguments: Any) -> str:
    """The text that a tool answers."""
    process.write(call(tool, arguments, id))
    answer = process.read()
    assert answer["id"] == id, answer
    return str(answer["result"]["content"][0]["text"])


__all__ = ["HELLO", "address", "client", "command", "end", "is_running", "request", "status", "told", "until"]
