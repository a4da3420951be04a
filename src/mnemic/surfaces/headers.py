"""What the headers of an MCP request over HTTP must say, beside the message they come with."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mnemic.surfaces.jsonrpc import INVALID_REQUEST, VERSION_KEY, Refused, Request
from mnemic.surfaces.mcp import HANDSHAKE_VERSIONS, ProtocolError

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
"""The methods whose Mcp-Name must repeat a parameter, and which."""

_ENCODED = re.compile(r"=\?base64\?(.*)\?=")


class NotAcceptable(Refused):
    """The client wants an answer of a kind we do not give."""


def is_modern(headers: Headers) -> bool:
    """True if the request is of the 2026 revision, or of one we do not know; that is refused there."""
    return headers.get(VERSION, HANDSHAKE_VERSIONS[0]) not in HANDSHAKE_VERSIONS


def check_content_type(headers: Headers) -> None:
    """Refused unless the body is said to be JSON, which a page from elsewhere cannot say without our leave."""
    if not headers.get("content-type", "").lower().startswith(JSON):
        raise Refused(INVALID_REQUEST, f"Content-Type: must be {JSON}")


def accepted(headers: Headers) -> str:
    """The kind of answer to give: JSON where it is accepted, else a stream of events, else NotAcceptable."""
    kinds = _kinds(headers)
    if kinds & {JSON, "application/*", "*/*"}:
        return JSON
    if kinds & {EVENTS, "text/*"}:
        return EVENTS
    raise NotAcceptable(INVALID_REQUEST, f"Accept: must name {JSON}")


def takes_events(headers: Headers) -> bool:
    """True if the client can be answered with a stream of events."""
    return bool(_kinds(headers) & {EVENTS, "text/*", "*/*"})


def _kinds(headers: Headers) -> set[str]:
    return {kind.partition(";")[0].strip().lower() for kind in headers.get("accept", "").split(",")}


def check_repeated(headers: Headers, request: Request, envelope: Mapping[str, Any]) -> None:
    """ProtocolError unless the headers say the same as *request*: whoever stands between us goes by them."""
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
    """A header's value without the wrapping of what a header cannot hold; None if that is broken."""
    wrapped = _ENCODED.fullmatch(value or "")
    if not wrapped:
        return value
    try:
        content = base64.b64decode(wrapped[1], validate=True)
        return content.decode() if base64.b64encode(content).decode() == wrapped[1] else None
    except (binascii.Error, UnicodeDecodeError):
        return None
