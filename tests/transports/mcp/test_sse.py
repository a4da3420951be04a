"""Subscriptions over a running daemon and over stdio, as clients of both protocol eras ask for them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from server_process import ENVELOPE, HELLO, Process, environment, request, serving
from support import kept

from mnemic.app import dialect
from mnemic.core import access
from mnemic.transports.http.auth import AuthPolicy
from mnemic.transports.mcp import client_sessions, sse
from mnemic.transports.mcp.client_sessions import Sessions, new_session
from mnemic.transports.workers import THREADS

GRAPH = "memory://knowledge-graph"
UPDATED = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": GRAPH}}
JSON = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
EVENTS = {"Accept": "text/event-stream"}
LISTEN_KEY = "io.modelcontextprotocol/subscriptionId"
SPOKEN = {"anthropic": dialect("anthropic"), "mnemic": dialect("mnemic")}
SECONDS = 20
"""How long a test waits for what has to come."""


@pytest.fixture
def url(ctx) -> Iterator[str]:
    """The address of the reference's dialect in a daemon."""
    with serving(ctx, dialects=SPOKEN) as where:
        yield f"{where}/mcp/anthropic"


def hello(url: str, **headers: str) -> dict[str, str]:
    """The headers of a client that has shaken hands."""
    answer = httpx.post(url, content=request("initialize", HELLO), headers=JSON | headers)
    return JSON | headers | {"Mcp-Session-Id": answer.headers["mcp-session-id"]}


def ask(url: str, client: dict[str, str], method: str, uri: str = GRAPH) -> Any:
    """What *client* is answered."""
    return httpx.post(url, content=request(method, {"uri": uri}), headers=client).json()


def subscribed(url: str, **headers: str) -> dict[str, str]:
    """The headers of a client that has subscribed to the graph."""
    client = hello(url, **headers)
    assert ask(url, client, "resources/subscribe")["result"] == {}
    return client


@contextlib.contextmanager
def stream(url: str, client: dict[str, str]) -> Iterator[Iterator[str]]:
    """The lines of the session's stream that are not empty, as they come."""
    with httpx.stream("GET", url, headers=client | EVENTS, timeout=SECONDS) as answer:
        assert answer.status_code == 200 and answer.headers["content-type"] == "text/event-stream"
        yield (line for line in answer.iter_lines() if line)


def listen(url: str, uris: list[str], id: int | str = 7, **headers: str) -> Any:
    """A `subscriptions/listen` as a streamed response."""
    modern = {"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"}
    params = {"_meta": ENVELOPE, "notifications": {"resourceSubscriptions": uris, "toolsListChanged": True}}
    body = request("subscriptions/listen", params, id)
    return httpx.stream("POST", url, content=body, headers=JSON | modern | headers, timeout=SECONDS)


def message(lines: Iterator[str]) -> Any:
    """The next message on a stream."""
    assert next(lines) == "event: message"
    return json.loads(next(lines).removeprefix("data: "))


def marked(id: int | str, **params: Any) -> dict[str, Any]:
    """The parameters of a message to a listener."""
    return {**params, "_meta": {LISTEN_KEY: id}}


# -- after a handshake


def test_a_session_is_notified_of_changes_here_and_elsewhere(url, ctx, fresh):
    client = subscribed(url)
    with stream(url, client) as lines:
        entity = {"name": "Anna", "entityType": "person", "observations": []}
        call = {"name": "create_entities", "arguments": {"entities": [entity]}}
        httpx.post(url, content=request("tools/call", call), headers=client)
        assert message(lines) == UPDATED
        kept(replace(ctx, store=fresh()), "From another process")
        assert message(lines) == UPDATED


def test_a_stream_may_be_open_before_anything_is_subscribed_to(url, ctx):
    client = hello(url)
    with stream(url, client) as lines:
        kept(ctx, "Nobody asked")
        assert ask(url, client, "resources/subscribe")["result"] == {}
        kept(ctx, "Now somebody did")
        assert message(lines) == UPDATED


