"""Probes of an orchestrator: `/livez` (the process answers) and `/readyz` (the store answers too)."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from mnemic.dialects.execution import guarded
from mnemic.errors import MnemicError
from mnemic.transports.http.auth import CONTEXT, LIVE, READY
from mnemic.transports.workers import Caller, Workers


class Probes:
    """The two probes. They need no token and tell nothing but ok or not."""

    def __init__(self) -> None:
        self._caller = Caller("probe", Workers(threads=1))
        """Own thread, so that a probe never waits behind work."""

    def routes(self) -> Iterator[Route]:
        """`/livez` and `/readyz`."""
        yield Route(LIVE, self.live)
        yield Route(READY, self.ready)

    async def live(self, request: Request) -> Response:
        """200 while the event loop runs."""
        return PlainTextResponse("ok")

    async def ready(self, request: Request) -> Response:
        """200 if the store can be read, else 503: send no traffic here."""
        ctx = request.scope[CONTEXT]
        try:
            await self._caller.run(guarded, functools.partial(ctx.engines.probe, ctx.store))
        except MnemicError:
            return PlainTextResponse("the store does not answer", 503)
        return PlainTextResponse("ok")
