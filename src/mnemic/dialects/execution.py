"""The one path of a call, for every transport, the command line and the tests: resolve, parse, run, render.

Authorisation is part of the context: its reader and writer are limited to what the caller was granted.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import orjson
from pydantic import BaseModel

from mnemic.dialects.framework import Dialect, Operation, Rendered, Tool, as_json
from mnemic.errors import MnemicError

if TYPE_CHECKING:
    from mnemic.core.context import Context

log = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")


class Internal(MnemicError):
    """An unexpected failure. The cause is logged, never part of the message."""

    code = "internal"


@dataclass(frozen=True, slots=True)
class CallResult:
    """Result of a call: the reply as the dialect renders it, and the error if there is one."""

    rendered: Rendered
    error: MnemicError | None = None


def answer(dialect: Dialect, ctx: Context, name: str, arguments: Mapping[str, Any]) -> CallResult:
    """Call the tool *name*. Never raises: every failure becomes a result that is safe to show."""
    try:
        tool = dialect.resolve(name)
    except MnemicError as error:
        return CallResult(dialect.render_error(name, error), error)
    return answer_tool(tool, ctx, arguments)


def answer_tool(tool: Tool, ctx: Context, arguments: Mapping[str, Any]) -> CallResult:
    """Call a resolved tool. Never raises."""
    try:
        return CallResult(guarded(_rendered, tool, ctx, arguments))
    except MnemicError as error:
        return CallResult(tool.dialect.render_error(tool.operation.name, error), error)


def _rendered(tool: Tool, ctx: Context, arguments: Mapping[str, Any]) -> Rendered:
    return tool.dialect.render(run(tool.operation, ctx, tool.parse(arguments)))


def call(dialect: Dialect, ctx: Context, name: str, arguments: Mapping[str, Any]) -> BaseModel:
    """Call the tool *name* and return its reply, or raise an error of our tree."""
    tool = dialect.resolve(name)
    reply: BaseModel = run(tool.operation, ctx, tool.parse(arguments))
    return reply


def run(operation: Operation, ctx: Context, request: BaseModel) -> Any:
    """Run *operation* with a parsed request, counted as a call in progress; its reply."""
    with ctx.activity.call():
        return operation.function(_prepared(ctx, operation), request)


def _prepared(ctx: Context, operation: Operation) -> Context:
    """*ctx* prepared for *operation*: pending use counts are written first, except for operations that defer them."""
    if ctx.uses is None or operation.defers_uses:
        return ctx
    from mnemic.core.retention import settle

    settle(ctx)
    return replace(ctx, uses=None)


def perform(tool: Tool, ctx: Context, arguments: Mapping[str, Any]) -> bytes:
    """Run an endpoint or a command and return its JSON; every failure is an error of our tree."""
    return guarded(_performed, tool, ctx, arguments)


def _performed(tool: Tool, ctx: Context, arguments: Mapping[str, Any]) -> bytes:
    reply = run(tool.operation, ctx, tool.parse(arguments))
    return orjson.dumps(as_json(reply) if isinstance(reply, BaseModel) else reply)


def guarded(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """The result of *function*. An exception outside our error tree is logged and becomes Internal."""
    try:
        return function(*args, **kwargs)
    except MnemicError:
        raise
    except Exception:
        log.exception("unexpected failure")
        raise Internal("internal error") from None