def test_what_changed_before_the_stream_was_opened_is_reported(url, ctx):
    client = subscribed(url)
    kept(ctx, "Between the two")
    with stream(url, client) as lines:
        assert message(lines) == UPDATED


def test_nothing_is_sent_after_unsubscribing_or_deleting_the_session(url, ctx, monkeypatch):
    monkeypatch.setattr(sse, "ALIVE_SECONDS", 1.5)
    quiet, ended = subscribed(url), subscribed(url)
    with stream(url, quiet) as lines, stream(url, ended) as rest:
        assert ask(url, quiet, "resources/unsubscribe")["result"] == {}
        assert httpx.delete(url, headers=ended).status_code == 204
        kept(ctx, "Not for them")
        assert list(rest) == []
        assert next(lines) == ": alive"


def test_a_session_that_was_ended_is_over(url):
    client = hello(url)
    assert httpx.delete(url, headers=client).status_code == 204
    assert httpx.get(url, headers=client | EVENTS).status_code == 404
    refused = httpx.post(url, content=request("ping", id=5), headers=client)
    assert (refused.status_code, refused.json()["id"], refused.json()["error"]["code"]) == (404, 5, -32600)
    assert ask(url, hello(url), "resources/subscribe")["result"] == {}


def test_of_two_streams_of_a_session_the_newest_tells_and_then_the_other(url, ctx):
    client = subscribed(url)
    with stream(url, client) as older:
        with stream(url, client) as newer:
            kept(ctx, "One")
            assert message(newer) == UPDATED
        assert ask(url, client, "resources/subscribe")["result"] == {}
        kept(ctx, "Two")
        assert message(older) == UPDATED


def test_what_cannot_be_subscribed_to_is_said_so(url):
    client = hello(url)
    assert ask(url, client, "resources/subscribe", "memory://nothing")["error"]["code"] == -32002
    for nobody in (JSON, JSON | {"Mcp-Session-Id": "made up"}):
        assert ask(url, nobody, "resources/subscribe")["code"] == "VALIDATION_FAILED"


def test_a_stream_needs_a_session_and_a_client_that_takes_events(url):
    client = hello(url)
    assert httpx.get(url, headers=EVENTS).status_code == 400
    assert httpx.delete(url).status_code == 400
    assert httpx.get(url, headers=client | {"Accept": "application/json"}).status_code == 406
    for verb in ("HEAD", "PUT"):
        refused = httpx.request(verb, url, headers=client)
        assert (refused.status_code, refused.headers["allow"]) == (405, "POST, GET, DELETE")


def test_a_dialect_without_anything_live_offers_no_stream(url):
    native = url.replace("anthropic", "mnemic")
    client = hello(native)
    assert httpx.get(native, headers=client | EVENTS).status_code == 405
    assert ask(native, client, "resources/subscribe")["error"]["code"] == -32601
    with listen(native, [GRAPH]) as refused:
        assert refused.status_code == 404


# -- in the 2026 revision


def test_a_listener_is_acknowledged_notified_and_released_when_the_daemon_ends(ctx):
    with contextlib.ExitStack() as daemon:
        where = daemon.enter_context(serving(ctx, dialects=SPOKEN))
        with listen(f"{where}/mcp/anthropic", [GRAPH, "memory://nothing"], id="a-1") as answer:
            lines = (line for line in answer.iter_lines() if line)
            first = message(lines)
            assert first["method"] == "notifications/subscriptions/acknowledged"
            assert first["params"] == marked("a-1", notifications={"resourceSubscriptions": [GRAPH]})
            kept(ctx, "News")
            assert message(lines)["params"] == marked("a-1", uri=GRAPH)
            daemon.close()
            result = {"resultType": "complete", "_meta": {LISTEN_KEY: "a-1"}}
            assert message(lines) == {"jsonrpc": "2.0", "id": "a-1", "result": result}
            assert list(lines) == []


