"""The daemon: REST, MCP and the pages on one port, behind the guard."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from mnemic.app import DIALECTS, EVERY, dialect
from mnemic.core.uses import Uses
from mnemic.errors import Invalid, MnemicError, NotFound, Unavailable
from mnemic.surfaces.bridge import Internal
from mnemic.surfaces.connections import Connections, LimitedProtocol, capacity
from mnemic.surfaces.guard import Guard, Policy, check_start
from mnemic.surfaces.jobs import Settler, Worker
from mnemic.surfaces.mcp import Endpoint, Offer, offer
from mnemic.surfaces.pages import page_routes
from mnemic.surfaces.replies import NotAllowed, problem
from mnemic.surfaces.rest import Rest
from mnemic.surfaces.routes import in_order
from mnemic.surfaces.signals import LAST_SECONDS, end_within, stopped_by_signals
from mnemic.surfaces.streamable import Streamable
from mnemic.surfaces.streams import Watch
from mnemic.surfaces.workers import Workers

if TYPE_CHECKING:
    from mnemic.app import App
    from mnemic.core.context import Context
    from mnemic.dialects.operation import Dialect

HOUSE = "mnemic"
GRACE_SECONDS = 5
"""How long calls in progress may go on after the daemon was asked to stop."""
BACKLOG = 1024


def run_http(app: App, host: str, port: int, on_ready: Callable[[str], None] | None = None) -> None:
    """Serve *app* until a signal says stop; *on_ready* is told the address once it is ours."""
    policy = Policy(host, app.settings.token)
    check_start(policy, app.ctx)
    worker = Worker(app.ctx)
    ctx = replace(app.ctx, wake=worker.wake, uses=(uses := Uses()), deferred=uses)
    settler = Settler(ctx)
    served = http_app(ctx, policy, offered=offer(app.settings))
    # uvicorn raises the signal that ended it once more; by then it must find a handler that does nothing.
    with bound(host, port) as listener, stopped_by_signals():
        if on_ready:
            on_ready(address(listener))
        worker.start()
        settler.start()
        Server(served).run(sockets=[listener])
    settler.stop()
    worker.stop()


class Server(uvicorn.Server):
    """uvicorn: quiet, without WebSockets, and not there for long after it was asked to end."""

    def __init__(self, served: Starlette):
        self._watch: Watch = served.state.watch
        config = uvicorn.Config(
            served,
            log_level="warning",
            access_log=False,
            server_header=False,
            ws="none",
            http=_protocol(),
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        super().__init__(config)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end, and see to it that the end comes."""
        if not self.should_exit:
            end_within(GRACE_SECONDS + LAST_SECONDS)
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, which would not end by themselves, then wait for what is in progress."""
        self._watch.close()
        await super().shutdown(sockets)


def _protocol() -> Any:
    """What a connection is spoken to with: one registry of connections for the whole daemon."""
    return functools.partial(LimitedProtocol, connections=Connections(capacity()))


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there, or an error that says why not."""
    # The protocol must be named: asyncio turns Nagle's delay of 40 ms off only where it reads TCP.
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, proto=socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise _unbound(host, port, error) from None
    return listener


def _unbound(host: str, port: int, error: OSError) -> MnemicError:
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return Invalid(f"host: not an address of this machine: {host}", "host")
    if error.errno == errno.EADDRINUSE:
        return Unavailable(f"Port {port} on {host} is taken; choose another with --port.")
    return Unavailable(f"Port {port} on {host} cannot be used: {error.strerror}.")


def address(listener: socket.socket) -> str:
    """Where *listener* is reached."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def http_app(
    ctx: Context,
    policy: Policy,
    dialects: Mapping[str, Dialect] | None = None,
    offered: Offer | None = None,
) -> Starlette:
    """The ASGI application over *ctx*, for these vocabularies or for all, and then for the view of them too."""
    spoken = dialects or {name: dialect(name) for name in DIALECTS}
    views = {} if dialects else {EVERY: dialect(EVERY)}
    watch, workers = Watch(ctx.store), Workers()
    mcp = {name: Streamable(Endpoint(one, offered), watch) for name, one in {**spoken, **views}.items()}
    served = Starlette(
        routes=in_order((*_mcp_routes(mcp), *page_routes(), *Rest(spoken, views).routes())),
        middleware=[Middleware(Guard, ctx=ctx, policy=policy, workers=workers)],
        exception_handlers={
            MnemicError: _failed,
            HTTPException: _refused,
            ClientDisconnect: _left,
            Exception: _broke,
        },
        lifespan=functools.partial(_running, workers),
    )
    served.state.watch = watch
    return served


def _mcp_routes(mcp: Mapping[str, Streamable]) -> Iterator[Route]:
    """Every dialect at its name, the house (or whoever is first) also at /mcp."""
    yield Route("/mcp", mcp.get(HOUSE, next(iter(mcp.values()))))
    for name, streamable in mcp.items():
        yield Route(f"/mcp/{name}", streamable)


@contextlib.asynccontextmanager
async def _running(workers: Workers, _: Starlette) -> AsyncIterator[None]:
    """What lasts as long as the daemon: its threads, which are told at the end that nobody waits any more."""
    yield
    workers.close(LAST_SECONDS / 2)


async def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, MnemicError)
    return problem(error)


async def _refused(request: Request, error: Exception) -> Response:
    """What the router refuses: an address or a method it does not know. OPTIONS is told the methods."""
    assert isinstance(error, HTTPException)
    if error.status_code != 405:
        return problem(NotFound("There is nothing at this address."))
    if request.method == "OPTIONS":
        return Response(status_code=204, headers=error.headers)
    return problem(NotAllowed(f"{request.method} is not possible here."), headers=error.headers)


async def _left(request: Request, error: Exception) -> Response:
    return Response(status_code=400)


async def _broke(request: Request, error: Exception) -> Response:
    return problem(Internal("internal error"))
