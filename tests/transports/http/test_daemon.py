"""The daemon over a real socket: REST, the declared routes, the pages."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import apsw
import httpx
import pytest
from server_process import BAD_JSON, SCRIPT, environment, serving
from support import Uids
from toy_dialect import SECRET, TOY

from mnemic.app import dialect
from mnemic.dialects.execution import answer
from mnemic.errors import Invalid, StoreUnusable, Unavailable
from mnemic.storage.engines import NoEngines
from mnemic.transports.http.daemon import bound
from mnemic.transports.json_input import MAX_BYTES

MNEMIC = dialect("mnemic")


@pytest.fixture
def web(ctx) -> Iterator[httpx.Client]:
    """A client of a daemon that speaks the native dialect and the toy dialect."""
    with (
        serving(ctx, dialects={"mnemic": MNEMIC, "toy": TOY}) as url,
        httpx.Client(base_url=f"{url}/api/v1", timeout=30) as client,
    ):
        yield client


def test_health(web):
    answered = web.get("/health")
    assert answered.status_code == 200
    assert answered.json() | {"version": ""} == {"status": "ok", "service": "mnemic", "version": ""}


def test_a_store_that_does_not_answer_is_no_health(ctx):
    class Broken(NoEngines):
        def probe(self, store) -> None:
            raise StoreUnusable("The database is damaged")

    with serving(replace(ctx, engines=Broken())) as url:
        answered = httpx.get(f"{url}/api/v1/health")
    said = answered.json()
    assert (answered.status_code, said["status"], said["service"]) == (503, "error", "ai-memory")
    assert (said["code"], said["error"]) == ("STORE_UNUSABLE", "The database is damaged")


def test_an_index_of_words_that_has_lost_something_is_no_health(web, tmp_path):
    web.post("/tools/mnemic/remember", json={"text": "We deploy on Fridays"})
    assert web.get("/health").status_code == 200
    with closing(apsw.Connection(str(tmp_path / "mnemic.db"))) as connection:
        connection.execute("DELETE FROM words")
    assert (web.get("/health").status_code, web.get("/health").json()["status"]) == (503, "error")


def test_many_clients_at_once_lose_nothing(web):
    def remember(number: int) -> int:
        return web.post("/tools/mnemic/remember", json={"text": f"Fact number {number}"}).status_code

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(remember, range(200))) == {200}
    assert web.post("/tools/mnemic/stats").json()["total"] == 200


def test_every_operation_answers_as_it_does_in_process(web, ctx, fresh):
    store = fresh("twin")
    store.use_models(ctx.embedder.name)
    twin = replace(ctx, store=store, new_uid=Uids(), actor="http")
    for name, arguments in SCRIPT:
        answered = web.post(f"/tools/mnemic/{name}", json=arguments)
        expected = answer(MNEMIC, twin, name, arguments).rendered.structured
        assert answered.status_code == 200, answered.text
        assert without_size(answered.json()) == without_size(expected)


def without_size(reply: dict[str, object]) -> dict[str, object]:
    """*reply* without how large the file is, which is the engine's affair."""
    return {name: value for name, value in reply.items() if name != "db_size_bytes"}


def test_tools_are_listed(web):
    listed = web.get("/tools").json()
    names = [(tool["dialect"], tool["name"]) for tool in listed["tools"]]
    assert names == [("mnemic", name) for name in MNEMIC.operations] + [
        ("toy", name) for name in TOY.operations
    ]
    assert listed["count"] == len(names)


def test_an_empty_body_is_no_arguments(web):
    assert web.post("/tools/toy/who").json() == {"actor": "http"}


@pytest.mark.parametrize(
    "error, status, code",
    [
        ("Invalid", 400, "VALIDATION_FAILED"),
        ("Denied", 403, "DENIED"),
        ("NotFound", 404, "NOT_FOUND"),
        ("Conflict", 409, "CONFLICT"),
        ("Duplicate", 409, "CONFLICT"),
        ("Busy", 503, "BUSY"),
        ("Unavailable", 503, "UNAVAILABLE"),
        ("StoreUnusable", 503, "STORE_UNUSABLE"),
    ],
)
def test_every_error_has_its_status(web, error, status, code):
    answered = web.post("/tools/toy/fail", json={"error": error})
    assert answered.status_code == status
    assert answered.json() == {"error": "as you wished", "code": code, "message": "as you wished"}


