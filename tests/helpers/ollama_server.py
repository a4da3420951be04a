"""A small Ollama on this machine: it lists models, fetches them, and answers as it is told to."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from support import serving


class OllamaServer(ThreadingHTTPServer):
    """Its models, what it says to a prompt, and how it misbehaves, by path; `asked` is what was asked of it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.models = ["gemma4:e2b", "small:latest"]
        self.can_pull = True
        self.says: str | Callable[[str], str] = "yes"
        self.raw: dict[str, tuple[int, bytes]] = {}
        self.seconds: dict[str, float] = {}
        self.asked: list[tuple[str, Any]] = []
        self.place = f"127.0.0.1:{self.server_port}"
        self.url = f"http://{self.place}"

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    @property
    def prompts(self) -> list[str]:
        return [body["messages"][0]["content"] for path, body in self.asked if path == "/api/chat"]

    def reply(self, path: str, body: Any) -> tuple[int, bytes]:
        if path in self.raw:
            return self.raw[path]
        match path:
            case "/api/tags":
                return _told({"models": [{"name": name} for name in self.models]})
            case "/api/pull":
                return self._pulled(body["name"])
            case "/api/chat" if body["model"] in self.models or f"{body['model']}:latest" in self.models:
                prompt = body["messages"][0]["content"]
                text = self.says(prompt) if callable(self.says) else self.says
                return _told({"message": {"role": "assistant", "content": text}, "done": True})
        return _told({"error": "not found"}, 404)

    def _pulled(self, name: str) -> tuple[int, bytes]:
        if not self.can_pull:
            return _told({"error": "pull model manifest: file does not exist"}, 500)
        self.models.append(name)
        return 200, b'{"status": "pulling manifest"}\n{"status": "success"}\n'


class _Handler(BaseHTTPRequestHandler):
    server: OllamaServer

    def _respond(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")
        self.server.asked.append((self.path, body))
        time.sleep(self.server.seconds.get(self.path, 0.0))
        status, content = self.server.reply(self.path, body)
        with contextlib.suppress(OSError):  # whoever asked may not have waited
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    do_GET = do_POST = _respond  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


def _told(answer: object, status: int = 200) -> tuple[int, bytes]:
    return status, json.dumps(answer).encode()


def ollama_server() -> contextlib.AbstractContextManager[OllamaServer]:
    """Such a server, running."""
    return serving(OllamaServer())
