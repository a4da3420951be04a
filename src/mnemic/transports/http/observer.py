"""ASGI middleware that measures every request and reports it to metrics, log and traces."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mnemic.transports.http.auth import CONTEXT

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

UNROUTED = "none"
"""Route of a request that was refused before routing, or whose path nobody serves."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A finished request: what was asked for, by whom, with what result, and how long it took."""

    method: str
    route: str
    """The path as declared, so that ids in paths do not make new routes."""
    status: int
    seconds: float
    began_ns: int
    """Wall clock at the start, in nanoseconds since 1970."""
    actor: str
    """The token's name, or empty if none was needed."""
    trace_parent: str
    """The W3C trace context of the caller, or empty."""


Report = Callable[[Exchange], None]


class Observer:
    """Measures the requests of *app* and hands each to *reports* when it is answered."""

    def __init__(self, app: ASGIApp, reports: Sequence[Report]):
        self._app = app
        self._reports = reports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; report it when the response is complete or has failed."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began_ns, began, status = time.time_ns(), time.perf_counter(), 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            exchange = _exchange(scope, status, time.perf_counter() - began, began_ns)
            for report in self._reports:
                report(exchange)


def _exchange(scope: Scope, status: int, seconds: float, began_ns: int) -> Exchange:
    ctx = scope.get(CONTEXT)
    return Exchange(
        method=scope["method"],
        route=getattr(scope.get("route"), "path", UNROUTED),
        status=status,
        seconds=seconds,
        began_ns=began_ns,
        actor=ctx.actor if ctx is not None and ctx.grant is not None else "",
        trace_parent=next(
            (text.decode("latin-1") for name, text in scope["headers"] if name == b"traceparent"), ""
        ),
    )
