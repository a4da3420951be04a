"""MCP Apps: only clients that declare the extension are told of the page that shows recalled memories."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from mcp_apps import CAPABILITIES, MIME, check
from server_process import ENVELOPE, HELLO, serving

from mnemic.app import dialect
from mnemic.transports.mcp.client_sessions import new_session, session_name
from mnemic.transports.mcp.jsonrpc import RpcConversation
from mnemic.transports.mcp.methods import Endpoint, Offer, shows_apps

MNEMIC = dialect("mnemic")
APP = "ui://mnemic/memories.html"
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def over_lines(ctx, capabilities: dict[str, Any], *methods: str, offered: Offer | None = None) -> list[Any]:
    """What a client with these capabilities is answered after its handshake."""
    sent: list[bytes] = []
    conversation = RpcConversation(Endpoint(MNEMIC, offered), ctx, sent.append)
    for number, method in enumerate(("initialize", *methods)):
        params = {**HELLO, "capabilities": capabilities} if method == "initialize" else {}
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        conversation.take(json.dumps(message).encode())
    conversation.close()
    return [json.loads(line)["result"] for line in sent[1:]]


def metas(tools: list[dict[str, Any]]) -> dict[str, Any]:
    """What is said of each tool to clients with apps."""
    return {tool["name"]: tool["_meta"]["ui"] for tool in tools if "_meta" in tool}


def test_other_clients_see_no_apps(ctx):
    tools, resources = over_lines(ctx, {"roots": {}}, "tools/list", "resources/list")
    assert [tool["name"] for tool in tools["tools"]] == list(MNEMIC.core)
    assert "_meta" not in json.dumps([tools, resources]) and "ui://" not in json.dumps([tools, resources])


def test_recall_points_at_its_app_and_what_the_app_calls_is_hidden_from_models(ctx):
    tools, resources = over_lines(ctx, CAPABILITIES, "tools/list", "resources/list")
    assert metas(tools["tools"]) == {"recall": {"resourceUri": APP}, "explore": {"visibility": ["app"]}}
    for meta in metas(tools["tools"]).values():
        check("McpUiToolMeta", meta)
    listed = next(one for one in resources["resources"] if one["uri"] == APP)
    assert listed["mimeType"] == MIME and len(resources["resources"]) == 3


def test_with_all_tools_explore_points_at_the_app_too(ctx):
    (tools,) = over_lines(ctx, CAPABILITIES, "tools/list", offered=Offer(all_tools=True, prefix="mem_"))
    shown = metas(tools["tools"])
    assert shown == {"mem_recall": {"resourceUri": APP}, "mem_explore": {"resourceUri": APP}}
    assert len(tools["tools"]) == len(MNEMIC.operations)


def test_the_app_is_one_page_that_loads_nothing(ctx):
    content = Endpoint(MNEMIC).handle(ctx, "resources/read", {"uri": APP})["contents"][0]
    check("McpUiResourceMeta", content["_meta"]["ui"])
    assert (content["uri"], content["mimeType"]) == (APP, MIME)
    assert content["text"].startswith("<!doctype html>")
    assert not any(part in content["text"] for part in (' src="', ' href="', "import("))


def test_over_http_a_session_remembers_whether_its_client_shows_apps(ctx):
    with serving(ctx, dialects={"mnemic": MNEMIC}) as url:
        for capabilities, expected in ((CAPABILITIES, ["recall", "explore"]), ({}, [])):
            hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
            hello["params"] = {**HELLO, "capabilities": capabilities}
            session = httpx.post(f"{url}/mcp", json=hello, headers=HEADERS).headers["Mcp-Session-Id"]
            asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
            answered = httpx.post(f"{url}/mcp", json=asked, headers=HEADERS | {"Mcp-Session-Id": session})
            assert list(metas(answered.json()["result"]["tools"])) == expected


def test_a_name_is_read_from_a_session_of_a_client_with_apps():
    session = new_session({"clientInfo": {"name": "a+apps b"}, "capabilities": CAPABILITIES})
    assert session_name(session) == "a+apps b"


@pytest.mark.parametrize("declares", [False, True])
def test_in_the_2026_revision_every_request_says_so_itself(ctx, declares):
    envelope = {
        **ENVELOPE,
        **({"io.modelcontextprotocol/clientCapabilities": CAPABILITIES} if declares else {}),
    }
    listed = Endpoint(MNEMIC).handle_modern(ctx, "tools/list", {"_meta": envelope})
    assert bool(metas(listed["tools"])) is declares
    assert listed["cacheScope"] == ("private" if declares else "public")


@pytest.mark.parametrize(
    "capabilities",
    [None, [], {"extensions": 1}, {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": "text/html"}}}],
)
def test_capabilities_that_say_something_else_declare_nothing(capabilities):
    assert not shows_apps(capabilities)
