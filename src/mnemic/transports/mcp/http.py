"""MCP over streamable HTTP, in both protocol eras: each POST is one message.

If there is something to subscribe to, GET or `subscriptions/listen` opens a stream and DELETE ends it. Other clients
need no state.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from mnemic.errors import Invalid
from mnemic.transports.http.auth import ADMIT, CALLER, CONTEXT
from mnemic.transports.mcp import headers
from mnemic.transports.mcp.client_sessions import (
    Sessions,
    is_session,
    new_session,
    session_name,
    session_shows_apps,
)
from mnemic.transports.mcp.jsonrpc import (
    CLIENT_KEY,
    INVALID_REQUEST,
    PARSE_ERROR,
    SLOW,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
    BadMessage,
    Id,
    Message,
    Notification,
    RpcRequest,
    answered,
    check_envelope,
    check_version,
    failure,
    read_message,
)
from mnemic.transports.mcp.methods import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    Endpoint,
    ProtocolError,
    Result,
    client_name,
)
from mnemic.transports.mcp.sse import EventStream, SubscribedClient, Watch, event
from mnemic.transports.mcp.subscriptions import LISTEN, SUBSCRIBE, SUBSCRIBING
from mnemic.transports.workers import Caller

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from mnemic.core.context import Context
    from mnemic.model.change import Position

Incoming = RpcRequest | Notification | None

STATUS: Mapping[int, int] = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    headers.MISMATCH: 400,
    UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}
"""Status by error in the 2026 revision; otherwise 200, as always after a handshake."""


class Streamable:
    """MCP endpoint of one dialect: an ASGI app without client state except subscriptions."""

    def __init__(self, endpoint: Endpoint, watch: Watch):
        self._endpoint = endpoint
        self._watch = watch
        self._sessions = Sessions()
        self._verbs: dict[str, Callable[[HttpRequest], Awaitable[Response]]] = {"POST": self._post}
        if endpoint.can_be_subscribed:
            self._verbs |= {"GET": self._get, "DELETE": self._delete}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one authenticated request."""
        if scope["method"] not in self._verbs:
            raise HTTPException(405, headers={"Allow": ", ".join(self._verbs)})
        response = await self._verbs[scope["method"]](HttpRequest(scope, receive))
        await response(scope, receive, send)

    async def _get(self, http: HttpRequest) -> Response:
        """The event stream of a session; clients may open it before or after they subscribe."""
        if not headers.takes_events(http.headers):
            return _needs_events(None)
        session = _session(http)
        if self._sessions.has_ended(session):
            return _has_ended(None)
        return self._stream(http, self._sessions.of(session))

    async def _delete(self, http: HttpRequest) -> Response:
        self._sessions.end(_session(http))
        self._watch.wake()
        return Response(status_code=204)

    async def _post(self, http: HttpRequest) -> Response:
        try:
            headers.check_content_type(http.headers)
            kind = headers.accepted(http.headers)
            message = read_message(await http.body())
        except headers.NotAcceptable as refusal:
            return _response(failure(None, refusal), 406)
        except BadMessage as refusal:
            return _response(failure(refusal.id, refusal), 400)
        respond = self._respond_modern if headers.is_modern(http.headers) else self._respond
        return await respond(http, message, kind)

    async def _respond(self, http: HttpRequest, message: Incoming, kind: str) -> Response:
        """The response in a revision with a handshake."""
        session = http.headers.get(headers.SESSION)
        if self._sessions.has_ended(session):
            return _has_ended(message.id if isinstance(message, RpcRequest) else None)
        if not isinstance(message, RpcRequest):
            return Response(status_code=202)
        if message.method == "initialize":
            return self._welcome(http, message, kind)
        if message.method in SUBSCRIBING and self._endpoint.can_be_subscribed:
            newest = await self._watch.look()
            listener = self._sessions.of(_session(http))
            return _response(answered(message, lambda it: self._subscribe(listener, it, newest)), kind=kind)
        ctx = _connected(_named(http, session_name(session)), session)
        apps = session_shows_apps(session)
        answer = await _answer(
            http, message, lambda it: self._endpoint.handle(ctx, it.method, it.params, apps=apps)
        )
        return _response(answer, kind=kind)

    def _welcome(self, http: HttpRequest, hello: RpcRequest, kind: str) -> Response:
        ctx = _named(http, None)
        answer = answered(hello, lambda it: self._endpoint.initialize(ctx, it.params))
        response = _response(answer, kind=kind)
        if "result" in answer:
            response.headers[headers.SESSION] = new_session(hello.params)
        return response

    def _subscribe(self, listener: SubscribedClient, request: RpcRequest, newest: Position) -> Result:
        address = self._endpoint.live_address(request.params)
        if request.method == SUBSCRIBE:
            listener.subscribe(address, newest)
        else:
            listener.addresses.discard(address)
        return {}

    async def _respond_modern(self, http: HttpRequest, message: Incoming, kind: str) -> Response:
        """The response in the 2026 revision, where errors have a status."""
        try:
            if not isinstance(message, RpcRequest):
                return _accepted(http, message)
            ctx = _introduced(http, message)
            if message.method == LISTEN and self._endpoint.can_be_subscribed:
                return await self._listen(http, message)
            answer = await _answer(
                http, message, lambda it: self._endpoint.handle_modern(ctx, it.method, it.params)
            )
        except ProtocolError as error:
            answer = failure(message.id if isinstance(message, RpcRequest) else None, error)
        failed = answer.get("error")
        return _response(answer, STATUS.get(failed["code"], 200) if failed else 200, kind)

    async def _listen(self, http: HttpRequest, request: RpcRequest) -> Response:
        """The stream that answers `subscriptions/listen`."""
        if not headers.takes_events(http.headers):
            return _needs_events(request.id)
        listener = SubscribedClient(self._endpoint.live_addresses(request.params), await self._watch.look())
        return self._stream(http, listener, request.id)

    def _stream(self, http: HttpRequest, listener: SubscribedClient, listen: Id | None = None) -> Response:
        caller: Caller = http.scope[CALLER]
        self._watch.check_room(caller.client)
        return EventStream(self._watch, listener, caller, http.scope[ADMIT], listen)


