"""`mnemic sync`: with another file, and with a daemon over HTTP."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from mnemic.core.context import Context
from mnemic.core.moving.arrivals import Imported
from mnemic.core.moving.documents import export_json, import_json
from mnemic.dialects.ai_memory import rules
from mnemic.storage.sqlite.store import SqliteStore
from mnemic.surfaces.cli import daemon
from support import kept


@pytest.fixture
def two(cli):
    """A command line with two linked memories, and one in remote.db."""
    cli("remember", "Local one")
    cli("remember", "Local two")
    cli("link", "1", "2")
    cli("remember", "Remote one", "--db", str(cli.home / "remote.db"))
    return cli


def held(cli, name="memory.db"):
    document = json.loads(cli("export", "--db", str(cli.home / name)).out)
    return sorted(entry["title"] for entry in document["memories"]), len(document["links"])


def test_sync_pulls_pushes_and_merges(two):
    assert two.json("sync", "remote.db", "-d", "pull") == {"direction": "pull", "imported": 1, "errors": []}
    assert held(two)[0] == ["Local one", "Local two", "Remote one"] and held(two, "remote.db") == (
        ["Remote one"],
        0,
    )
    assert two.json("sync", "remote.db", "-d", "push") == {"direction": "push", "exported": 3, "errors": []}
    assert held(two, "remote.db") == held(two)
    two("remember", "Remote two", "--db", "remote.db")
    two("remember", "Local three")
    assert two.json("sync", "remote.db") == {"direction": "merge", "pulled": 1, "pushed": 1, "errors": []}
    assert held(two, "remote.db") == held(two) and held(two)[1] == 1
    assert two.json("sync", "remote.db") == {"direction": "merge", "pulled": 0, "pushed": 0, "errors": []}
    assert two("sync", "remote.db").out == "Pulled 0, pushed 0.\n"


def test_a_database_is_not_synced_with_itself(two):
    (two.home / "alias.db").symlink_to(two.home / "memory.db")
    for name in ("memory.db", "./memory.db", "alias.db"):
        done = two("sync", name)
        assert done.code == 2 and "is the database itself" in done.err


def test_a_missing_database_is_made_unless_it_is_to_give(two):
    done = two("sync", "new.db", "-d", "pull")
    assert done.code == 1 and "does not exist" in done.err and not (two.home / "new.db").exists()
    assert two("sync", "new.db", "-d", "push").code == 0 and held(two, "new.db") == held(two)


class Remote:
    """A daemon's two routes, over a real store."""

    def __init__(self, path, token=None):
        self.ctx = Context(store=SqliteStore(path), embedder=None)
        self.token = token
        self.bodies = []
        remote = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.answer(remote.exported)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.answer(lambda: remote.imported(body))

            def answer(self, work):
                if self.path not in ("/api/v1/export", "/api/v1/import"):
                    status, content = 404, {"error": "not found"}
                elif self.headers.get("X-API-Key") != remote.token:
                    status, content = 401, {"error": "missing or invalid API key"}
                else:
                    status, content = 200, work()
                self.send_response(status)
                self.end_headers()
                self.wfile.write(json.dumps(content).encode())

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def exported(self):
        return export_json(self.ctx)

    def imported(self, body):
        document = json.loads(body)
        self.bodies.append((len(document["memories"]), len(document["links"]), len(body)))
        done = import_json(self.ctx, document, check=rules.entry)
        return {"imported": done.imported + done.skipped, "known": done.skipped, "errors": done.errors}

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.ctx.store.close()


@pytest.fixture
def remote(cli):
    """A daemon with one memory."""
    running = Remote(cli.home / "served.db")
    kept(running.ctx, "Said there", title="Remote one")
    yield running
    running.close()


