"""The live feed: changes and recalls as they happen."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest
from server_process import serving
from support import kept

from mnemic.core.access import TokenRequest, create_token
from mnemic.core.recall import recall
from mnemic.model.filter import Filter, Query
from mnemic.transports.http.auth import AuthPolicy

LOCAL = AuthPolicy("127.0.0.1")


def events(response: httpx.Response) -> Iterator[tuple[str, dict[str, object]]]:
    """The events of a stream, without those that keep it alive."""
    name = ""
    for line in response.iter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def ask(ctx, text, *namespaces):
    recall(ctx, Query(text=text, now=ctx.now(), filter=Filter(namespaces=namespaces or None)))


def test_changes_and_recalls_are_streamed(ctx):
    kept(ctx, "Known before")
    with serving(ctx, LOCAL) as url, httpx.stream("GET", f"{url}/api/v1/live", timeout=20) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        told = events(response)
        assert next(told)[0] == "open"
        made = kept(ctx.on_behalf_of("codex"), "Tea is at four", namespace="ours")
        name, change = next(told)
        assert (name, change["actor"], change["id"]) == ("change", "codex", made.id)
        assert (change["title"], change["namespace"]) == ("Tea is at four", "ours")
        ask(ctx.on_behalf_of("claude"), "when is tea?")
        name, entry = next(told)
        assert (name, entry["actor"], entry["query"]) == ("recall", "claude", "when is tea?")


def test_a_limited_token_gets_events_of_its_namespaces(ctx):
    token = create_token(ctx, TokenRequest(name="limited", namespaces=("ours",), can_write=False))
    headers = {"Authorization": f"Bearer {token}"}
    with (
        serving(ctx, LOCAL) as url,
        httpx.stream("GET", f"{url}/api/v1/live", headers=headers, timeout=20) as response,
    ):
        told = events(response)
        assert next(told)[0] == "open"
        kept(ctx, "Theirs", namespace="theirs")
        ask(ctx, "a secret question", "theirs")
        ask(ctx, "an open question", "ours")
        kept(ctx, "Ours", namespace="ours")
        seen = [next(told), next(told)]
    assert {entry.get("query") or entry.get("title") for _, entry in seen} == {"an open question", "Ours"}


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}])
def test_it_needs_a_token_where_one_is_needed(ctx, headers):
    with serving(ctx, AuthPolicy("127.0.0.1", "secret")) as url:
        assert httpx.get(f"{url}/api/v1/live", headers=headers).status_code == 401
