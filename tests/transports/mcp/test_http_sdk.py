"""Our streamable HTTP beside the SDK's: the same requests get the same answers, with the same status."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import httpx2
import pytest
from sdk import ADDRESS, our_http, sdk_http
from server_process import BAD_JSON, CALLS, ENVELOPE, HELLO, READS, request

from mnemic.app import dialect
from mnemic.core.context import Context
from mnemic.transports.mcp.methods import Endpoint

MNEMIC = dialect("mnemic")

Headers = dict[str, str]
Post = tuple[Headers, bytes]

JSON = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
MODERN = "2026-07-28"
NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
ASKED = [("server/discover", {}), *CALLS, *READS, ("logging/setLevel", {"level": "info"}), ("ping", {})]


def answers(ctx: Context, twin: Context, posts: Sequence[Post]) -> tuple[list[Any], list[Any]]:
    """What we say to *posts*, and what the SDK's server says."""

    async def run() -> tuple[list[Any], list[Any]]:
        async with our_http(MNEMIC, ctx) as ours, sdk_http(Endpoint(MNEMIC), twin) as theirs:
            return await said(ours, posts), await said(theirs, posts)

    return asyncio.run(run())


async def said(client: httpx2.AsyncClient, posts: Sequence[Post]) -> list[Any]:
    """The status, the kind and the content of each answer."""
    took = [await client.post(ADDRESS, content=body, headers=headers) for headers, body in posts]
    return [
        (one.status_code, one.headers.get("content-type") if one.content else None, content(one))
        for one in took
    ]


def content(answer: httpx2.Response) -> Any:
    """What the answer holds, where it is JSON."""
    return (
        answer.json() if answer.headers.get("content-type") == "application/json" and answer.content else None
    )


def modern(method: str, params: dict[str, Any], id: int = 1, **changed: str | None) -> Post:
    """A request of the 2026 revision whose headers say what it says, but for those *changed*."""
    headers = {"mcp_protocol_version": MODERN, "mcp_method": method}
    if method in NAMES:
        headers["mcp_name"] = params[NAMES[method]]
    told = {name.replace("_", "-"): value for name, value in {**headers, **changed}.items() if value}
    return JSON | told, request(method, {"_meta": ENVELOPE, **params}, id)


