"""An MCP SDK client of a drop-in dialect over stdio, with the real model."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import mcp_types as types
from mcp import Client, StdioServerParameters
from server_process import environment

T = TypeVar("T")

Work = Callable[["Caller"], Awaitable[T]]


class Caller:
    """Calls tools through an SDK client and reads their answers."""

    def __init__(self, client: Client):
        self.client = client

    async def result(self, tool: str, **arguments: Any) -> types.CallToolResult:
        """The answer as it came."""
        return await self.client.call_tool(tool, arguments)

    async def text(self, tool: str, **arguments: Any) -> str:
        """The only text block of the answer."""
        answer = await self.result(tool, **arguments)
        [block] = answer.content
        assert isinstance(block, types.TextContent)
        return block.text

    async def json(self, tool: str, **arguments: Any) -> Any:
        """The only text block of the answer, which must be JSON."""
        return json.loads(await self.text(tool, **arguments))

    async def refused(self, tool: str, **arguments: Any) -> str:
        """The text of an answer that says the call failed."""
        answer = await self.result(tool, **arguments)
        assert answer.is_error, answer
        return "".join(block.text for block in answer.content if isinstance(block, types.TextContent))


def over_stdio(home: Path, dialect: str, work: Work[T], *options: str, **variables: str) -> T:
    """What *work* returns, done by a client of `mnemic mcp --dialect …` with the model that ships."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "mnemic", "mcp", "--dialect", dialect, *options],
        env={**environment(home), "MNEMIC_EMBEDDER": "local", **variables},
    )

    async def connected() -> T:
        async with Client(server) as client:
            return await work(Caller(client))

    return asyncio.run(connected())
