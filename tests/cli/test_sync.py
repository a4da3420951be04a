"""`mnemic sync`: with another file, and with a daemon over HTTP."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from support import kept, open_store

from mnemic.cli import remote_daemon
from mnemic.core.context import Context
from mnemic.dialects.native.sync import Nothing, SyncRequest, merge_from_sync, read_for_sync
from mnemic.model.filter import ANY_EDGE
from mnemic.storage.queries import each_edge, each_memory, edge_between
from mnemic.transfer.import_report import Report
from mnemic.transfer.records import PurgeRecord


@pytest.fixture
def two(cli):
    """A command line with two linked memories, and one in remote.db."""
    cli("remember", "Local one")
    cli("remember", "Local two")
    cli("link", "1", "2")
    cli("remember", "Remote one", "--db", str(cli.home / "remote.db"))
    return cli


CLEAN = {"conflicts": [], "errors": []}


def held(cli, name="memory.db"):
    document = json.loads(cli("export", "--db", str(cli.home / name)).out)
    return sorted(entry["title"] for entry in document["memories"]), len(document["links"])


def test_sync_pulls_pushes_and_merges(two):
    assert two.json("sync", "remote.db", "-d", "pull") == {"direction": "pull", "imported": 1} | CLEAN | {
        "here": {"added": 1}
    }
    assert held(two)[0] == ["Local one", "Local two", "Remote one"] and held(two, "remote.db") == (
        ["Remote one"],
        0,
    )
    assert two.json("sync", "remote.db", "-d", "push") == {"direction": "push", "exported": 3} | CLEAN | {
        "there": {"added": 2, "links": 1}
    }
    assert held(two, "remote.db") == held(two)
    two("remember", "Remote two", "--db", "remote.db")
    two("remember", "Local three")
    assert two.json("sync", "remote.db") == {"direction": "merge", "pulled": 1, "pushed": 1} | CLEAN | {
        "here": {"added": 1},
        "there": {"added": 1},
    }
    assert held(two, "remote.db") == held(two) and held(two)[1] == 1
    assert two.json("sync", "remote.db") == {"direction": "merge", "pulled": 0, "pushed": 0} | CLEAN
    assert two("sync", "remote.db").out == "Pulled 0, pushed 0.\n"


def test_a_dry_run_tells_conflicts_with_both_versions_and_changes_nothing(two):
    two("sync", "remote.db")
    two("revise", "1", "--kind", "idea")
    two("revise", "Local one", "--kind", "fact", "--db", "remote.db")
    two("revise", "Local two", "--append", "and more", "--db", "remote.db")
    before = two("export").out, two("export", "--db", "remote.db").out
    told = two("sync", "remote.db", "--dry-run").out
    assert told.startswith("Would pull 2, would push 0.\n")
    assert "Conflicts: 1, changed on both sides:\n  Local one: kind\n" in told
    assert "    here:  idea\n    there: fact\n    kept:  fact\n" in told
    done = two.json("sync", "remote.db", "--dry-run")
    assert done["dry_run"] and [one["field"] for one in done["conflicts"]] == ["kind"]
    assert memories(before) == memories((two("export").out, two("export", "--db", "remote.db").out))
    assert len(two.json("sync", "remote.db")["conflicts"]) == 1
    assert two.json("sync", "remote.db", "--dry-run")["conflicts"] == []


def test_a_deletion_against_an_edit_is_described_in_words(two):
    two("sync", "remote.db")
    two("forget", "1", "--reason", "moved away")
    two("revise", "Local one", "--tags", "kept", "--db", "remote.db")
    told = two("sync", "remote.db", "--dry-run").out
    assert re.search(r"  Local one: state\n    here:  forgotten at 20\S+: moved away\n", told)
    assert "    there: living, edited\n    kept:  living, edited\n" in told


def test_a_changed_link_is_counted(two):
    two("sync", "remote.db")
    two("link", "1", "2", "--weight", "0.4")
    done = two("sync", "remote.db").out
    assert "  there: links changed 1\n" in done
    assert two("sync", "remote.db").out == "Pulled 0, pushed 0.\n"


def test_an_address_without_its_scheme_is_no_file(two):
    done = two("sync", "127.0.0.1:9077")
    assert done.code == 2 and "is no file; for a daemon write http://127.0.0.1:9077" in done.err
    assert not (two.home / "127.0.0.1:9077").exists()


def test_a_database_that_is_made_is_said_to_be(two):
    assert "new.db was not there and would be made.\n" in two("sync", "new.db", "--dry-run").out
    assert not (two.home / "new.db").exists()
    assert "new.db was not there and was made.\n" in two("sync", "new.db").out
    assert "was made" not in two("sync", "new.db").out


def test_a_dry_run_tells_what_the_sync_then_does(two):
    """Its copies must not take a change that was made on top of another for a conflict."""
    two("sync", "remote.db")
    two("revise", "Local one", "--text", "Local one is now four")
    two("revise", "Local one", "--tags", "prod", "--db", "remote.db")
    two("revise", "Local two", "--text", "Local two is five")
    two("revise", "Local two", "--text", "Local two is six", "--db", "remote.db")
    would = two.json("sync", "remote.db", "--dry-run")
    done = two.json("sync", "remote.db")
    assert would == done | {"dry_run": True}
    assert [one["field"] for one in done["conflicts"]] == ["text"], "the title follows the text"
    assert (done["here"]["merged"], done["there"]["merged"]) == (1, 2)


def memories(exports):
    return [json.loads(export)["memories"] for export in exports]


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
    """A daemon's route for syncs, over a real store."""

    def __init__(self, path, token=None):
        self.ctx = Context(store=open_store("sqlite", path.parent, path.stem), embedder=None)
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
                if self.path != "/api/v1/sync":
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
        return read_for_sync(self.ctx, Nothing())

    def imported(self, body):
        request = SyncRequest.model_validate_json(body)
        self.bodies.append((len(request.records), len(body)))
        return merge_from_sync(self.ctx, request)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.ctx.store.close()