def test_a_listener_that_asks_for_nothing_we_have_is_refused(url):
    with listen(url, []) as answer:
        lines = (line for line in answer.iter_lines() if line)
        assert message(lines)["params"] == marked(7, notifications={})


def test_what_is_no_way_to_listen_is_refused(url):
    with listen(url, [GRAPH], Accept="application/json") as answer:
        assert answer.status_code == 406
    with listen(url, [{"uri": GRAPH}]) as answer:  # type: ignore[list-item]
        assert answer.status_code == 400 and json.loads(answer.read())["error"]["code"] == -32602


# -- the SDK's client


@pytest.mark.filterwarnings("ignore:resources/(un)?subscribe is removed")
def test_the_sdks_client_subscribes_after_a_handshake(url, ctx):
    async def scenario() -> Any:
        told = asyncio.Queue[Any]()

        async def take(message: Any) -> None:
            await told.put(message)

        async with Client(url, mode="legacy", message_handler=take) as client:
            assert client.server_capabilities.resources.subscribe
            await client.subscribe_resource(GRAPH)
            await asyncio.to_thread(kept, ctx, "News")
            first = await asyncio.wait_for(told.get(), SECONDS)
            await client.unsubscribe_resource(GRAPH)
            return first

    assert str(asyncio.run(scenario()).params.uri) == GRAPH


def at_the_daemon(url: str, home: Any) -> Any:
    return url


def at_a_process(url: str, home: Any) -> Any:
    command = ["-m", "mnemic", "mcp", "--dialect", "anthropic"]
    return stdio_client(StdioServerParameters(command=sys.executable, args=command, env=environment(home)))


@pytest.mark.parametrize("where", [at_the_daemon, at_a_process])
def test_the_sdks_client_listens_in_the_2026_revision(url, tmp_path, where):
    async def scenario() -> None:
        async with Client(where(url, tmp_path), mode="auto") as client:
            assert client.protocol_version == "2026-07-28"
            assert client.server_capabilities.resources.subscribe
            async with client.listen(resource_subscriptions=[GRAPH]) as told:
                entity = {"name": "Anna", "entityType": "person", "observations": []}
                await client.call_tool("create_entities", {"entities": [entity]})
                assert (await asyncio.wait_for(anext(told), SECONDS)).uri == GRAPH

    asyncio.run(scenario())


# -- over lines


def test_over_lines_a_listener_is_notified_until_it_cancels(tmp_path):
    with Process(tmp_path, "-m", "mnemic", "mcp", "--dialect", "anthropic") as server:
        asked = {"_meta": ENVELOPE, "notifications": {"resourceSubscriptions": [GRAPH]}}
        for id in (1, 2):
            first = server.ask("subscriptions/listen", asked, id=id)
            assert first["params"] == marked(id, notifications={"resourceSubscriptions": [GRAPH]})
        server.write(json.dumps(cancelled(1)).encode())
        entity = {"name": "Anna", "entityType": "person", "observations": []}
        call = {"_meta": ENVELOPE, "name": "create_entities", "arguments": {"entities": [entity]}}
        assert server.ask("tools/call", call, id=3)["params"] == marked(2, uri=GRAPH)
        assert server.read()["id"] == 3
        rest, code = server.end()
        assert [(one["id"], one["result"]["_meta"]) for one in rest] == [(2, {LISTEN_KEY: 2})]
        assert code == 0


def cancelled(id: int) -> dict[str, Any]:
    """The message that ends the request *id*."""
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}


def test_over_lines_a_listen_that_cannot_be_is_refused(tmp_path):
    with Process(tmp_path, "-m", "mnemic", "mcp", "--dialect", "anthropic") as server:
        assert server.ask("subscriptions/listen", {"_meta": ENVELOPE})["error"]["code"] == -32602
        assert server.ask("subscriptions/listen", {"notifications": {}})["error"]["code"] == -32601


