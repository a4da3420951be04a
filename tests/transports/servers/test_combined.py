"""The dialect `all` as clients reach it: over stdio, over HTTP, on the command line, in a client's configuration."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter

import httpx
from mcp import Client, StdioServerParameters
from sdk import our_http, our_transport
from server_process import HELLO, Process, call, environment, serving

from mnemic.app import DIALECTS, EVERY, dialect

ANNA = {"name": "Anna", "entityType": "person", "observations": ["kind"]}
KNOWS = {"from": "Anna", "to": "Bob", "relationType": "knows"}
SCRIPT = [
    ("create_entities", {"entities": [ANNA]}),
    ("create_relations", {"relations": [KNOWS]}),
    ("add_observations", {"name": "Anna", "observations": ["tall"]}),
    ("search_nodes", {"query": "KIND"}),
    ("open_nodes", {"names": ["Anna"]}),
    ("read_graph", {}),
    ("delete_observations", {"deletions": [{"entityName": "Anna", "observations": ["tall"]}]}),
    ("delete_relations", {"relations": [KNOWS]}),
    ("delete_entities", {"entityNames": ["Anna"]}),
    ("memory_stats", {}),
    ("remember", {"text": "Tea is at four"}),
    ("recall", {"query": "tea"}),
    ("memory_store", {"title": "T", "content": "Tea"}),
    ("memory_search", {"query": "tea"}),
    ("lore_search", {"query": "tea"}),
    ("memory_query", {}),
]
"""Every shared name, and a tool of each other dialect."""


def without_id(thing):
    return {key: value for key, value in thing.items() if key != "id"}


def test_it_is_served_over_stdio(tmp_path):
    with Process(tmp_path, "-m", "mnemic", "mcp", "--dialect", "all") as process:
        told = process.ask("initialize", HELLO)["result"]
        assert told["serverInfo"]["name"] == "mnemic" and "All dialects" in told["instructions"]
        process.write(call("create_entities", {"entities": [ANNA]}), call("memory_search", {"query": "kind"}))
        made, found = process.read()["result"], process.read()["result"]
        assert without_id(made["structuredContent"]["entities"][0]) == ANNA
        assert "structuredContent" not in found and "Anna" in found["content"][0]["text"]
        assert process.ask("tools/call", {"name": "nope"})["error"]["code"] == -32602


def test_the_sdk_takes_every_answer(tmp_path):
    """The SDK's client checks structured content against the schema of each tool that has one."""
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "mnemic", "mcp", "--dialect", EVERY], env=environment(tmp_path)
    )

    async def scenario() -> None:
        async with Client(parameters) as client:
            listed = (await client.list_tools()).tools
            assert {tool.name for tool in listed} == set(dialect(EVERY).operations)
            for tool, arguments in SCRIPT:
                answer = await client.call_tool(tool, arguments)
                assert not answer.is_error, (tool, answer)
            failed = await client.call_tool("add_observations", {"name": "x", "observations": []})
            assert failed.is_error and failed.structured_content == {"error": "Entity not found: x"}

    asyncio.run(scenario())


def test_it_is_served_over_http(ctx):
    with serving(ctx) as address, httpx.Client(base_url=address) as http:
        made = http.post("/api/v1/tools/all/create_entities", json={"entities": [ANNA]})
        assert made.status_code == 200 and without_id(made.json()["entities"][0]) == ANNA
        found = http.post("/api/v1/tools/all/memory_search", json={"query": "kind"})
        assert found.status_code == 200 and found.text.startswith("count:1")
        assert http.post("/api/v1/tools/all/open_nodes", json={}).json()["error"] == "names: required"
        assert http.post("/api/v1/tools/all/nope", json={}).status_code == 404
        unknown = http.post("/api/v1/tools/nope/nope", json={}).json()["error"]
        assert unknown.endswith("agentic-memory, all")


def test_the_sdk_gets_along_with_it_over_http(ctx):
    async def scenario() -> None:
        async with our_http(dialect(EVERY), ctx) as http, Client(our_transport(http)) as client:
            for tool, arguments in SCRIPT:
                assert not (await client.call_tool(tool, arguments)).is_error, tool

    asyncio.run(scenario())


def test_the_daemon_has_it_at_its_name(ctx):
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
    with serving(ctx) as address, httpx.Client(base_url=address) as http:
        told = http.post("/mcp/all", json=hello, headers={"Accept": "application/json, text/event-stream"})
        assert told.json()["result"]["instructions"] == dialect(EVERY).instructions


def test_the_command_line_calls_it(cli):
    made = cli("call", "all", "create_entities", json.dumps({"entities": [ANNA]}))
    assert made.code == 0 and without_id(json.loads(made.out)["entities"][0]) == ANNA
    assert cli("call", "all", "memory_search", '{"query": "kind"}').out.startswith("count:1")
    failed = cli("call", "all", "lore_search", "{}")
    assert failed.code != 0 and failed.err.startswith("Error calling tool 'lore_search'")
    assert cli("call", "all", "nope", "{}").code != 0


def test_a_client_can_be_configured_to_use_it(cli):
    assert cli.json("install", "cursor", "--dialect", "all")["changed"] is True
    entry = json.loads((cli.home / ".cursor" / "mcp.json").read_text())["mcpServers"]["mnemic"]
    assert entry["args"][:3] == ["mcp", "--dialect", "all"]


def test_a_view_is_not_listed_among_the_dialects(ctx):
    assert EVERY not in DIALECTS
    with serving(ctx) as address, httpx.Client(base_url=f"{address}/api/v1") as http:
        listed = Counter(tool["dialect"] for tool in http.get("/tools").json()["tools"])
        assert set(listed) == set(DIALECTS)
        assert not any("/tools/all/" in path for path in http.get("/openapi.json").json()["paths"])