@pytest.mark.parametrize("tool, arguments", [("crash", {}), ("fail", {"error": "MnemicError"})])
def test_what_breaks_says_nothing_of_itself(web, tool, arguments):
    answered = web.post(f"/tools/toy/{tool}", json=arguments)
    told = "Internal server error"
    assert answered.status_code == 500
    assert answered.json() == {"error": told, "code": "DATABASE_ERROR", "message": told}
    assert SECRET not in answered.text


def test_a_bad_argument_is_named(web):
    answered = web.post("/tools/mnemic/recall", json={"query": "x", "limit": 0})
    assert answered.status_code == 400
    assert answered.json()["field"] == "limit"
    unknown = web.post("/tools/mnemic/recall", json={"query": "x", "quary": 1})
    assert unknown.json()["field"] == "quary"


@pytest.mark.parametrize("body", [body for _, body in BAD_JSON], ids=[name for name, _ in BAD_JSON])
def test_a_body_that_is_not_json_is_refused(web, body):
    answered = web.post("/tools/mnemic/recall", content=body)
    assert answered.status_code == 400 and answered.json()["code"] == "VALIDATION_FAILED"
    assert web.get("/health").status_code == 200


@pytest.mark.parametrize("body", [b"[]", b'"x"', b"7", b"null"])
def test_a_body_that_is_no_object_is_refused(web, body):
    assert web.post("/tools/mnemic/recall", content=body).status_code == 400


def test_a_body_may_be_so_large_and_no_larger(web):
    filled = b'{"query": "x"' + b" " * (MAX_BYTES - 14) + b"}"
    assert len(filled) == MAX_BYTES
    assert web.post("/tools/mnemic/recall", content=filled).status_code == 200
    assert web.post("/tools/mnemic/recall", content=filled + b" ").status_code == 413


def test_a_body_that_does_not_say_how_large_it_is_is_counted_as_it_comes(web):
    def endless() -> Iterator[bytes]:
        for _ in range(100):
            yield b" " * 65_536

    try:
        answered = web.post("/tools/mnemic/recall", content=endless())
    except (httpx.WriteError, httpx.ReadError):
        return  # refused before all of it was sent
    assert answered.status_code == 413 and answered.json()["code"] == "TOO_LARGE"


@pytest.mark.parametrize(
    "verb, path, status",
    [
        ("GET", "/nope", 404),
        ("POST", "/tools/nope/recall", 404),
        ("POST", "/tools/mnemic/nope", 404),
        ("GET", "/tools/mnemic/recall", 405),
        ("PUT", "/health", 405),
        ("POST", "/tools/mnemic/%00", 404),
    ],
)
def test_what_is_not_there_is_said_in_json(web, verb, path, status):
    answered = web.request(verb, path)
    assert answered.status_code == status
    assert answered.json().keys() >= {"error", "code", "message"}


def test_methods_are_reported_and_heads_are_bodiless(web):
    options = web.options("/tools/mnemic/recall")
    assert (options.status_code, options.headers["allow"], options.content) == (204, "POST", b"")
    for path in ("/health", "/greet/you"):
        head = web.head(path)
        assert head.status_code == 200 and head.content == b""


def test_a_slash_too_many_is_led_to_the_address(web):
    led = web.get("/health/")
    assert (led.status_code, httpx.URL(led.headers["location"]).path) == (307, "/api/v1/health")


def test_a_fixed_path_leaves_other_methods_to_one_with_parameters(ctx):
    with serving(ctx) as url:
        assert httpx.post(f"{url}/api/v1/memories/bulk", json=[]).status_code == 200
        assert httpx.delete(f"{url}/api/v1/memories/bulk").json()["code"] == "NOT_FOUND"


