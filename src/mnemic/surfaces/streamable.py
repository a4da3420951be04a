"""MCP over streamable HTTP, in both protocol eras: a POST is a message, and what it is answered with.

No session is kept, and nothing is sent that was not asked for, so there is nothing to GET or to DELETE.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import orjson
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from mnemic.surfaces import headers
from mnemic.surfaces.bridge import cross
from mnemic.surfaces.guard import CONTEXT
from mnemic.surfaces.jsonrpc import (
    CLIENT_KEY,
    INVALID_REQUEST,
    PARSE_ERROR,
    SLOW,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
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
    clean_name,
    client_name,
)

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
    """The address of one dialect: an ASGI app that needs no memory of the client."""

    def __init__(self, endpoint: Endpoint):
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one POST that the guard let pass."""
        response = await self._response(HttpRequest(scope, receive))
        await response(scope, receive, send)

    async def _response(self, http: HttpRequest) -> Response:
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
        if not isinstance(message, Request):
            return Response(status_code=202)
        if message.method == "initialize":
            return self._welcome(message, kind)
        ctx = _named(http, session_name(http.headers.get(headers.SESSION)))
        answer = await _answer(message, lambda it: self._endpoint.handle(ctx, it.method, it.params))
        return _told(answer, kind=kind)

    def _welcome(self, hello: Request, kind: str) -> Response:
        answer = answered(hello, lambda it: self._endpoint.initialize(it.params))
        response = _told(answer, kind=kind)
        if "result" in answer:
            response.headers[headers.SESSION] = new_session(hello.params)
        return response

    async def _respond_modern(self, http: HttpRequest, message: Incoming, kind: str) -> Response:
        """The response in the 2026 revision, which wants a status to go with an error."""
        try:
            if not isinstance(message, Request):
                return _taken(http, message)
            answer = await self._answer_modern(http, message)
        except ProtocolError as error:
            answer = failure(message.id if isinstance(message, Request) else None, error)
        failed = answer.get("error")
        return _told(answer, STATUS.get(failed["code"], 200) if failed else 200, kind)

    async def _answer_modern(self, http: HttpRequest, request: Request) -> Message:
        meta = request.params.get("_meta")
        envelope = meta if isinstance(meta, Mapping) else {}
        check_envelope(envelope)
        headers.check_repeated(http.headers, request, envelope)
        check_version(envelope[VERSION_KEY])
        ctx = _named(http, client_name(envelope.get(CLIENT_KEY)))
        return await _answer(request, lambda it: self._endpoint.handle_modern(ctx, it.method, it.params))


async def _answer(request: Request, result: Callable[[Request], Result]) -> Message:
    """The answer to *request*, worked out in a thread if it has to ask the store."""
    if request.method in SLOW:
        return await cross(answered, request, result)
    return answered(request, result)


def _taken(http: HttpRequest, message: Notification | None) -> Response:
    """The response to what wants no answer: a notification may come, an answer may not, for we ask nothing."""
    if message is None:
        raise ProtocolError(INVALID_REQUEST, "Invalid request: must be a request or a notification")
    check_version(http.headers.get(headers.VERSION))
    return Response(status_code=202)


def _told(message: Message, status: int = 200, kind: str = headers.JSON) -> Response:
    """*message* as the client accepts it."""
    body = orjson.dumps(message)
    if kind == headers.EVENTS:
        body = b"event: message\r\ndata: " + body + b"\r\n\r\n"
    # Without a charset: a stream of events has none, and JSON needs none.
    return Response(body, status, {"Content-Type": kind, "Cache-Control": "no-store"})


def _named(http: HttpRequest, name: str | None) -> Context:
    """The context that the guard gave this request, under the name the client gave itself."""
    ctx: Context = http.scope[CONTEXT]
    return ctx.on_behalf_of(name) if name else ctx


def new_session(hello: Mapping[str, Any]) -> str:
    """The session id to hand out for an `initialize` with these parameters.

    We keep no session. The id carries the client's name, so that the requests that follow, which would
    not say it in the older revisions, bring it along: even to a daemon that was restarted meanwhile.
    """
    return f"{quote(client_name(hello.get('clientInfo')) or '', safe='')}~{secrets.token_hex(8)}"


def session_name(session: str | None) -> str | None:
    """The client's name in a session id of ours."""
    name, mark, _ = (session or "").rpartition("~")
    return clean_name(unquote(name)) if mark else None
