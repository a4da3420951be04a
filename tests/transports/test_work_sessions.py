"""Two windows of one client: each is in its own work session, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import Implementation
from server_process import environment, serving
from stdio_client import Caller

ME = Implementation(name="editor", version="1")


def windows(where: Any, **options: Any) -> list[Client]:
    """Two connections of the same client."""
    return [Client(where, client_info=ME, **options) for _ in range(2)]


async def work_in(clients: list[Client]) -> None:
    """One window works in a session of its own while the other begins and ends another."""
    async with AsyncExitStack() as stack:
        one, other = [Caller(await stack.enter_async_context(client)) for client in clients]
        first = (await one.json("session", action="start", topic="pumps"))["session"]["id"]
        assert "No session is open" in await other.refused("session", action="end")
        kept = (await other.json("remember", text="Valves are red"))["stored"][0]["id"]
        second = (await other.json("session", action="start", topic="valves"))["session"]["id"]
        assert second != first
        await other.json("remember", text="Valves open at noon")
        assert (await other.json("session", action="end", summary="valves done"))["session"]["id"] == second
        pump = (await one.json("remember", text="The pump is blue"))["stored"][0]["id"]
        assert (await one.json("session", action="log", user="And now?"))["session"]["id"] == first
        shown = await one.json("open", ids=[str(kept), str(pump)])
        assert [memory.get("session") for memory in shown["memories"]] == [None, first]
        assert (await one.json("session", action="end", summary="pumps done"))["session"]["id"] == first


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
def test_two_processes_of_one_client_have_sessions_of_their_own(tmp_path, era):
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "mnemic", "mcp", "--tools", "all"], env=environment(tmp_path)
    )
    asyncio.run(work_in(windows(server, mode=era)))


def test_two_mcp_sessions_of_one_client_have_sessions_of_their_own(ctx):
    with serving(ctx) as url:
        asyncio.run(work_in(windows(f"{url}/mcp", mode="legacy")))


def test_without_a_protocol_session_the_call_names_the_work_session(ctx):
    """The revision of 2026 has no connection over HTTP, so each window names the session it began."""

    async def work(clients: list[Client]) -> None:
        async with AsyncExitStack() as stack:
            one, other = [Caller(await stack.enter_async_context(client)) for client in clients]
            first = (await one.json("session", action="start", topic="pumps"))["session"]["id"]
            second = (await other.json("session", action="start", topic="valves"))["session"]["id"]
            assert (await one.json("session", action="log", user="Now?", id=first))["session"]["id"] == first
            assert (await one.json("session", action="end", id=first))["session"]["id"] == first
            assert (await other.json("session", action="end", id=second))["session"]["id"] == second

    with serving(ctx) as url:
        asyncio.run(work(windows(f"{url}/mcp", mode="2026-07-28")))
