"""What an app holds, and what it lets go of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Semaphore

import pytest
from support import serving

from mnemic.app import open_app
from mnemic.settings import Settings


class Server(ThreadingHTTPServer):
    """An Ollama that keeps its connections, and counts those that were closed."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.left = Semaphore(0)
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def _respond(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        content = json.dumps({"models": [], "embeddings": [[0.6, 0.8]]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = _respond  # noqa: N815

    def finish(self) -> None:
        super().finish()
        self.server.left.release()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(Server()) as running:
        yield running


def test_closing_an_app_closes_its_server_connections(tmp_path, server):
    settings = Settings(db=str(tmp_path / "notes.db"), embedder="ollama", tier="smart", ollama_url=server.url)
    with open_app(settings) as app:
        assert app.ctx.embedder and len(app.ctx.embedder.embed(["tea"])) == 1
        assert app.ctx.language and app.ctx.language.is_reachable()
        assert not server.left.acquire(blocking=False)
    assert all(server.left.acquire(timeout=10) for _ in range(2))
    app.close()