def test_sync_merges_with_a_daemon(two, remote):
    two("remember", "Known there", "--title", "Remote one", "--namespace", "global")
    two("link", "3", "1", "--type", "knows")
    done = two.json("sync", remote.address)
    assert done == {"direction": "merge", "pulled": 0, "pushed": 3, "errors": []}
    titles = [memory.title for memory in remote.ctx.store.read().all_memories()]
    assert sorted(titles) == ["Local one", "Local two", "Remote one"]
    assert len(list(remote.ctx.store.read().all_edges())) == 2
    assert held(two) == (["Local one", "Local two", "Remote one"], 2)
    assert two.json("sync", remote.address + "/api/v1/", "-d", "push")["exported"] == 3
    assert len(list(remote.ctx.store.read().all_edges())) == 2


def test_a_daemon_is_told_what_thoughts_are_about(two, remote):
    two("reflect", "Too short", "--about", "2")
    for _ in range(2):
        assert two.json("sync", remote.address)["errors"] == []
        reader = remote.ctx.store.read()
        found = {memory.title: memory for memory in reader.all_memories()}
        assert found["Too short"].metadata["target_id"] == found["Local two"].id
        assert reader.edge_between(found["Too short"].id, found["Local two"].id, "reflects_on")


def test_links_that_a_daemon_does_not_take_are_told(two, remote):
    relations = [("A", "B", "knows"), ("A", "B", "knows"), ("A", "A", "doubts"), ("A", "Nobody", "knows")]
    document = {
        "entities": [{"name": name, "entityType": "person", "observations": ["is"]} for name in "AB"],
        "relations": [{"from": one, "to": other, "relationType": type} for one, other, type in relations],
    }
    (two.home / "memory.json").write_text(json.dumps(document))
    assert two("import", "--from", "simple-memory", "memory.json").code == 0
    done = two("sync", remote.address, "-d", "push")
    assert done.code == 0 and done.err == (
        "Skipped: links that stand several times (1): a daemon keeps one of each\n"
        "Skipped: links to mere names (1): a daemon takes none\n"
    )
    assert sorted(edge.type for edge in remote.ctx.store.read().all_edges()) == [
        "doubts",
        "knows",
        "related_to",
    ]


def test_a_daemon_is_sent_no_more_than_it_takes(two, remote, monkeypatch):
    monkeypatch.setattr(daemon, "ITEMS", 2)
    monkeypatch.setattr(daemon, "BYTES", 5_000)
    two("remember", "x" * 4_000, "--title", "large")
    two("remember", "y" * 6_000, "--title", "too large")
    two("remember", "small", "--title", "small")
    done = two("sync", remote.address, "-d", "push")
    assert done.code == 0 and "Skipped: too large: is too large to be sent" in done.err
    assert (
        all(memories <= 2 and size < 5_100 for memories, _, size in remote.bodies) and len(remote.bodies) > 2
    )
    titles = {memory.title for memory in remote.ctx.store.read().all_memories()}
    assert titles == {"Remote one", "Local one", "Local two", "large", "small"}


def test_a_daemon_that_asks_for_a_token_gets_it(two):
    guarded = Remote(two.home / "guarded.db", token="secret")
    try:
        done = two("sync", guarded.address)
        assert done.code == 1 and "missing or invalid API key" in done.err
        assert two("sync", guarded.address, "--token", "wrong").code == 1
        assert two("sync", guarded.address, "--token", "secret").code == 0
        assert two("sync", guarded.address, MNEMIC_TOKEN="secret").code == 0
    finally:
        guarded.close()


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "http://", "http://[", "https://127.0.0.1:9"])
def test_a_daemon_that_is_not_there_is_told(two, address):
    done = two("sync", address)
    assert done.code in (2, 3) and "Unexpected" not in done.err, done.err


def test_a_server_that_is_no_daemon_is_told(two, remote):
    done = two("sync", remote.address + "/elsewhere")
    assert done.code == 3 and "404" in done.err


def test_pieces_lose_nothing():
    items = [{"title": f"T{n}", "content": "x" * (n % 7 * 1_000)} for n in range(2_500)]
    done = Imported()
    cut = list(daemon.pieces(items, done))
    assert [item for piece in cut for item in piece] == items and done.errors == []
    assert all(len(piece) <= daemon.ITEMS and len(json.dumps(piece)) < 2**21 for piece in cut)
