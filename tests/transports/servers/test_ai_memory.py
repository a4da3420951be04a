"""ai-memory as a client starts it: over stdio, over REST, and called from the command line."""

from __future__ import annotations

import json

import httpx
import pytest
from server_process import HELLO, Process, call, serving

from mnemic.app import dialect

STORED = {"title": "A|B", "content": "The pipe is escaped."}


@pytest.fixture
def server(tmp_path):
    """`mnemic mcp` in this dialect, after the handshake."""
    with Process(tmp_path, "-m", "mnemic", "mcp", "--dialect", "ai-memory") as process:
        process.hello = process.ask("initialize", {**HELLO, "protocolVersion": "2024-11-05"})["result"]
        yield process


def test_the_handshake_names_the_server_and_speaks_of_memories(server):
    assert server.hello["serverInfo"]["name"] == "ai-memory"
    assert server.hello["protocolVersion"] == "2024-11-05"
    assert set(server.hello["capabilities"]) == {"prompts", "tools"}
    server.write(call("memory_store", STORED, 2))
    stored = server.read()["result"]
    assert set(stored) == {"content", "isError"} and not stored["isError"]
    id = json.loads(stored["content"][0]["text"])["id"]
    server.write(call("memory_recall", {"context": "pipe"}, 3))
    [told] = server.read()["result"]["content"]
    meta, _, row, end = told["text"].split("\n")
    assert (meta, end) == ("count:1|mode:keyword", "") and row.startswith(rf"{id}|A\|B|mid|global|5|")
    server.write(call("memory_get", {"id": "nope"}, 4))
    assert server.read()["result"] == {
        "content": [{"type": "text", "text": "memory not found"}],
        "isError": True,
    }


def test_what_the_protocol_refuses_is_reported(server):
    for method, params, code, message in (
        ("tools/call", {"arguments": {}}, -32602, "missing or empty tool name"),
        ("tools/call", {"name": ""}, -32602, "missing or empty tool name"),
        ("prompts/get", {}, -32602, "missing or empty prompt name"),
        ("prompts/get", {"name": "nope"}, -32602, "unknown prompt: nope"),
        ("resources/list", {}, -32601, "Method not found"),
        ("memory/nothing", {}, -32601, "Method not found"),
    ):
        error = server.ask(method, params, 9)["error"]
        assert (error["code"], error["message"]) == (code, message)


def test_rest_answers_with_json_or_toon(ctx):
    spoken = {"ai-memory": dialect("ai-memory")}
    with (
        serving(ctx, dialects=spoken) as address,
        httpx.Client(base_url=f"{address}/api/v1/tools/ai-memory") as http,
    ):
        stored = http.post("/memory_store", json=STORED)
        assert stored.headers["content-type"] == "application/json" and stored.json()["title"] == "A|B"
        listed = http.post("/memory_list", json={})
        assert listed.headers["content-type"].startswith("text/plain") and listed.text.startswith("count:1\n")
        refused = http.post("/memory_store", json={"title": "x"})
        assert refused.status_code == 400 and refused.json()["error"] == "content is required"
        missing = http.post("/memory_get", json={"id": "nope"})
        assert missing.status_code == 404 and missing.json()["error"] == "memory not found"


def test_the_command_line_calls_its_tools(cli):
    made = cli("call", "ai-memory", "memory_store", json.dumps(STORED))
    assert made.code == 0 and json.loads(made.out)["namespace"] == "global"
    assert cli("call", "ai-memory", "memory_list", "{}").out.startswith("count:1\n")
    failed = cli("call", "ai-memory", "memory_get", '{"id": "nope"}')
    assert failed.code != 0 and "memory not found" in failed.out + failed.err
