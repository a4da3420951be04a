"""The MCP project's own SDK around our Endpoint: what our transports are held against."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx2
import mcp_types as types
from mcp.client.streamable_http import streamable_http_client
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from mnemic.core.context import Context
from mnemic.dialects.framework import Dialect
from mnemic.transports.http.auth import AuthPolicy
from mnemic.transports.http.daemon import http_app
from mnemic.transports.mcp.methods import (
    MODERN_VERSIONS,
    Endpoint,
    Offer,
    ProtocolError,
    client_name,
    server_info,
)

ADDRESS = "http://127.0.0.1/mcp"

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
    """The SDK's server for *endpoint*, acting for whoever *ctx* says."""
    info = server_info()
    server: Server[Any] = Server(
        info["name"],
        version=info["version"],
        title=info["title"],
        instructions=endpoint.dialect.instructions_for(ctx),
    )
    for method, params in _PARAMS.items():
        server.add_request_handler(method, params, functools.partial(_handle, endpoint, ctx))
    return server


async def _handle(endpoint: Endpoint, ctx: Context, request: ServerRequestContext[Any], _: BaseModel) -> Any:
    is_modern = request.protocol_version in MODERN_VERSIONS
    handle = endpoint.handle_modern if is_modern else endpoint.handle
    try:
        return handle(_caller(ctx, request), request.method, request.params or {})
    except ProtocolError as error:
        raise MCPError(error.number, str(error), error.data) from None


def _caller(ctx: Context, request: ServerRequestContext[Any]) -> Context:
    client = request.session.client_params
    name = client_name({"name": client.client_info.name}) if client else None
    return ctx.on_behalf_of(name) if name else ctx


@contextlib.asynccontextmanager
async def sdk_http(endpoint: Endpoint, ctx: Context) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the SDK's server over HTTP, without sessions and with answers in JSON, as ours are."""
    manager = StreamableHTTPSessionManager(sdk_server(endpoint, ctx), json_response=True, stateless=True)
    async with manager.run(), _client(manager.handle_request) as client:
        yield client


@contextlib.asynccontextmanager
async def our_http(
    dialect: Dialect, ctx: Context, offered: Offer | None = None
) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of our daemon, in process."""
    async with _client(http_app(ctx, AuthPolicy("127.0.0.1"), {dialect.name: dialect}, offered)) as client:
        yield client


def our_transport(client: httpx2.AsyncClient) -> Any:
    """The SDK's own way over HTTP, with *client*."""
    return streamable_http_client(ADDRESS, http_client=client)


def _client(app: Any) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app, raise_app_exceptions=False))