def test_over_lines_a_session_subscribes_and_unsubscribes(tmp_path):
    with Process(tmp_path, "-m", "mnemic", "mcp", "--dialect", "anthropic") as server:
        assert server.ask("initialize", HELLO)["result"]["capabilities"]["resources"]["subscribe"]
        assert server.ask("resources/subscribe", {"uri": GRAPH})["result"] == {}
        entity = {"name": "Anna", "entityType": "person", "observations": []}
        call = {"name": "create_entities", "arguments": {"entities": [entity]}}
        assert server.ask("tools/call", call) == UPDATED
        assert server.read()["id"] == 1
        assert server.ask("resources/unsubscribe", {"uri": GRAPH})["result"] == {}
        assert server.end() == ([], 0)


# -- rights


@pytest.fixture
def locked(ctx) -> Iterator[str]:
    """The address of a daemon that wants a token."""
    with serving(ctx, AuthPolicy("127.0.0.1", "the owner's"), SPOKEN) as where:
        yield f"{where}/mcp/anthropic"


def test_a_token_is_notified_of_its_own_namespaces_alone(locked, ctx, monkeypatch):
    monkeypatch.setattr(sse, "ALIVE_SECONDS", 1.5)
    secret = access.create_token(
        ctx, access.TokenRequest(name="guest", namespaces=("work",), can_write=False)
    )
    client = subscribed(locked, Authorization=f"Bearer {secret}")
    with stream(locked, client) as lines:
        kept(ctx, "Private")
        assert next(lines) == ": alive"
        kept(ctx, "Public", namespace="work")
        while (line := next(lines)) == ": alive":
            pass
        assert line == "event: message"


@pytest.mark.parametrize("has_news", [True, False])
def test_a_stream_ends_with_the_right_to_it(locked, ctx, monkeypatch, has_news):
    monkeypatch.setattr(sse, "ALIVE_SECONDS", 60.0 if has_news else 0.5)
    secret = access.create_token(ctx, access.TokenRequest(name="guest", namespaces=None, can_write=False))
    client = subscribed(locked, Authorization=f"Bearer {secret}")
    with stream(locked, client) as lines:
        access.revoke_token(ctx, "guest")
        if has_news:
            kept(ctx, "Not for a guest")
        assert set(lines) <= {": alive"}
    assert httpx.get(locked, headers=client | EVENTS).status_code == 401


# -- many, and none


def test_streams_take_no_thread_of_those_that_work(url):
    clients = [hello(url) for _ in range(2 * THREADS)]
    with contextlib.ExitStack() as opened:
        for client in clients:
            opened.enter_context(stream(url, client))
        read = httpx.post(url, content=request("resources/read", {"uri": GRAPH}), headers=JSON).json()
        assert read["result"]["contents"]


def test_who_leaves_makes_room(url, monkeypatch):
    monkeypatch.setattr(sse, "MAX_STREAMS", 1)
    client = hello(url)
    with stream(url, client):
        assert status(url, client) == 503
    until = time.monotonic() + SECONDS
    while status(url, client) == 503 and time.monotonic() < until:
        time.sleep(0.05)
    assert status(url, client) == 200


def status(url: str, client: dict[str, str]) -> int:
    """How a stream begins that is left at once."""
    with httpx.stream("GET", url, headers=client | EVENTS) as answer:
        return answer.status_code


def test_sessions_are_remembered_while_they_are_used(monkeypatch):
    monkeypatch.setattr(client_sessions, "MAX_SESSIONS", 2)
    held, ids = Sessions(), [new_session({}) for _ in range(3)]
    first = held.of(ids[0])
    assert held.of(ids[0]) is first
    held.of(ids[1])
    held.of(ids[0])
    held.of(ids[2])
    assert held.of(ids[0]) is first
    monkeypatch.setattr(client_sessions, "IDLE_SECONDS", -1.0)
    held.of(ids[1])
    assert held.of(ids[0]) is not first
