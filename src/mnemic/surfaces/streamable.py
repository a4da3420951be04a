"""MCP over streamable HTTP: the SDK's server around an Endpoint, without sessions, in both protocol eras."""

from __future__ import annotations

import functools
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import mcp_types as types
import orjson
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from mnemic.errors import Invalid
from mnemic.surfaces.bridge import cross
from mnemic.surfaces.jsonrpc import PARSE_ERROR
from mnemic.surfaces.mcp import (
    MODERN_VERSIONS,
    Endpoint,
    ProtocolError,
    clean_name,
    client_name,
    server_info,
)
from mnemic.surfaces.parsing import parse_json

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

    from mnemic.core.context import Context

SESSION_HEADER = "mcp-session-id"

_PARAMS: Mapping[str, type[BaseModel]] = {
    "tools/list": types.PaginatedRequestParams,
    "tools/call": types.CallToolRequestParams,
    "prompts/list": types.PaginatedRequestParams,
    "prompts/get": types.GetPromptRequestParams,
    "resources/list": types.PaginatedRequestParams,
    "resources/templates/list": types.PaginatedRequestParams,
    "resources/read": types.ReadResourceRequestParams,
    "completion/complete": types.CompleteRequestParams,
    "logging/setLevel": types.SetLevelRequestParams,
    "server/discover": types.RequestParams,
}


def sdk_server(endpoint: Endpoint, ctx: Context) -> Server[Any]:
    """The SDK's server for *endpoint*; *ctx* is who acts when the transport says nothing else."""
    info = server_info()
    server: Server[Any] = Server(
        info["name"],
        version=info["version"],
        title=info["title"],
        instructions=endpoint.dialect.instructions,
        # No argument of ours travels in a header; without this the SDK lists all tools before each call.
        get_tool_input_schema=lambda name: None,
    )
    server.middleware.clear()  # tracing spans that nobody reads
    for method, params in _PARAMS.items():
        server.add_request_handler(method, params, functools.partial(_handle, endpoint, ctx))
    return server


async def _handle(endpoint: Endpoint, ctx: Context, request: ServerRequestContext[Any], _: BaseModel) -> Any:
    is_modern = request.protocol_version in MODERN_VERSIONS
    handle = endpoint.handle_modern if is_modern else endpoint.handle
    try:
        return await cross(handle, _caller(ctx, request), request.method, request.params or {})
    except ProtocolError as error:
        raise MCPError(error.number, str(error), error.data) from None


def _caller(ctx: Context, request: ServerRequestContext[Any]) -> Context:
    """On whose behalf: the guard's context for the HTTP request, under the name the client gave itself."""
    if isinstance(request.request, Request):
        ctx = request.request.scope.get("mnemic.ctx", ctx)
    if request.session.client_params is not None:
        name = client_name({"name": request.session.client_params.client_info.name})
    elif isinstance(request.request, Request):
        name = session_name(request.request.headers.get(SESSION_HEADER))
    else:
        name = None
    return ctx.on_behalf_of(name) if name else ctx


class Streamable:
    """The address of one dialect: an ASGI app that answers POST and needs no memory of the client."""

    def __init__(self, endpoint: Endpoint, ctx: Context):
        server = sdk_server(endpoint, ctx)
        self.manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one POST. The body is parsed here first: the SDK's parser lets more pass than we keep."""
        body = await Request(scope, receive).body()
        try:
            content = parse_json(body)
        except Invalid as error:
            await _parse_error(error)(scope, receive, send)
            return
        session = new_session(content)
        await self.manager.handle_request(scope, _replayed(body, receive), _naming(session, send))


def new_session(content: Any) -> str | None:
    """The session id to hand out for an `initialize`; None for any other message.

    We keep no session. The id carries the client's name, so that the requests that follow, which would
    not say it in the older revisions, bring it along: even to a daemon that was restarted meanwhile.
    """
    if not isinstance(content, Mapping) or content.get("method") != "initialize":
        return None
    params = content.get("params")
    name = client_name(params.get("clientInfo")) if isinstance(params, Mapping) else None
    return f"{quote(name or '', safe='')}~{secrets.token_hex(8)}"


def session_name(session: str | None) -> str | None:
    """The client's name in a session id of ours."""
    name, mark, _ = (session or "").rpartition("~")
    return clean_name(unquote(name)) if mark else None


def _naming(session: str | None, send: Send) -> Send:
    """*send*, adding the session id to a successful answer."""

    async def named(message: Message) -> None:
        if session and message["type"] == "http.response.start" and message["status"] == 200:
            headers = [*message.get("headers", ()), (SESSION_HEADER.encode(), session.encode())]
            message = {**message, "headers": headers}
        await send(message)

    return named


def _replayed(body: bytes, receive: Receive) -> Receive:
    """*receive* as it was before *body* was read from it."""
    left = [body]

    async def again() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return again


def _parse_error(error: Invalid) -> Response:
    told = {"code": PARSE_ERROR, "message": f"Parse error: {error}"}
    return Response(
        orjson.dumps({"jsonrpc": "2.0", "id": None, "error": told}), 400, media_type="application/json"
    )
