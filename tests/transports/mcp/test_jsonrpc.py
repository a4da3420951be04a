"""Our own conversation over lines: beside the SDK's server, and where that one gives up."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anyio
import pytest
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from sdk import sdk_server
from server_process import BAD_JSON, CALLS, ENVELOPE, HELLO, READS, call, request
from toy_dialect import SECRET, TOY, held

from mnemic.app import dialect
from mnemic.core.context import Context
from mnemic.dialects.framework import Dialect
from mnemic.transports.mcp.jsonrpc import RpcConversation, find_id
from mnemic.transports.mcp.methods import Endpoint

MNEMIC = dialect("mnemic")


def ours(ctx: Context, lines: list[bytes], dialect: Dialect = MNEMIC) -> list[Any]:
    """What our conversation answers to *lines*."""
    sent: list[bytes] = []
    conversation = RpcConversation(Endpoint(dialect), ctx, sent.append)
    for line in lines:
        conversation.take(line)
    conversation.close()
    return [json.loads(line) for line in sent]


def theirs(ctx: Context, lines: list[bytes]) -> list[Any]:
    """What the SDK's server answers to the requests in *lines*, asked one at a time."""

    async def run() -> list[Any]:
        server = sdk_server(Endpoint(MNEMIC), ctx)
        async with (
            create_client_server_memory_streams() as ((read, write), (server_read, server_write)),
            anyio.create_task_group() as group,
        ):
            group.start_soon(server.run, server_read, server_write, server.create_initialization_options())
            answers = []
            for line in lines:
                await write.send(SessionMessage(jsonrpc_message_adapter.validate_json(line)))
                answers.append((await read.receive()).message.model_dump(by_alias=True, exclude_unset=True))
            group.cancel_scope.cancel()
        return answers

    return asyncio.run(run())


@pytest.mark.parametrize("asked", ["2024-11-05", "2025-06-18", "2025-11-25", "2099-01-01"])
def test_after_a_handshake_we_answer_as_the_sdk_does(ctx, twin, asked):
    messages = [("initialize", {**HELLO, "protocolVersion": asked}), ("ping", {}), *CALLS, *READS]
    messages += [("logging/setLevel", {"level": "info"}), ("server/discover", {})]
    lines = [request(method, params, number) for number, (method, params) in enumerate(messages)]
    assert in_order(ours(ctx, lines)) == theirs(twin, lines)


def test_in_the_2026_revision_we_answer_as_the_sdk_does(ctx, twin):
    messages = [
        ("server/discover", {}),
        *CALLS,
        *READS,
        ("logging/setLevel", {"level": "info"}),
        ("ping", {}),
    ]
    lines = [
        request(method, {**params, "_meta": ENVELOPE}, number)
        for number, (method, params) in enumerate(messages)
    ]
    assert in_order(ours(ctx, lines)) == theirs(twin, lines)


def in_order(answers: list[Any]) -> list[Any]:
    """*answers* by the number of their question: what needs the store may come after what does not."""
    return sorted(answers, key=lambda answer: answer["id"])


@pytest.mark.parametrize(
    "envelope, number",
    [
        ({**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "2027-01-01"}, -32022),
        ({**ENVELOPE, "io.modelcontextprotocol/protocolVersion": 7}, -32602),
        ({"io.modelcontextprotocol/protocolVersion": "2026-07-28"}, -32602),
    ],
)
def test_an_envelope_we_cannot_serve_is_refused(ctx, envelope, number):
    (answer,) = ours(ctx, [request("tools/list", {"_meta": envelope})])
    assert answer["error"]["code"] == number
    if number == -32022:
        assert answer["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2027-01-01"}


