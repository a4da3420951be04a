"""The exact reply that an agent would get: playground."""

from __future__ import annotations

import time
from dataclasses import replace
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from mnemic.core.context import Context
from mnemic.dialects.execution import answer
from mnemic.dialects.framework import Shape
from mnemic.dialects.native.dialect import MNEMIC
from mnemic.dialects.native.types import Namespace, Request
from mnemic.model.text_size import estimated_tokens


class TriedTool(StrEnum):
    """The tools that only read."""

    RECALL = "recall"
    OPEN = "open"
    VERIFY = "verify"
    EXPLORE = "explore"
    HISTORY = "history"
    STATS = "stats"


class PlaygroundRequest(Request):
    """A call as an agent makes it."""

    tool: Annotated[TriedTool, Field(description="the tool to call")] = TriedTool.RECALL
    arguments: Annotated[dict[str, object], Field(description="its arguments")] = {}
    connected: Annotated[
        Namespace | None, Field(description="the namespace of the agent's connection (default: this one's)")
    ] = None


class PlaygroundReply(Shape):
    """The text that the agent reads, about how many tokens it has, and how long it took."""

    text: str
    tokens: int
    is_error: bool
    milliseconds: float


@MNEMIC.command(title="Playground")
def playground(ctx: Context, request: PlaygroundRequest) -> PlaygroundReply:
    """Call a reading tool as an agent would, and see the exact text it gets and its tokens. Leaves no trace."""
    agent = replace(ctx.without_trace(), namespace=request.connected or ctx.namespace)
    began = time.perf_counter()
    found = answer(MNEMIC, agent, request.tool, request.arguments)
    return PlaygroundReply(
        text=found.rendered.text,
        tokens=estimated_tokens(found.rendered.text),
        is_error=found.error is not None,
        milliseconds=round(1000 * (time.perf_counter() - began), 2),
    )
