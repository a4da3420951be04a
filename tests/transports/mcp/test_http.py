"""MCP over HTTP: the SDK's client against a real daemon, and requests as they come on the wire."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.types import Implementation
from server_process import BAD_JSON, serving
from toy_dialect import TOY

from mnemic.app import dialect
from mnemic.transports.mcp.client_sessions import new_session, session_name

MNEMIC = dialect("mnemic")

HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@pytest.fixture
def url(ctx) -> Iterator[str]:
    """The address of a daemon that speaks the native dialect and the toy dialect."""
    with serving(ctx, dialects={"mnemic": MNEMIC, "toy": TOY}) as where:
        yield where


@pytest.mark.parametrize("era", ["legacy", "2026-07-28", "auto"])
@pytest.mark.parametrize("path", ["/mcp", "/mcp/mnemic"])
def test_the_sdks_client_gets_along_with_it(url, path, era):
    async def scenario() -> None:
        async with Client(
            url + path, mode=era, client_info=Implementation(name="über client", version="1")
        ) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == list(MNEMIC.core)
            await client.call_tool("remember", {"text": "Said over HTTP"})
            found = await client.call_tool("recall", {"query": "HTTP"})
            assert json.loads(found.content[0].text)["memories"][0]["text"] == "Said over HTTP"
            history = await client.call_tool("history", {"id": 1})
            assert json.loads(history.content[0].text)["changes"][0]["actor"] == "über client"
            assert (await client.read_resource("mnemic://memory/1")).contents

    asyncio.run(scenario())


def test_each_dialect_has_its_address(url):
    async def scenario() -> list[str]:
        async with Client(f"{url}/mcp/toy") as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    assert asyncio.run(scenario()) == list(TOY.operations)
    assert httpx.post(f"{url}/mcp/nope", json={}).status_code == 404


def test_no_session_has_to_be_kept(url):
    answered = post(url, "tools/call", {"name": "who"}, path="/mcp/toy")
    assert answered.json()["result"]["structuredContent"] == {"actor": "tester"}
    named = post(url, "tools/call", {"name": "who"}, path="/mcp/toy", session="another%20client~0123")
    assert named.json()["result"]["structuredContent"] == {"actor": "another client"}


def post(
    url: str, method: str, params: Any = None, path: str = "/mcp", session: str | None = None
) -> httpx.Response:
    """The answer to one request without any handshake before it."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method} | ({"params": params} if params else {})
    return httpx.post(
        url + path, json=message, headers=HEADERS | ({"Mcp-Session-Id": session} if session else {})
    )


@pytest.mark.parametrize("body", [body for _, body in BAD_JSON], ids=[name for name, _ in BAD_JSON])
def test_a_body_that_is_not_json_is_a_parse_error(url, body):
    answered = httpx.post(f"{url}/mcp", content=body, headers=HEADERS)
    assert answered.status_code == 400
    assert answered.json()["error"]["code"] == -32700 and answered.json()["id"] is None


@pytest.mark.parametrize("verb", ["GET", "DELETE", "PUT"])
def test_there_is_nothing_to_get_or_delete(url, verb):
    answered = httpx.request(verb, f"{url}/mcp", headers=HEADERS)
    assert answered.status_code == 405 and answered.headers["allow"] == "POST"


def test_a_notification_is_accepted(url):
    message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert httpx.post(f"{url}/mcp", json=message, headers=HEADERS).status_code == 202


def test_a_body_that_is_too_large_is_refused(url):
    assert httpx.post(f"{url}/mcp", content=b" " * 3_000_000, headers=HEADERS).status_code == 413


@pytest.mark.parametrize("name", ["Claude Code", "über~client", "a/b", ""])
def test_a_session_carries_nothing_but_the_name(name):
    hello = {"clientInfo": {"name": name}}
    session = new_session(hello)
    assert session and session.isascii() and session_name(session) == (name.replace("~", "") or None)
    assert new_session(hello) != session
    assert session_name(None) is None and session_name("of another server") is None
