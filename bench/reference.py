"""The reference MCP memory server (npm), installed outside the repository, and calls to it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.clients import StdioClient
from bench.processes import cpu_seconds_of
from bench.timer import Spent, spent
from mnemic.model.memory import title_of

PACKAGE = "@modelcontextprotocol/server-memory"
INSTALL_SECONDS = 180


@dataclass(frozen=True, slots=True)
class Reference:
    """The installed server."""

    node: str
    script: Path

    def client(self, file: Path) -> StdioClient:
        """The server on *file*, started."""
        return StdioClient([self.node, str(self.script)], {**os.environ, "MEMORY_FILE_PATH": str(file)})

    def spent(self, file: Path, calls: Iterable[Callable[[StdioClient], object]]) -> Spent:
        """The cost of calls to a server on *file*, CPU time of its process."""
        with self.client(file) as client:
            client.start()
            return spent((partial(call, client) for call in calls), lambda: cpu_seconds_of(client.pid) or 0.0)


def installed(folder: Path) -> Reference | None:
    """The server below *folder*, installed if npm is there; None if it cannot be installed."""
    node, npm = shutil.which("node"), shutil.which("npm")
    script = folder / "node_modules" / PACKAGE / "dist" / "index.js"
    if node and npm and not script.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", PACKAGE]
        subprocess.run(command, capture_output=True, timeout=INSTALL_SECONDS, check=False)
    return Reference(node, script) if node and script.exists() else None


def entity(text: str) -> dict[str, object]:
    """*text* as an entity of the server."""
    return {"name": title_of(text), "entityType": "note", "observations": [text]}


def write_file(path: Path, texts: Iterable[str]) -> None:
    """The file the server would have written for *texts*."""
    with path.open("w") as file:
        file.writelines(json.dumps({"type": "entity", **entity(text)}) + "\n" for text in texts)


def create(texts: Iterable[str], client: StdioClient) -> None:
    """Create an entity for each of *texts* in one call."""
    client.call("create_entities", entities=[entity(text) for text in texts])


def search(text: str, client: StdioClient) -> None:
    """The entities that hold *text* as a substring, which is all it searches for."""
    client.call("search_nodes", query=text)


def open_(title: str, client: StdioClient) -> None:
    """The entity of this name."""
    client.call("open_nodes", names=[title])