@pytest.mark.parametrize("version", [None, "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_after_a_handshake_we_answer_as_the_sdk_does(ctx, twin, version):
    headers = JSON | ({"Mcp-Protocol-Version": version} if version else {})
    hello = (JSON, request("initialize", {**HELLO, "protocolVersion": version or "2099-01-01"}))
    posts = [(headers, request(method, params, number)) for number, (method, params) in enumerate(ASKED)]
    ours, theirs = answers(ctx, twin, [hello, *posts])
    assert ours == theirs


def test_in_the_2026_revision_we_answer_as_the_sdk_does(ctx, twin):
    posts = [modern(method, params, number) for number, (method, params) in enumerate(ASKED)]
    ours, theirs = answers(ctx, twin, posts)
    assert ours == theirs
    assert {status for status, _, _ in ours} == {200, 400, 404}


@pytest.mark.parametrize(
    "post",
    [
        modern("tools/list", {}, mcp_protocol_version="2027-01-01"),
        modern("tools/list", {}, mcp_protocol_version="2099-01-01, 2026-07-28"),
        modern("tools/list", {}, mcp_method="tools/call"),
        modern("tools/list", {}, mcp_method=None),
        modern("tools/call", {"name": "stats"}, mcp_name="open"),
        modern("tools/call", {"name": "stats"}, mcp_name=None),
        modern("tools/call", {"name": "stats"}, mcp_name="=?base64?c3RhdHM=?="),
        modern("tools/call", {"name": "stats"}, mcp_name="=?base64?c3RhdHN=?="),
        modern("tools/call", {"name": "stats"}, mcp_name="=?base64?%?="),
        modern("tools/list", {"_meta": {}}),
        modern("tools/list", {"_meta": 7}),
        modern("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": MODERN}}),
        modern("tools/list", {"_meta": {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": 7}}),
        modern(
            "tools/list",
            {"_meta": {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "2027-01-01"}},
            mcp_protocol_version="2027-01-01",
        ),
        modern("initialize", HELLO),
        modern("subscriptions/listen", {"notifications": {}}),
    ],
)
def test_a_request_of_2026_that_contradicts_itself_is_refused_as_the_sdk_does(ctx, twin, post):
    ((ours,), (theirs,)) = answers(ctx, twin, [post])
    assert outcome(ours) == outcome(theirs)


def outcome(answer: Any) -> Any:
    """The status and the number of the error, for the words are our own."""
    status, kind, body = answer
    error = (body or {}).get("error", {})
    return status, kind, (body or {}).get("id"), error.get("code"), error.get("data")


BODIES: list[bytes] = [
    b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
    b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}',
    b'{"jsonrpc": "2.0", "method": "nope"}',
    b'{"jsonrpc": "2.0", "id": 1, "result": {}}',
    b'{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "?"}}',
    b"[]",
    b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]',
    b'"text"',
    b"{}",
    b"",
    b'{"jsonrpc": "1.0", "id": 7, "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": 7}',
    b'{"jsonrpc": "2.0", "id": 7, "method": 8}',
    b'{"jsonrpc": "2.0", "method": 8}',
    b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": []}',
]


@pytest.mark.parametrize("version", [None, "2025-11-25", MODERN, "2027-01-01"])
@pytest.mark.parametrize("body", BODIES)
def test_what_is_no_request_has_the_status_the_sdk_gives_it(ctx, twin, body, version):
    headers = JSON | ({"Mcp-Protocol-Version": version} if version else {})
    ((ours,), (theirs,)) = answers(ctx, twin, [(headers, body)])
    assert ours[0] == theirs[0]


@pytest.mark.parametrize("version", ["2025-11-25", MODERN])
@pytest.mark.parametrize(
    "headers",
    [
        {"Accept": "application/json"},
        {"Accept": "application/*;q=0.5"},
        {"Accept": "*/*"},
        {"Accept": "image/png"},
        {"Accept": ""},
        {"Content-Type": "application/json; charset=utf-8"},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": ""},
    ],
)
def test_what_is_sent_and_accepted_has_the_status_the_sdk_gives_it(ctx, twin, headers, version):
    post = modern("tools/list", {}) if version == MODERN else ({**JSON}, request("tools/list"))
    ((ours,), (theirs,)) = answers(ctx, twin, [(post[0] | headers, post[1])])
    assert ours[0] == theirs[0]


def test_where_the_sdk_lets_more_pass_than_can_be_kept_we_do_not(ctx):
    async def run() -> list[Any]:
        async with our_http(MNEMIC, ctx) as ours:
            return await said(ours, [(JSON, body) for _, body in BAD_JSON])

    assert {outcome(answer)[:4] for answer in asyncio.run(run())} == {(400, "application/json", None, -32700)}


@pytest.mark.parametrize("id", ["true", "1.5", "null", "{}"])
def test_a_request_with_an_id_that_is_none_is_refused_where_the_sdk_takes_it_for_a_notification(ctx, id):
    body = b'{"jsonrpc": "2.0", "id": %s, "method": "ping"}' % id.encode()

    async def run() -> list[Any]:
        async with our_http(MNEMIC, ctx) as ours:
            return await said(ours, [(JSON, body)])

    (answer,) = asyncio.run(run())
    assert outcome(answer)[:4] == (400, "application/json", None, -32600)


@pytest.mark.parametrize("version", ["2025-11-25", MODERN])
def test_who_accepts_events_alone_is_answered_in_one(ctx, version):
    headers, body = modern("tools/list", {}) if version == MODERN else ({**JSON}, request("tools/list"))

    async def run() -> httpx2.Response:
        async with our_http(MNEMIC, ctx) as ours:
            return await ours.post(ADDRESS, content=body, headers=headers | {"Accept": "text/event-stream"})

    answer = asyncio.run(run())
    assert answer.headers["content-type"] == "text/event-stream"
    event, data, *end = answer.text.split("\r\n")
    assert (event, end) == ("event: message", ["", ""])
    assert len(json.loads(data.removeprefix("data: "))["result"]["tools"]) == len(MNEMIC.core)


def test_a_header_that_comes_twice_is_refused(ctx, twin):
    headers, body = modern("tools/list", {})

    async def run() -> list[int]:
        twice = [*headers.items(), ("mcp-method", "tools/list")]
        async with our_http(MNEMIC, ctx) as ours, sdk_http(Endpoint(MNEMIC), twin) as theirs:
            both = [await client.post(ADDRESS, content=body, headers=twice) for client in (ours, theirs)]
            return [content(answer)["error"]["code"] for answer in both]

    assert asyncio.run(run()) == [-32020, -32020]
