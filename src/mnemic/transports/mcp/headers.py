"""Headers of MCP requests over HTTP, checked against the message."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mnemic.transports.mcp.jsonrpc import INVALID_REQUEST, VERSION_KEY, BadMessage, RpcRequest
from mnemic.transports.mcp.methods import HANDSHAKE_VERSIONS, ProtocolError

if TYPE_CHECKING:
    from starlette.datastructures import Headers

JSON = "application/json"
EVENTS = "text/event-stream"

SESSION = "mcp-session-id"
VERSION = "mcp-protocol-version"
METHOD = "mcp-method"
NAME = "mcp-name"

MISMATCH = -32020

_NAMED: Mapping[str, str] = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Methods whose Mcp-Name header must repeat a parameter, and which one."""

_ENCODED = re.compile(r"=\?base64\?(.*)\?=")


class NotAcceptable(BadMessage):
    """The client accepts neither JSON nor an event stream."""


def is_modern(headers: Headers) -> bool:
    """Whether the request is of the 2026 revision or an unknown one (refused there)."""
    return headers.get(VERSION, HANDSHAKE_VERSIONS[0]) not in HANDSHAKE_VERSIONS


def check_content_type(headers: Headers) -> None:
    """Refuse a body not declared as JSON: a cross-site page cannot declare that without CORS."""
    if not headers.get("content-type", "").lower().startswith(JSON):
        raise BadMessage(INVALID_REQUEST, f"Content-Type: must be {JSON}")


def accepted(headers: Headers) -> str:
    """Content type of the answer: JSON if accepted, else an event stream, else NotAcceptable."""
    kinds = _kinds(headers)
    if kinds & {JSON, "application/*", "*/*"}:
        return JSON
    if kinds & {EVENTS, "text/*"}:
        return EVENTS
    raise NotAcceptable(INVALID_REQUEST, f"Accept: must name {JSON}")


def takes_events(headers: Headers) -> bool:
    """Whether the client accepts an event stream."""
    return bool(_kinds(headers) & {EVENTS, "text/*", "*/*"})


def _kinds(headers: Headers) -> set[str]:
    return {kind.partition(";")[0].strip().lower() for kind in headers.get("accept", "").split(",")}


def check_repeated(headers: Headers, request: RpcRequest, envelope: Mapping[str, Any]) -> None:
    """Raise ProtocolError unless the headers agree with *request*; proxies route by them."""
    for header in (VERSION, METHOD, NAME):
        if len(headers.getlist(header)) > 1:
            raise ProtocolError(MISMATCH, f"{header} header appears more than once")
    if headers.get(VERSION) != envelope[VERSION_KEY]:
        raise ProtocolError(MISMATCH, f"{VERSION} header does not match the request's protocol version")
    if headers.get(METHOD) != request.method:
        raise ProtocolError(MISMATCH, f"{METHOD} header does not match the request's method")
    named = request.params.get(_NAMED.get(request.method, ""))
    if named is not None and decoded(headers.get(NAME)) != named:
        raise ProtocolError(MISMATCH, f"{NAME} header does not match what the request names")


def decoded(value: str | None) -> str | None:
    """A header value decoded from its base64 form; None if that is broken."""
    wrapped = _ENCODED.fullmatch(value or "")
    if not wrapped:
        return value
    try:
        content = base64.b64decode(wrapped[1], validate=True)
        return content.decode() if base64.b64encode(content).decode() == wrapped[1] else None
    except (binascii.Error, UnicodeDecodeError):
        return None