def test_declared_routes_take_arguments_from_path_query_and_body(web):
    assert web.get("/greet/you").json() == {"greeting": "Hello you"}
    got = web.get("/greet/you", params={"times": "2", "tags": ["a", "b"]})
    assert got.json() == {"greeting": "Hello you you", "tags": ["a", "b"]}
    assert web.post("/greet", json={"name": "me", "tags": ["a"]}).json() == {
        "greeting": "Hello me",
        "tags": ["a"],
    }
    assert web.get("/greet/you", params={"times": "many"}).json()["field"] == "times"
    assert web.get("/greet/you", params={"nope": "1"}).json()["field"] == "nope"


def test_endpoints_are_no_tools_and_take_arguments_from_everywhere(web):
    assert web.post("/add").json() == {"sum": 0, "of": []}
    added = web.post("/add", params={"numbers": ["1", "2"], "nobody": "knows"})
    assert (added.status_code, added.json()) == (201, {"sum": 3, "of": [1, 2]})
    assert web.post("/add", params={"numbers": "7"}, json={"numbers": [1]}).json()["sum"] == 1
    assert web.put("/add/all", json=[1, 2, 3]).json() == {"sum": 6, "of": [1, 2, 3]}
    assert web.get("/add/all", params={"numbers": "4"}).json()["sum"] == 4
    assert web.post("/add", params={"numbers": "many"}).json()["code"] == "VALIDATION_FAILED"
    assert web.put("/add/all", json={"numbers": []}).status_code == 400
    assert web.put("/add/all").status_code == 400
    assert web.post("/tools/toy/add").status_code == 404
    assert "add" not in {tool["name"] for tool in web.get("/tools").json()["tools"]}


def test_another_method_is_refused_with_those_allowed(web):
    refused = web.delete("/add/all")
    assert (refused.status_code, refused.json()["code"]) == (405, "NOT_ALLOWED")
    assert {name.strip() for name in refused.headers["allow"].split(",")} == {"GET", "HEAD", "PUT"}


@pytest.mark.parametrize("path", ["/", "/api/v1/docs"])
def test_pages_load_nothing_from_elsewhere(web, path):
    page = httpx.get(httpx.URL(web.base_url).copy_with(path=path))
    assert page.status_code == 200 and page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "'unsafe" not in page.headers["content-security-policy"] and "://" not in page.text
    for part in ("/web/index.css", "/web/index.js", "/web/api.js"):
        loaded = httpx.get(httpx.URL(web.base_url).copy_with(path=part))
        assert loaded.status_code == 200 and loaded.headers["content-encoding"] == "gzip"
        known = httpx.get(loaded.url, headers={"If-None-Match": loaded.headers["etag"]})
        assert (known.status_code, known.content) == (304, b"")


def test_no_file_but_the_pages_is_served(web):
    for path in ("/web/../http.py", "/web/%2e%2e/http.py", "/web/", "/web/nope.js"):
        assert httpx.get(f"{web.base_url}".replace("/api/v1/", "") + path).status_code == 404


def test_a_port_that_is_taken_is_said_so():
    with bound("127.0.0.1", 0) as listener, pytest.raises(Unavailable, match="taken"):
        bound("127.0.0.1", listener.getsockname()[1])


def test_a_host_that_is_not_ours_is_said_so():
    with pytest.raises(Invalid, match="host"):
        bound("203.0.113.7", 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_daemon_starts_answers_and_ends_as_a_process(tmp_path, number):
    with bound("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "mnemic", "serve", "--port", str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
    )
    transport = httpx.HTTPTransport(retries=20)
    with httpx.Client(transport=transport, base_url=f"http://127.0.0.1:{port}/api/v1") as client:
        assert client.get("/health").json()["status"] == "ok"
        stored = client.post("/tools/mnemic/remember", json={"text": "Kept by the daemon"})
        assert stored.status_code == 200
    process.send_signal(number)
    out, error = process.communicate()
    assert process.returncode == 0, error
    assert str(port).encode() in out and error == b""
    assert not (tmp_path / "memory.db-wal").exists()  # all of it is in the database itself
