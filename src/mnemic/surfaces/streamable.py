"""MCP over streamable HTTP, in both protocol eras: a POST is a message, and what it is answered with.

Where there is something to subscribe to, a GET or a `subscriptions/listen` is a stream, and a DELETE ends it. Of any
other client we need no memory.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from mnemic.errors import Invalid
from mnemic.surfaces import headers
from mnemic.surfaces.guard import ADMIT, CALLER, CONTEXT
from mnemic.surfaces.jsonrpc import (
    CLIENT_KEY,
    INVALID_REQUEST,
    PARSE_ERROR,
    SLOW,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
    Id,
    Message,
    Notification,
    Refused,
    Request,
    answered,
    check_envelope,
    check_version,
    failure,
    read_message,
)
from mnemic.surfaces.mcp import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    Endpoint,
    ProtocolError,
    Result,
    client_name,
)
from mnemic.surfaces.sessions import Sessions, is_session, new_session, session_name
from mnemic.surfaces.streams import EventStream, Listener, Watch, event
from mnemic.surfaces.subscriptions import LISTEN, SUBSCRIBE, SUBSCRIBING
from mnemic.surfaces.workers import Caller

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from mnemic.core.context import Context

Incoming = Request | Notification | None

STATUS: Mapping[int, int] = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    headers.MISMATCH: 400,
    UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}
"""The status of an error in the 2026 revision; any other is 200, as all are after a handshake."""


class Streamable:
    """The address of one dialect: an ASGI app that remembers nothing of a client but what it subscribed to."""

    def __init__(self, endpoint: Endpoint, watch: Watch):
        self._endpoint = endpoint
        self._watch = watch
        self._sessions = Sessions()
        self._verbs: dict[str, Callable[[HttpRequest], Awaitable[Response]]] = {"POST": self._post}
        if endpoint.can_be_subscribed:
            self._verbs |= {"GET": self._get, "DELETE": self._delete}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request that the guard let pass."""
        if scope["method"] not in self._verbs:
            raise HTTPException(405, headers={"Allow": ", ".join(self._verbs)})
        response = await self._verbs[scope["method"]](HttpRequest(scope, receive))
        await response(scope, receive, send)

    async def _get(self, http: HttpRequest) -> Response:
        """The stream of a session, which any client that shook hands may open, before it subscribes or after."""
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
            return _told(failure(None, refusal), 406)
        except Refused as refusal:
            return _told(failure(refusal.id, refusal), 400)
        respond = self._respond_modern if headers.is_modern(http.headers) else self._respond
        return await respond(http, message, kind)

    async def _respond(self, http: HttpRequest, message: Incoming, kind: str) -> Response:
        """The response in a revision with a handshake."""
        session = http.headers.get(headers.SESSION)
        if self._sessions.has_ended(session):
            return _has_ended(message.id if isinstance(message, Request) else None)
        if not isinstance(message, Request):
            return Response(status_code=202)
        if message.method == "initialize":
            return self._welcome(http, message, kind)
        if message.method in SUBSCRIBING and self._endpoint.can_be_subscribed:
            newest = await self._watch.look()
            listener = self._sessions.of(_session(http))
            return _told(answered(message, lambda it: self._subscribe(listener, it, newest)), kind=kind)
        ctx = _named(http, session_name(session))
        answer = await _answer(http, message, lambda it: self._endpoint.handle(ctx, it.method, it.params))
        return _told(answer, kind=kind)

    def _welcome(self, http: HttpRequest, hello: Request, kind: str) -> Response:
        ctx = _named(http, None)
        answer = answered(hello, lambda it: self._endpoint.initialize(ctx, it.params))
        response = _told(answer, kind=kind)
        if "result" in answer:
            response.headers[headers.SESSION] = new_session(hello.params)
        return response

    def _subscribe(self, listener: Listener, request: Request, newest: int) -> Result:
        address = self._endpoint.live_address(request.params)
        if request.method == SUBSCRIBE:
            listener.subscribe(address, newest)
        else:
            listener.addresses.discard(address)
        return {}

    async def _respond_modern(self, http: HttpRequest, message: Incoming, kind: str) -> Response:
        """The response in the 2026 revision, which wants a status to go with an error."""
        try:
            if not isinstance(message, Request):
                return _taken(http, message)
            ctx = _introduced(http, message)
            if message.method == LISTEN and self._endpoint.can_be_subscribed:
                return await self._listen(http, message)
            answer = await _answer(
                http, message, lambda it: self._endpoint.handle_modern(ctx, it.method, it.params)
            )
        except ProtocolError as error:
            answer = failure(message.id if isinstance(message, Request) else None, error)
        failed = answer.get("error")
        return _told(answer, STATUS.get(failed["code"], 200) if failed else 200, kind)

    async def _listen(self, http: HttpRequest, request: Request) -> Response:
        """The stream that is the answer to `subscriptions/listen`."""
        if not headers.takes_events(http.headers):
            return _needs_events(request.id)
        listener = Listener(self._endpoint.live_addresses(request.params), await self._watch.look())
        return self._stream(http, listener, request.id)

    def _stream(self, http: HttpRequest, listener: Listener, listen: Id | None = None) -> Response:
        caller: Caller = http.scope[CALLER]
        self._watch.check_room(caller.client)
        return EventStream(self._watch, listener, caller, http.scope[ADMIT], listen)


def _introduced(http: HttpRequest, request: Request) -> Context:
    """The context of a request of the 2026 revision, or ProtocolError if it does not say what it has to."""
    meta = request.params.get("_meta")
    envelope = meta if isinstance(meta, Mapping) else {}
    check_envelope(envelope)
    headers.check_repeated(http.headers, request, envelope)
    check_version(envelope[VERSION_KEY])
    return _named(http, client_name(envelope.get(CLIENT_KEY)))


def _session(http: HttpRequest) -> str:
    """The id of the session that a request belongs to, or Invalid."""
    session = http.headers.get(headers.SESSION)
    if session is None or not is_session(session):
        raise Invalid(f"{headers.SESSION}: must be what `initialize` was answered with")
    return session


def _has_ended(id: Id | None) -> Response:
    return _told(failure(id, Refused(INVALID_REQUEST, f"{headers.SESSION}: this session has ended")), 404)


def _needs_events(id: Id | None) -> Response:
    return _told(failure(id, Refused(INVALID_REQUEST, f"Accept: must name {headers.EVENTS}")), 406)


async def _answer(http: HttpRequest, request: Request, result: Callable[[Request], Result]) -> Message:
    """The answer to *request*, worked out in a thread if it has to ask the store."""
    if request.method in SLOW:
        caller: Caller = http.scope[CALLER]
        return await caller.run(answered, request, result)
    return answered(request, result)


def _taken(http: HttpRequest, message: Notification | None) -> Response:
    """The response to what wants no answer: a notification may come, an answer may not, for we ask nothing."""
    if message is None:
        raise ProtocolError(INVALID_REQUEST, "Invalid request: must be a request or a notification")
    check_version(http.headers.get(headers.VERSION))
    return Response(status_code=202)


def _told(message: Message, status: int = 200, kind: str = headers.JSON) -> Response:
    """*message* as the client accepts it."""
    body = event(message) if kind == headers.EVENTS else orjson.dumps(message)
    # Without a charset: a stream of events has none, and JSON needs none.
    return Response(body, status, {"Content-Type": kind, "Cache-Control": "no-store"})


def _named(http: HttpRequest, name: str | None) -> Context:
    """The context that the guard gave this request, under the name the client gave itself."""
    ctx: Context = http.scope[CONTEXT]
    return ctx.on_behalf_of(name) if name else ctx
