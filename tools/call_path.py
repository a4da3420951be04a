"""The files of ours that one call of a tool passes through, each below the one that calls it, with its functions.

    .venv/bin/python tools/call_path.py remember '{"text": "The API is deployed on Fridays"}'

The call comes in over MCP's stdio, to a SQLite store that holds one unrelated memory.
"""

from __future__ import annotations

import inspect
import json
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from types import FrameType
from typing import Any

from mnemic.app import App, dialect, open_app
from mnemic.settings import Settings
from mnemic.transports.mcp.jsonrpc import RpcConversation
from mnemic.transports.mcp.methods import Endpoint, offer
from mnemic.transports.mcp.stdio import listen

PACKAGE = f"{Path(__file__).resolve().parent.parent / 'src' / 'mnemic'}/"
ANOTHER = "Zebras graze near water"
GREETING = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "call-path", "version": "1"},
}


def main(name: str = "remember", arguments: str = '{"text": "The API is deployed on Fridays"}') -> None:
    """Print each file once, in the order in which the call enters it, below the file it is first called from."""
    path = CallPath()
    threading.setprofile(path.note)  # for the thread of the conversation, which begins after this
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(db=f"{folder}/memories.db", embedder="none")
        with open_app(settings) as app, closing(Client(app)) as client:
            call = {"name": name, "arguments": json.loads(arguments)}
            client.ask("tools/call", {"name": "remember", "arguments": {"text": ANOTHER}})
            client.ask("tools/call", {"name": "recall", "arguments": {"query": ANOTHER}})
            sys.setprofile(path.note)
            path.is_followed = True
            answer = client.ask("tools/call", call)
            path.is_followed = False
            sys.setprofile(None)
    for file, functions in path.files.items():
        print(f"{'  ' * path.depths[file] + file:60} {', '.join(functions)}")
    print(f"{len(path.files)} files, {sum(map(len, path.files.values()))} functions")
    if answer.get("isError") or "error" in answer:
        sys.exit(f"the call failed: {answer}")


class CallPath:
    """The functions of ours that run while *is_followed*, in any thread, by file."""

    def __init__(self) -> None:
        self.is_followed = False
        self.files: dict[str, dict[str, None]] = {}
        self.depths: dict[str, int] = {}
        """How many files are on the way to each when it is entered first."""

    def note(self, frame: FrameType, event: str, argument: object) -> None:
        """Record the function that begins."""
        code = frame.f_code
        # The body of a module or a class is no function: it runs once, when it is imported.
        is_function = code.co_flags & inspect.CO_OPTIMIZED
        if self.is_followed and event == "call" and is_function and code.co_filename.startswith(PACKAGE):
            file = code.co_filename.removeprefix(PACKAGE)
            if file not in self.files:
                self.depths[file] = len(_callers(frame) - {file})
            self.files.setdefault(file, {})[code.co_qualname] = None


def _callers(frame: FrameType) -> set[str]:
    """The files of ours on the stack of *frame*."""
    found: set[str] = set()
    at: FrameType | None = frame
    while at is not None:
        if at.f_code.co_filename.startswith(PACKAGE):
            found.add(at.f_code.co_filename.removeprefix(PACKAGE))
        at = at.f_back
    return found


class Client:
    """A client of the native dialect that asks one thing at a time."""

    def __init__(self, app: App):
        self._answers: SimpleQueue[dict[str, Any]] = SimpleQueue()
        endpoint = Endpoint(dialect("mnemic"), offer(app.settings))
        self._conversation = RpcConversation(endpoint, app.ctx, self._receive)
        self.ask("initialize", GREETING)

    def _receive(self, line: bytes) -> None:
        self._answers.put(json.loads(line))

    def ask(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        """The answer to this request."""
        request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        chunks = [f"{request}\n".encode(), b""]
        listen(self._conversation, lambda: chunks.pop(0))
        answer = self._answers.get(timeout=30)
        result: dict[str, Any] = answer.get("result", answer)
        return result

    def close(self) -> None:
        """Leave."""
        self._conversation.close(5)


if __name__ == "__main__":
    main(*sys.argv[1:])
