"""Servers for tests: a daemon on a free port, a server process, a script of calls."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mnemic.core.context import Context
from mnemic.dialects.framework import Dialect
from mnemic.transports.http.auth import AuthPolicy
from mnemic.transports.http.daemon import DaemonServer, address, bound, http_app

SCRIPT: list[tuple[str, dict[str, Any]]] = [
    ("remember", {"text": "We deploy on Fridays", "title": "Deploys", "tags": ["deploy"]}),
    ("remember", {"items": [{"text": "The build runs on the CI machine"}, {"text": "Tea is at four"}]}),
    ("link", {"source": "Deploys", "target": "2", "type": "depends_on", "reason": "CI runs first"}),
    ("recall", {"query": "when do we deploy?", "explain": True}),
    ("open", {"ids": ["Deploys", "2"]}),
    ("explore", {"id": "1", "depth": 2}),
    ("verify", {"claim": "We deploy on Fridays"}),
    ("revise", {"id": "1", "text": "We deploy on Mondays", "supersede": True, "reason": "new plan"}),
    ("history", {"id": "1"}),
    ("forget", {"ids": ["3"], "reason": "nobody cares"}),
    ("restore", {"ids": ["3"]}),
    ("tidy", {"action": "merge", "id": "3", "into": "2"}),
    ("reflect", {"text": "Fridays hurt us", "about": "Deploys", "mood": "regret"}),
    ("session", {"action": "start", "topic": "deploys"}),
    ("session", {"action": "log", "user": "When do we deploy?", "agent": "On Mondays."}),
    ("rate", {"ids": ["2"], "links": [1], "useful": True, "confidence": 8}),
    ("stats", {}),
    ("undo", {"change": 4, "dry_run": True}),
]
"""Every operation of the native dialect at least once, in an order that makes sense."""

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "tester", "version": "1"},
}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
}
READS: list[tuple[str, dict[str, Any]]] = [
    ("tools/list", {}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "wrap-up", "arguments": {"topic": "tea"}}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "mnemic://memory/1"}),
    (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "y", "value": ""}},
    ),
    ("tools/call", {"name": "nope"}),
    ("tools/call", {"name": "open", "arguments": {"ids": [404]}}),
    ("resources/read", {"uri": "mnemic://nowhere"}),
    ("nope/nope", {}),
]
"""Everything there is to ask beside that, and what is not there."""
CALLS = [
    ("tools/call", {"name": name, "arguments": arguments}) for name, arguments in SCRIPT if name != "stats"
]
"""A call of every operation whose answer is the same in every store."""

BAD_JSON: list[tuple[str, bytes]] = [
    ("nothing", b"{"),
    ("garbage", bytes(range(128, 256))),
    ("NaN", b'{"text": NaN}'),
    ("infinity", b'{"text": 1e999}'),
    ("lone surrogate", rb'{"text": "\ud800"}'),
    ("bad UTF-8", b'{"text": "\xff"}'),
    ("huge integer", b'{"limit": 123456789012345678901234567890}'),
    ("endless integer", b'{"limit": ' + b"9" * 5000 + b"}"),
    ("deep list", b'{"metadata": ' + b"[" * 1000 + b"]" * 1000 + b"}"),
    ("bottomless", b"[" * 100_000),
    ("byte order mark", b"\xef\xbb\xbf{}"),
]
"""Bodies that are not JSON as we take it."""


@contextlib.contextmanager
def serving(
    ctx: Context, policy: AuthPolicy | None = None, dialects: Mapping[str, Dialect] | None = None
) -> Iterator[str]:
    """The daemon over *ctx* on a free port; its address."""
    listener = bound("127.0.0.1", 0)
    where = address(listener)
    server = DaemonServer(http_app(ctx, policy or AuthPolicy("127.0.0.1"), dialects))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield where
    finally:
        server.should_exit = True
        thread.join()


def environment(home: Path) -> dict[str, str]:
    """Variables for a process with a home and a database of its own, and no model."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MNEMIC_", "MEMORY_"))}
    ours = {"HOME": str(home), "MNEMIC_DB": str(home / "memory.db"), "MNEMIC_EMBEDDER": "none"}
    return {**kept, **ours, "MNEMIC_DAEMON_IDLE_SECS": "1"}


class Process:
    """`mnemic mcp` as a process, spoken to in lines."""

    def __init__(self, home: Path, *command: str, **variables: str):
        self.process = subprocess.Popen(
            [sys.executable, *(command or ("-m", "mnemic", "mcp"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**environment(home), **variables},
        )

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *exception: object) -> None:
        self.process.kill()
        self.process.communicate()

    def write(self, *lines: bytes) -> None:
        """Send *lines* and an end to each."""
        assert self.process.stdin
        self.process.stdin.write(b"".join(line + b"\n" for line in lines))
        self.process.stdin.flush()

    def read(self) -> Any:
        """The next line that comes, which must be JSON."""
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def ask(self, method: str, params: Mapping[str, Any] | None = None, id: int | str = 1) -> Any:
        """Send a request; the next line that comes."""
        self.write(request(method, params, id))
        return self.read()

    def end(self) -> tuple[list[Any], int]:
        """Close its input; what it says after that, and its exit code."""
        out, _ = self.process.communicate()
        return [json.loads(line) for line in out.splitlines()], self.process.returncode


def request(method: str, params: Mapping[str, Any] | None = None, id: int | str = 1) -> bytes:
    """A request as a line without its end."""
    message = {"jsonrpc": "2.0", "id": id, "method": method} | ({} if params is None else {"params": params})
    return json.dumps(message).encode()


def call(tool: str, arguments: Mapping[str, Any] | None = None, id: int | str = 1) -> bytes:
    """A tool call as a line."""
    return request("tools/call", {"name": tool, "arguments": arguments or {}}, id)
