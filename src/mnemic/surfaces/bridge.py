"""The crossing between surfaces and dialects: a guarded call, and the one step from async to threads."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import orjson

from mnemic.errors import MnemicError

if TYPE_CHECKING:
    from mnemic.core.context import Context
    from mnemic.dialects.operation import Dialect, Operation, Rendered
    from mnemic.surfaces.workers import Caller

log = logging.getLogger(__name__)

QUICK_CHARACTERS = 500
QUICK_MEMORIES = 20_000

P = ParamSpec("P")
R = TypeVar("R")


class Internal(MnemicError):
    """Something broke that should not have. What it was is in the log, never in the message."""

    code = "internal"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call: the answer as the dialect tells it, and the error if it is one."""

    rendered: Rendered
    error: MnemicError | None = None


def answer(dialect: Dialect, ctx: Context, name: str, arguments: Mapping[str, Any]) -> Outcome:
    """Call the tool *name*. Never raises: every failure is an outcome that is safe to show."""
    spoken = dialect.home_of(name)
    try:
        return Outcome(guarded(_told, spoken, ctx, name, arguments))
    except MnemicError as error:
        return Outcome(spoken.render_error(name, error), error)


def _told(dialect: Dialect, ctx: Context, name: str, arguments: Mapping[str, Any]) -> Rendered:
    return dialect.render(dialect.call(_prepared(ctx, dialect.find(name)), name, arguments))


def _prepared(ctx: Context, operation: Operation) -> Context:
    """*ctx* as *operation* needs it: all but those that let their uses wait see them written, unless another writes."""
    if ctx.uses is None or operation.gathers_use:
        return ctx
    from mnemic.core.lifecycle import settle

    settle(ctx)
    return replace(ctx, uses=None)


def perform(dialect: Dialect, operation: Operation, ctx: Context, arguments: Mapping[str, Any]) -> bytes:
    """What an endpoint answers, as JSON; every failure is an error of our tree."""
    return guarded(_performed, dialect, operation, ctx, arguments)


def _performed(dialect: Dialect, operation: Operation, ctx: Context, arguments: Mapping[str, Any]) -> bytes:
    request = dialect.parse(operation, arguments)
    return orjson.dumps(operation.function(_prepared(ctx, operation), request))


def guarded(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """What *function* returns. An exception from outside our tree is logged and becomes Internal."""
    try:
        return function(*args, **kwargs)
    except MnemicError:
        raise
    except Exception:
        log.exception("unexpected failure")
        raise Internal("internal error") from None


async def serve(
    caller: Caller, dialect: Dialect, operation: Operation, ctx: Context, arguments: Mapping[str, Any]
) -> bytes:
    """`perform`, at once if it is quick, else in a worker thread."""
    if is_quick(operation, ctx, arguments):
        return perform(dialect, operation, ctx, arguments)
    return await caller.run(perform, dialect, operation, ctx, arguments)


def is_quick(operation: Operation, ctx: Context, arguments: Mapping[str, Any]) -> bool:
    """Whether a call is over before a thread would have taken it up: a few words, asked of a store that is not large.

    Threads that recall at once take the interpreter from each other at every row that SQLite gives, which costs more
    than the recall itself.
    """
    return (
        operation.gathers_use
        and ctx.uses is not None
        and ctx.embedder is None
        and ctx.language is None
        and sum(len(value) for value in arguments.values() if isinstance(value, str)) <= QUICK_CHARACTERS
        and guarded(ctx.store.read().size, None) <= QUICK_MEMORIES
    )


async def call(
    caller: Caller, dialect: Dialect, ctx: Context, name: str, arguments: Mapping[str, Any]
) -> Outcome:
    """`answer`, in a worker thread."""
    return await caller.run(answer, dialect, ctx, name, arguments)
