"""Transports: CPU time that stdio, REST and MCP over HTTP add to a call of the core."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from bench import texts
from bench.figures import Figure
from bench.footprint import server
from bench.processes import cpu_seconds_of
from bench.run import Bench
from bench.stores import copied, open_store
from bench.timer import interleaved
from mnemic.core.memories import open_all
from mnemic.model.memory import title_of

LIMIT = 1.0
MODERN = "2026-07-28"
"""The MCP revision without sessions: every request is self-contained."""


def transports(bench: Bench) -> Iterator[Figure]:
    """Open one memory by its title over every transport, less the cost of the same call of the core."""
    with (
        copied(bench.stores.ours(bench.sizes[0])) as path,
        open_store(path) as app,
        server(path, "none") as stdio,
        Daemon(path) as daemon,
    ):
        stdio.start()
        calls: dict[str, tuple[Callable[[str], object], Callable[[], float]]] = {
            "the core": (lambda title: open_all(app.ctx, [title]), time.process_time),
            "stdio": (lambda title: stdio.call("open", ids=[title]), partial(_cpu, stdio.pid)),
            "REST": (daemon.rest, partial(_cpu, daemon.pid)),
            "MCP over HTTP": (daemon.mcp, partial(_cpu, daemon.pid)),
            f"MCP over HTTP, {MODERN}": (daemon.modern_mcp, partial(_cpu, daemon.pid)),
        }
        titles = [title_of(texts.text(number)) for number in range(bench.rounds)]
        core, *others = interleaved(
            [[partial(call, title) for title in titles] for call, _ in calls.values()],
            [clock for _, clock in calls.values()],
        )
    for name, took in zip(list(calls)[1:], others, strict=True):
        yield Figure(
            what=f"{name}, beyond the core",
            measured=took.p50 - core.p50,
            limit=LIMIT,
            at_rest=took.at_rest - core.at_rest,
            wall_p50=took.wall_p50 - core.wall_p50,
        )


def _cpu(pid: int) -> float:
    return cpu_seconds_of(pid) or 0.0


class Daemon:
    """`mnemic serve` on *path* in a process of its own and a connection to it. Use it in a `with` block."""

    def __init__(self, path: Path | str, embedder: str = "none", *flags: str):
        command = [sys.executable, "-m", "mnemic", "serve", "--port", "0", "--db", str(path), *flags]
        environment = {**os.environ, "MNEMIC_EMBEDDER": embedder, "MNEMIC_NAMESPACE": "*"}
        self._process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout
        words = self._process.stdout.readline().split()
        address = urlsplit(next(word for word in words if word.startswith("http")))
        self.port = address.port
        self._connection = http.client.HTTPConnection(str(address.hostname), address.port)
        self._ids = itertools.count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._connection.close()
        self._process.terminate()
        self._process.communicate()

    @property
    def pid(self) -> int:
        """The process id of the daemon."""
        return self._process.pid

    def rest(self, title: str) -> None:
        """Open a memory over REST."""
        self._post("/api/v1/tools/mnemic/open", {"ids": [title]}, {})

    def recall(self, question: str) -> None:
        """Recall over REST."""
        self._post("/api/v1/tools/mnemic/recall", {"query": question}, {})

    def mcp(self, title: str) -> None:
        """Open a memory over MCP as an initialized client."""
        self._call({"name": "open", "arguments": {"ids": [title]}}, {"Mcp-Protocol-Version": "2025-11-25"})

    def modern_mcp(self, title: str) -> None:
        """Open a memory over MCP as a client of the 2026 revision."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        }
        headers = {"Mcp-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "open"}
        self._call({"name": "open", "arguments": {"ids": [title]}, "_meta": meta}, headers)

    def _call(self, params: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": "tools/call", "params": params}
        self._post("/mcp", message, {"Accept": "application/json, text/event-stream", **headers})

    def _post(self, path: str, content: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        self._connection.request(
            "POST", path, json.dumps(content).encode(), {"Content-Type": "application/json", **headers}
        )
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status != 200 or b'"isError":true' in body:
            raise RuntimeError(f"{path}: {answer.status} {body[:200]!r}")
