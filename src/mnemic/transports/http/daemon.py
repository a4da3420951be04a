"""The HTTP daemon: REST, MCP and the web pages on one port, behind authentication."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
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
from mnemic.core.usage import Uses
from mnemic.dialects import NATIVE
from mnemic.dialects.execution import Internal
from mnemic.errors import Invalid, MnemicError, NotFound, Unavailable
from mnemic.transports.background import Settler, Worker
from mnemic.transports.folder_mirrors import folder_mirrors
from mnemic.transports.http.auth import AuthPolicy, Guard, Tokens, check_start
from mnemic.transports.http.browser_login import login_routes
from mnemic.transports.http.connections import Connections, LimitedProtocol, capacity
from mnemic.transports.http.cookies import Cookies
from mnemic.transports.http.live import Live
from mnemic.transports.http.metrics import Metrics
from mnemic.transports.http.oauth import issuer
from mnemic.transports.http.observer import Observer, Report
from mnemic.transports.http.openapi import PREFIX
from mnemic.transports.http.pages import page_routes
from mnemic.transports.http.probes import Probes
from mnemic.transports.http.request_log import configure, log_exchange
from mnemic.transports.http.responses import NotAllowed, problem
from mnemic.transports.http.rest import Rest
from mnemic.transports.http.routes import in_order
from mnemic.transports.http.traces import Tracer
from mnemic.transports.mcp.http import Streamable
from mnemic.transports.mcp.methods import Endpoint, Offer, offer
from mnemic.transports.mcp.sse import Watch
from mnemic.transports.signals import LAST_SECONDS, end_within, stopped_by_signals
from mnemic.transports.workers import Workers

if TYPE_CHECKING:
    from mnemic.app import App
    from mnemic.core.context import Context
    from mnemic.dialects.framework import Dialect

GRACE_SECONDS = 5
"""Grace period for calls in progress at shutdown."""
BACKLOG = 1024


def run_http(app: App, host: str, port: int, on_ready: Callable[[str], None] | None = None) -> None:
    """Serve *app* until a stop signal; *on_ready* gets the URL once the port is open."""
    policy = AuthPolicy(host, app.settings.token, issuer(app.settings))
    check_start(policy, app.ctx)
    worker = Worker(app.ctx)
    ctx = replace(app.ctx, wake=worker.wake, uses=(uses := Uses()), deferred=uses)
    settler = Settler(ctx)
    mirrors = folder_mirrors(ctx, app.settings.database, os.environ)
    configure(app.settings.log_format, app.settings.log_requests)
    tracer = Tracer(app.settings.otlp_endpoint) if app.settings.otlp_endpoint else None
    reports = (log_exchange,) if tracer is None else (log_exchange, tracer.observe)
    served = http_app(ctx, policy, offered=offer(app.settings), reports=reports)
    # uvicorn raises the signal again on exit; it must find a handler that does nothing.
    with bound(host, port) as listener, stopped_by_signals():
        if on_ready:
            on_ready(address(listener))
        worker.start()
        settler.start()
        mirrors.start()
        DaemonServer(served).run(sockets=[listener])
    mirrors.stop()
    settler.stop()
    worker.stop()
    if tracer is not None:
        tracer.close()


class DaemonServer(uvicorn.Server):
    """uvicorn configured: quiet, no WebSockets, bounded shutdown."""

    def __init__(self, served: Starlette):
        self._watch: Watch = served.state.watch
        config = uvicorn.Config(
            served,
            log_config=None,  # our own handler takes what uvicorn logs
            log_level="warning",
            access_log=False,
            server_header=False,
            ws="none",
            http=_protocol(),
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        super().__init__(config)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin shutdown and arm the deadline."""
        if not self.should_exit:
            end_within(GRACE_SECONDS + LAST_SECONDS)
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the streams, which never end on their own, then wait for calls in progress."""
        self._watch.close()
        await super().shutdown(sockets)


def _protocol() -> Any:
    """Protocol factory with one connection registry for the daemon."""
    return functools.partial(LimitedProtocol, connections=Connections(capacity()))


def bound(host: str, port: int) -> socket.socket:
    """A listening socket, or an error that says why there is none."""
    # Name the protocol: asyncio disables Nagle's 40 ms delay only for TCP sockets it recognises.
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
    """The URL of *listener*."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def http_app(
    ctx: Context,
    policy: AuthPolicy,
    dialects: Mapping[str, Dialect] | None = None,
    offered: Offer | None = None,
    reports: Sequence[Report] = (),
) -> Starlette:
    """The ASGI application over *ctx*, for these dialects or for all of them and `all`.

    Each finished request goes to the metrics and to *reports*.
    """
    spoken = dialects or {name: dialect(name) for name in DIALECTS}
    views = {} if dialects else {EVERY: dialect(EVERY)}
    watch, workers, metrics = Watch(ctx.store), Workers(), Metrics(ctx)
    mcp = {name: Streamable(Endpoint(one, offered), watch) for name, one in {**spoken, **views}.items()}
    tokens, cookies = Tokens(ctx, policy), Cookies()
    routes = (
        *_mcp_routes(mcp),
        *page_routes(),
        *login_routes(tokens, cookies),
        *Rest(spoken, views).routes(),
        Route(f"{PREFIX}/live", Live(watch)),
        *Probes().routes(),
        Route("/metrics", metrics.scrape),
        *(policy.issuer.routes(("/mcp", *(f"/mcp/{name}" for name in mcp))) if policy.issuer else ()),
    )
    served = Starlette(
        routes=in_order(routes),
        middleware=[
            Middleware(Observer, reports=(metrics.observe, *reports)),
            Middleware(Guard, ctx=ctx, policy=policy, tokens=tokens, cookies=cookies, workers=workers),
        ],
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
    """Each dialect under its name; the native one (or the first) also at /mcp."""
    yield Route("/mcp", mcp.get(NATIVE, next(iter(mcp.values()))))
    for name, streamable in mcp.items():
        yield Route(f"/mcp/{name}", streamable)


@contextlib.asynccontextmanager
async def _running(workers: Workers, _: Starlette) -> AsyncIterator[None]:
    """Lifespan of the daemon: its worker threads, cancelled at shutdown."""
    yield
    workers.close(LAST_SECONDS / 2)


async def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, MnemicError)
    return problem(error)


async def _refused(request: Request, error: Exception) -> Response:
    """Errors of the router: unknown path or method. OPTIONS lists the methods."""
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