@pytest.mark.parametrize("arguments", [body for _, body in BAD_JSON], ids=[name for name, _ in BAD_JSON])
def test_a_line_that_is_not_json_gets_an_answer(ctx, arguments):
    plain, answer = ours(ctx, [arguments, request("ping")])
    assert plain["error"]["code"] == -32700 and plain["id"] is None
    assert answer == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize(
    "line, number, id",
    [
        (b"[]", -32600, None),
        (b'"text"', -32600, None),
        (b"{}", -32600, None),
        (b'{"jsonrpc": "1.0", "id": 7, "method": "ping"}', -32600, 7),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": 7}', -32600, 7),
        (b'{"jsonrpc": "2.0", "id": 7, "method": 8}', -32600, 7),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": []}', -32602, 7),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": 8}}', -32602, 7),
        (
            b'{"jsonrpc": "2.0", "id": 7, "method": "prompts/get", "params": {"name": "x", "arguments": 1}}',
            -32602,
            7,
        ),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "initialize"}', -32602, 7),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "resources/read", "params": {}}', -32602, 7),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "completion/complete", "params": {"ref": 1}}', -32602, 7),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "logging/setLevel", "params": {"level": []}}', -32602, 7),
        (b'{"jsonrpc": "2.0", "id": "\\u00e9", "method": "nope"}', -32601, "é"),
    ],
)
def test_a_message_that_is_none_gets_an_answer(ctx, line, number, id):
    (answer,) = ours(ctx, [line])
    assert (answer["error"]["code"], answer["id"]) == (number, id)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"  \r",
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {}}}',
        b'{"jsonrpc": "2.0", "method": "notifications/nope", "params": 7}',
        b'{"jsonrpc": "2.0", "id": 1, "result": {}}',
        b'{"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": "?"}}',
    ],
)
def test_what_wants_no_answer_gets_none(ctx, line):
    assert ours(ctx, [line]) == []


@pytest.mark.parametrize(
    "line, id",
    [
        (rb'{"jsonrpc": "2.0", "id": 7, "method": "x", "params": {"t": "\ud800"}}', 7),
        (rb'{"method": "x", "params": {"t": "\ud800", "id": 3}, "jsonrpc": "2.0", "id": "seven"}', "seven"),
        (rb'{"method": "x", "params": {"id": 3, "t": NaN}}', None),
        (rb'{"method": "x", "params": {"t": "\"id\": 3}', None),
        (rb'{"jsonrpc": "2.0", "id": 7, "method": "x"', None),
        (rb'{"jsonrpc": "2.0", "id": "\ud800"}', None),
    ],
)
def test_a_request_that_cannot_be_parsed_is_answered_under_its_id_where_that_is_certain(line, id):
    assert find_id(line) == id


def test_calls_take_effect_in_the_order_they_were_sent(ctx):
    lines = [call("remember", {"text": f"Fact number {number}"}, number) for number in range(50)]
    answers = ours(ctx, lines)
    assert [answer["id"] for answer in answers] == list(range(50))
    stored = [json.loads(answer["result"]["content"][0]["text"])["stored"][0]["id"] for answer in answers]
    assert stored == sorted(stored)


def test_a_call_that_waits_can_be_cancelled_and_a_ping_does_not_wait(ctx):
    held.clear()
    sent: list[bytes] = []
    conversation = RpcConversation(Endpoint(TOY), ctx, sent.append)
    for line in (call("hold", {}, 1), call("who", {}, 2), call("who", {}, 3), request("ping", id=4)):
        conversation.take(line)
    conversation.take(b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}')
    conversation.take(b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}')
    held.set()
    conversation.close()
    assert [json.loads(line)["id"] for line in sent] == [4, 3]


def test_the_name_of_the_handshake_stays(ctx):
    lines = [request("initialize", HELLO, 1), call("who", {}, 2)]
    assert ours(ctx, lines, TOY)[1]["result"]["structuredContent"] == {"actor": "tester"}


def test_a_crash_says_nothing_of_itself(ctx):
    answers = ours(ctx, [call("crash"), request("resources/read", {"uri": "toy://fixed"})], TOY)
    assert SECRET not in json.dumps(answers)
    assert answers[1]["error"]["code"] == -32603
