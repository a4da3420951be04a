"""The MCP App in a real Chromium: a page that speaks for an MCP client shows it in a sandboxed frame."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from dashboard import Dashboard
from mcp_apps import CAPABILITIES, check
from playwright.sync_api import FrameLocator, Page, expect

APP = "ui://mnemic/memories.html"
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'none'"
"""What a host must enforce for an app that asks for nothing."""
HOST = """<!doctype html><title>Host</title>
<iframe title="app" sandbox="allow-scripts" style="width: 100%; height: 800px"></iframe>
<script>
const frame = document.querySelector("iframe");
const say = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
window.heard = [];
window.addEventListener("message", async ({ source, data }) => {
  if (source !== frame.contentWindow) return;
  window.heard.push(data);
  if (data.method === "ui/initialize") say({ id: data.id, result: window.welcome });
  if (data.method === "tools/call") say({ id: data.id, ...(await window.forwarded(data.params)) });
  if (data.method === "ui/notifications/initialized") {
    say({ method: "ui/notifications/tool-input", params: { arguments: window.call.arguments } });
    say({ method: "ui/notifications/tool-result", params: window.result });
  }
});
</script>"""
MESSAGES = {
    "ui/initialize": "McpUiInitializeRequest",
    "ui/notifications/initialized": "McpUiInitializedNotification",
    "ui/notifications/size-changed": "McpUiSizeChangedNotification",
}


class Host:
    """An MCP client that declares apps, and the window in which it shows one."""

    def __init__(self, dashboard: Dashboard):
        self.dashboard = dashboard
        self.page: Page = dashboard.page
        self.app: FrameLocator = self.page.frame_locator("iframe")

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of one MCP request."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        headers = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": method,
        }
        name = params.get("name") or params.get("uri")
        headers |= {"Mcp-Name": name} if name else {}
        answered = httpx.post(f"{self.dashboard.address}/mcp", json=body, headers=headers, timeout=60)
        return dict(answered.json()["result"])

    def show(self, tool: str, theme: str = "light", **arguments: Any) -> None:
        """Call *tool*, and show the app that its entry names with what it answers."""
        listed = {one["name"]: one for one in self.ask("tools/list", {})["tools"]}
        address = listed["recall"]["_meta"]["ui"]["resourceUri"]
        html = self.ask("resources/read", {"uri": address})["contents"][0]["text"]
        call = {"name": tool, "arguments": arguments}
        welcome = {
            "protocolVersion": "2026-01-26",
            "hostInfo": {"name": "test host", "version": "1"},
            "hostCapabilities": {"serverTools": {}},
            "hostContext": {"theme": theme, "toolInfo": {"tool": listed[tool]}},
        }
        result = self.ask("tools/call", call)
        check("McpUiInitializeResult", welcome)
        address = f"{self.dashboard.address}/host.html"
        self.page.route(address, lambda route: route.fulfill(body=HOST, content_type="text/html"))
        self.page.expose_function("forwarded", lambda asked: {"result": self.ask("tools/call", asked)})
        self.page.goto(address)
        guarded = html.replace(
            "<head>", f'<head><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        )
        self.page.evaluate(
            "([html, welcome, call, result]) => { Object.assign(window, { welcome, call, result });"
            " document.querySelector('iframe').srcdoc = html; }",
            [guarded, welcome, call, result],
        )

    @property
    def heard(self) -> list[dict[str, Any]]:
        """What the app said."""
        return list(self.page.evaluate("window.heard"))


@pytest.fixture
def host(dashboard: Dashboard) -> Host:
    """A client over a store with three linked memories."""
    dashboard.remember("We deploy on Mondays, never on Fridays", title="Deploy day", tags=["deploy"])
    dashboard.remember("The release needs a green build <script>alert(1)</script>", title="<b>Release</b>")
    dashboard.remember("The build runs on the CI machine", title="Build")
    dashboard.call("link", source="1", target="2", type="depends_on")
    dashboard.call("link", source="2", target="3", type="depends_on")
    dashboard.expected = ("Content Security Policy directive 'frame-ancestors'",)
    return Host(dashboard)


def test_shows_hits_as_text_with_their_relevance(host: Host):
    host.show("recall", query="when do we deploy?")
    expect(host.app.get_by_role("heading", name="Deploy day")).to_be_visible()
    expect(host.app.get_by_text("We deploy on Mondays, never on Fridays")).to_be_visible()
    expect(host.app.get_by_role("img", name="Relevance").first).to_be_visible()


def test_says_only_what_the_schema_of_the_extension_knows(host: Host):
    host.show("recall", query="when do we deploy?")
    expect(host.app.get_by_role("heading", name="Deploy day")).to_be_visible()
    host.page.wait_for_function("window.heard.some((one) => one.method.endsWith('size-changed'))")
    heard = host.heard
    assert {one["method"] for one in heard} == set(MESSAGES)
    for message in heard:
        body = {key: message[key] for key in ("method", "params")}
        check(MESSAGES[message["method"]], body)
    assert max(one["params"].get("height", 0) for one in heard) > 50


def test_shows_what_is_linked_to_a_hit_through_its_client(host: Host):
    host.show("recall", query="when do we deploy?")
    host.app.get_by_role("button", name="Links of Deploy day").click()
    around = host.app.get_by_role("region", name="Linked to Deploy day")
    expect(around.get_by_role("img")).to_be_visible()
    expect(around.get_by_role("listitem")).to_have_count(2)
    around.get_by_role("button", name="Build").click()
    expect(host.app.get_by_role("region", name="Linked to Build")).to_be_visible()
    asked = [one["params"]["name"] for one in host.heard if one["method"] == "tools/call"]
    assert asked == ["explore", "explore"]


def test_shows_the_answer_of_explore(host: Host):
    host.show("explore", id="2", depth=2)
    expect(host.app.get_by_role("heading", name="Linked to <b>Release</b>")).to_be_visible()
    expect(host.app.get_by_role("listitem")).to_have_count(2)


def test_says_that_nothing_is_known_and_what_went_wrong(host: Host):
    host.show("recall", query="quokka husbandry on Saturn")
    expect(host.app.get_by_text("Nothing relevant is known")).to_be_visible()
    host.page.evaluate(
        "(text) => say({method: 'ui/notifications/tool-result',"
        " params: {isError: true, content: [{type: 'text', text}]}})",
        "query: must not be empty",
    )
    expect(host.app.get_by_text("query: must not be empty")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_has_no_serious_accessibility_problem(host: Host, theme):
    host.show("recall", theme, query="when do we deploy?")
    host.app.get_by_role("button", name="Links of Deploy day").click()
    expect(host.app.get_by_role("region", name="Linked to Deploy day")).to_be_visible()
    frame = host.page.frames[1]
    assert host.dashboard.violations(frame) == []
    assert json.loads(frame.evaluate("JSON.stringify(document.documentElement.dataset.theme)")) == theme
