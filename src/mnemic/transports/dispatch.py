"""Dispatch of calls to worker threads; a call that is sooner done than handed over runs at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mnemic.dialects.execution import CallResult, answer, answer_tool, guarded, perform

if TYPE_CHECKING:
    from mnemic.core.context import Context
    from mnemic.dialects.framework import Dialect, Operation, Tool
    from mnemic.transports.workers import Caller

QUICK_CHARACTERS = 500
QUICK_MEMORIES = 20_000


async def call(
    caller: Caller, dialect: Dialect, ctx: Context, name: str, arguments: Mapping[str, Any]
) -> CallResult:
    """`answer`, in a worker thread."""
    return await caller.run(answer, dialect, ctx, name, arguments)


async def call_tool(caller: Caller, tool: Tool, ctx: Context, arguments: Mapping[str, Any]) -> CallResult:
    """`answer_tool`, in a worker thread."""
    return await caller.run(answer_tool, tool, ctx, arguments)


async def serve(caller: Caller, tool: Tool, ctx: Context, arguments: Mapping[str, Any]) -> bytes:
    """`perform`, inline if the call is quick, else in a worker thread."""
    if is_quick(tool.operation, ctx, arguments):
        return perform(tool, ctx, arguments)
    return await caller.run(perform, tool, ctx, arguments)


def is_quick(operation: Operation, ctx: Context, arguments: Mapping[str, Any]) -> bool:
    """Whether a call finishes sooner than a thread switch: a few words against a small store.

    Threads that recall concurrently contend for the interpreter at every row SQLite returns, which costs more than the
    recall itself.
    """
    return (
        operation.defers_uses
        and ctx.uses is not None
        and ctx.embedder is None
        and ctx.language is None
        and sum(len(value) for value in arguments.values() if isinstance(value, str)) <= QUICK_CHARACTERS
        and guarded(ctx.read().statistics, (), None).total <= QUICK_MEMORIES
    )
