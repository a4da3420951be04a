"""REST beyond the tools: commands, the names of clients, and the numbers by which a change is undone."""

from __future__ import annotations

import httpx
from server_process import serving

from mnemic.transports.http.auth import AuthPolicy

LOCAL = AuthPolicy("127.0.0.1")


def post(url: str, name: str, arguments: dict[str, object], **headers: str) -> httpx.Response:
    return httpx.post(f"{url}/api/v1/tools/mnemic/{name}", json=arguments, headers=headers)


def test_a_command_is_reached_like_a_tool(ctx):
    with serving(ctx, LOCAL) as url:
        post(url, "remember", {"text": "We deploy on Fridays"})
        answered = post(url, "list", {"order": "newest"})
        refused = post(url, "list", {"order": "sideways"})
    assert [one["text"] for one in answered.json()["memories"]] == ["We deploy on Fridays"]
    assert (refused.status_code, refused.json()["field"]) == (400, "order")


def test_commands_are_no_tools(ctx):
    with serving(ctx, LOCAL) as url:
        names = {
            one["name"]
            for one in httpx.get(f"{url}/api/v1/tools").json()["tools"]
            if one["dialect"] == "mnemic"
        }
    assert "recall" in names
    assert "list" not in names


def test_an_answer_names_what_undo_needs(ctx):
    with serving(ctx, LOCAL) as url:
        kept = post(url, "remember", {"items": [{"text": "One of two"}, {"text": "Two of two"}]})
        number = kept.headers["Mnemic-Changes"]
        read = post(url, "list", {})
        undone = post(url, "undo", {"change": int(number)})
        left = post(url, "list", {})
    assert "Mnemic-Changes" not in read.headers
    assert undone.json()["count"] == 2
    assert undone.headers["Mnemic-Changes"] != number
    assert left.json()["memories"] == []


def test_a_client_may_say_its_name(ctx):
    with serving(ctx, LOCAL) as url:
        post(url, "remember", {"text": "Told by a page"}, **{"Mnemic-Client": "dashboard"})
        post(url, "remember", {"text": "Told by somebody"}, **{"Mnemic-Client": "x" * 65})
        changes = post(url, "history", {}).json()["changes"]
    assert [change["actor"] for change in changes] == ["http", "dashboard"]