@pytest.fixture
def remote(cli):
    """A daemon with one memory."""
    running = Remote(cli.home / "served.db")
    kept(running.ctx, "Said there", name="Remote one")
    yield running
    running.close()


def test_sync_merges_with_a_daemon(two, remote):
    two("remember", "Known there", "--title", "Remote one", "--namespace", "global")
    two("link", "3", "1", "--type", "knows")
    done = two.json("sync", remote.address)
    assert (done["pulled"], done["pushed"], done["errors"]) == (1, 3, [])
    assert [(one["title"], one["field"]) for one in done["conflicts"]] == [("Remote one", "text")]
    reader = remote.ctx.store.read()
    assert {memory.title: memory.texts for memory in each_memory(reader)} == {
        "Remote one": ["Said there", "Known there"],
        "Local one": ["Local one"],
        "Local two": ["Local two"],
    }
    assert held(two) == (["Local one", "Local two", "Remote one"], 2)
    assert two.json("sync", remote.address + "/api/v1/", "-d", "push")["exported"] == 3
    assert (
        two.json("sync", remote.address) | {"direction": ""}
        == {
            "direction": "",
            "pulled": 0,
            "pushed": 0,
        }
        | CLEAN
    )


def test_a_dry_run_changes_nothing_at_a_daemon(two, remote):
    done = two.json("sync", remote.address, "--dry-run")
    assert (done["pulled"], done["pushed"], done["dry_run"]) == (1, 2, True)
    assert held(two)[0] == ["Local one", "Local two"] and remote.bodies == []


def test_reflections_sent_to_a_daemon_keep_their_subject(two, remote):
    two("reflect", "Too short", "--about", "2")
    for _ in range(2):
        assert two.json("sync", remote.address)["errors"] == []
        reader = remote.ctx.store.read()
        found = {memory.title: memory for memory in each_memory(reader)}
        assert found["Too short"].metadata["target_id"] == found["Local two"].id
        assert edge_between(reader, found["Too short"].id, found["Local two"].id, "reflects_on")


def test_equal_links_and_links_to_names_reach_a_daemon(two, remote):
    relations = [("A", "B", "knows"), ("A", "B", "knows"), ("A", "A", "doubts"), ("A", "Nobody", "knows")]
    document = {
        "entities": [{"name": name, "entityType": "person", "observations": ["is"]} for name in "AB"],
        "relations": [{"from": one, "to": other, "relationType": type} for one, other, type in relations],
    }
    (two.home / "memory.json").write_text(json.dumps(document))
    assert two("import", "--from", "simple-memory", "memory.json").code == 0
    for _ in range(2):
        assert two("sync", remote.address, "-d", "push").err == ""
        types = sorted(edge.type for edge in each_edge(remote.ctx.store.read(), ANY_EDGE))
        assert types == ["doubts", "knows", "knows", "knows", "related_to"]


def test_batches_sent_to_a_daemon_respect_its_limits(two, remote, monkeypatch):
    monkeypatch.setattr(remote_daemon, "ITEMS", 2)
    monkeypatch.setattr(remote_daemon, "BYTES", 5_000)
    two("remember", "x" * 4_000, "--title", "large")
    two("remember", "y" * 6_000, "--title", "too large")
    two("remember", "small", "--title", "small")
    done = two("sync", remote.address, "-d", "push")
    assert done.code == 0 and "Skipped: too large: is too large to be sent" in done.err
    assert all(records <= 2 and size < 5_600 for records, size in remote.bodies) and len(remote.bodies) > 2
    titles = {memory.title for memory in each_memory(remote.ctx.store.read())}
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
def test_an_unreachable_daemon_is_reported(two, address):
    done = two("sync", address)
    assert done.code in (2, 3) and "Unexpected" not in done.err, done.err


def test_a_server_that_is_not_a_daemon_is_reported(two, remote):
    done = two("sync", remote.address + "/elsewhere")
    assert done.code == 3 and "404" in done.err


def test_pieces_lose_nothing():
    records = [PurgeRecord("x" * (n % 7 * 1_000), f"uid {n}") for n in range(2_500)]
    done = Report()
    cut = list(remote_daemon.pieces(records, done))
    assert [entry["uid"] for piece in cut for entry in piece] == [one.uid for one in records]
    assert done.errors == [] and len(cut) > 1
    assert all(len(piece) <= remote_daemon.ITEMS and len(json.dumps(piece)) < 2**21 for piece in cut)