def _introduced(http: HttpRequest, request: RpcRequest) -> Context:
    """The context of a 2026 request; ProtocolError if required metadata is missing."""
    meta = request.params.get("_meta")
    envelope = meta if isinstance(meta, Mapping) else {}
    check_envelope(envelope)
    headers.check_repeated(http.headers, request, envelope)
    check_version(envelope[VERSION_KEY])
    return _named(http, client_name(envelope.get(CLIENT_KEY)))


def _session(http: HttpRequest) -> str:
    """The session id of a request, or Invalid."""
    session = http.headers.get(headers.SESSION)
    if session is None or not is_session(session):
        raise Invalid(f"{headers.SESSION}: must be what `initialize` was answered with")
    return session


def _has_ended(id: Id | None) -> Response:
    return _response(
        failure(id, BadMessage(INVALID_REQUEST, f"{headers.SESSION}: this session has ended")), 404
    )


def _needs_events(id: Id | None) -> Response:
    return _response(failure(id, BadMessage(INVALID_REQUEST, f"Accept: must name {headers.EVENTS}")), 406)


async def _answer(http: HttpRequest, request: RpcRequest, result: Callable[[RpcRequest], Result]) -> Message:
    """The answer to *request*, computed in a worker thread if it reads the store."""
    if request.method in SLOW:
        caller: Caller = http.scope[CALLER]
        return await caller.run(answered, request, result)
    return answered(request, result)


def _accepted(http: HttpRequest, message: Notification | None) -> Response:
    """The response to a message without an answer: notifications are accepted, answers refused."""
    if message is None:
        raise ProtocolError(INVALID_REQUEST, "Invalid request: must be a request or a notification")
    check_version(http.headers.get(headers.VERSION))
    return Response(status_code=202)


def _response(message: Message, status: int = 200, kind: str = headers.JSON) -> Response:
    """*message* in a content type the client accepts."""
    body = event(message) if kind == headers.EVENTS else orjson.dumps(message)
    # No charset: event streams have none and JSON needs none.
    return Response(body, status, {"Content-Type": kind, "Cache-Control": "no-store"})


def _connected(ctx: Context, session: str | None) -> Context:
    """*ctx* over the connection that an MCP session is; its id itself is not stored."""
    if session is None or not is_session(session):
        return ctx
    return ctx.over(hashlib.sha256(session.encode()).hexdigest()[:32])


def _named(http: HttpRequest, name: str | None) -> Context:
    """The request's context, with the client's own name as actor."""
    ctx: Context = http.scope[CONTEXT]
    return ctx.on_behalf_of(name) if name else ctx
