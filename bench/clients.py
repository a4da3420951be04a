"""A minimal MCP client over stdio for any server."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any, Self

PROTOCOL = "2025-06-18"


class StdioClient:
    """A server in a process of its own and the connection to it. Use it in a `with` block."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]):
        self._process = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._last = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    @property
    def pid(self) -> int:
        """The server's process."""
        return self._process.pid

    def start(self) -> list[dict[str, Any]]:
        """Initialize the connection and return the server's tools."""
        client = {"name": "bench", "version": "1"}
        self.request("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        tools: list[dict[str, Any]] = self.request("tools/list", {})["tools"]
        return tools

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The answer of *tool*; RuntimeError if it is a failure."""
        answer = self.request("tools/call", {"name": tool, "arguments": arguments})
        if answer.get("isError"):
            raise RuntimeError(f"{tool}: {answer['content'][0]['text'][:200]}")
        return answer

    def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The result of *method*; RuntimeError if the server has exited or answers an error."""
        self._last += 1
        self._send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        assert self._process.stdout
        while line := self._process.stdout.readline():
            message = json.loads(line)
            if message.get("id") == self._last and "method" not in message:
                break
        else:
            raise RuntimeError(f"{method}: the server has exited")
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']['message']}")
        result: dict[str, Any] = message["result"]
        return result

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
