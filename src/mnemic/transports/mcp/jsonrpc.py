"""JSON-RPC for MCP in both protocol eras, without the SDK: messages, answers, line-based conversations.

Importing the SDK takes longer than everything else before a stdio server's first answer, its stdio transport silently
drops broken lines, and over HTTP it costs more than most calls. Tests run both side by side: the same messages get the
same answers.
"""

from __future__ import annotations

import contextvars
import functools
import logging
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import orjson

from mnemic.errors import Invalid
from mnemic.model.uids import random_uid
from mnemic.transports.json_input import MAX_BYTES, parse_json
from mnemic.transports.mcp.methods import (
    CAPABILITIES_KEY,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MODERN_VERSIONS,
    Endpoint,
    ProtocolError,
    Result,
    client_name,
    shows_apps,
)
from mnemic.transports.mcp.subscriptions import LISTEN, SUBSCRIBE, SUBSCRIBING, Subscriptions
from mnemic.transports.threads import started

if TYPE_CHECKING:
    from mnemic.core.context import Context
    from mnemic.model.time import Moment

log = logging.getLogger(__name__)

Id = int | str
Message = dict[str, Any]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
UNSUPPORTED_VERSION = -32022

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"

SLOW = frozenset(("tools/call", "resources/read", "completion/complete"))
"""Methods that read the store; all others are answered inline."""

_ID = rb'"id"\s*:\s*(\d{1,15}|"[^"\\]{1,100}")\s*'
_ID_FIRST = re.compile(rb'\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,\s*)*' + _ID + rb"[,}]")
_ID_LAST = re.compile(rb"[,{]\s*" + _ID + rb"\}\s*\Z")


class BadMessage(ProtocolError):
    """A line that is no valid message; *id* is the request's, if known."""

    def __init__(self, number: int, message: str, id: Id | None = None):
        super().__init__(number, message)
        self.id = id


@dataclass(frozen=True, slots=True, eq=False)
class RpcRequest:
    """A message that expects an answer."""

    id: Id
    method: str
    params: Mapping[str, Any]

    @property
    def envelope(self) -> Mapping[str, Any] | None:
        """Metadata of a 2026 request; None in older revisions."""
        meta = self.params.get("_meta")
        is_modern = isinstance(meta, Mapping) and VERSION_KEY in meta and self.method != "initialize"
        return meta if is_modern else None


@dataclass(frozen=True, slots=True)
class Notification:
    """A message that expects no answer."""

    method: str
    params: Mapping[str, Any]


def read_message(line: bytes) -> RpcRequest | Notification | None:
    """The message in *line*; None for an answer, since we send no requests. Raises BadMessage for anything else."""
    try:
        content = parse_json(line)
    except Invalid as error:
        raise BadMessage(PARSE_ERROR, f"Parse error: {error}", find_id(line)) from None
    if not isinstance(content, dict):
        raise BadMessage(INVALID_REQUEST, "Invalid request: not a single JSON object")
    id = content.get("id")
    known_id = id if isinstance(id, (int, str)) and not isinstance(id, bool) else None
    if content.get("jsonrpc") != "2.0":
        raise BadMessage(INVALID_REQUEST, 'Invalid request: jsonrpc must be "2.0"', known_id)
    if "id" in content and known_id is None and "error" not in content:
        raise BadMessage(INVALID_REQUEST, "Invalid request: id must be a text or a whole number")
    return _message(content, known_id)


def _message(content: Mapping[str, Any], id: Id | None) -> RpcRequest | Notification | None:
    method, params = content.get("method"), content.get("params")
    if method is None and ("result" in content or "error" in content):
        return None
    if not isinstance(method, str):
        raise BadMessage(INVALID_REQUEST, "Invalid request: method must be a text", id)
    if id is None:
        return Notification(method, params if isinstance(params, dict) else {})
    if params is not None and not isinstance(params, dict):
        raise BadMessage(INVALID_PARAMS, "params: must be an object", id)
    return RpcRequest(id, method, params or {})


def find_id(line: bytes) -> Id | None:
    """The id of an unparsable object, if it is the first or last member and so must be the request's."""
    if not line.rstrip().endswith(b"}"):
        return None
    found = _ID_FIRST.match(line) or _ID_LAST.search(line[-1024:])
    try:
        return orjson.loads(found[1]) if found else None
    except orjson.JSONDecodeError:
        return None


def check_envelope(envelope: Mapping[str, Any]) -> None:
    """Raise ProtocolError unless *envelope* has the metadata every 2026 request needs."""
    for key in (VERSION_KEY, CAPABILITIES_KEY):
        if key not in envelope:
            raise ProtocolError(INVALID_PARAMS, f"params._meta: {key} is required")


def check_version(asked: Any) -> None:
    """Raise ProtocolError unless *asked* is a supported revision without handshake."""
    if not isinstance(asked, str):
        raise ProtocolError(INVALID_PARAMS, f"params._meta: {VERSION_KEY} must be a text")
    if asked not in MODERN_VERSIONS:
        versions = {"supported": list(MODERN_VERSIONS), "requested": asked[:80]}
        raise ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version", versions)


def check_modern(envelope: Mapping[str, Any]) -> None:
    """Raise ProtocolError unless *envelope* names a supported revision without handshake."""
    check_envelope(envelope)
    check_version(envelope[VERSION_KEY])


def answered(request: RpcRequest, result: Callable[[RpcRequest], Result]) -> Message:
    """The answer to *request*: the value of *result*, or the error it raises."""
    try:
        return {"jsonrpc": "2.0", "id": request.id, "result": result(request)}
    except ProtocolError as error:
        return failure(request.id, error)
    except Exception:
        log.exception("unexpected failure")
        return failure(request.id, ProtocolError(INTERNAL_ERROR, "internal error"))


def failure(id: Id | None, error: ProtocolError) -> Message:
    """The error answer for *error*."""
    problem = {"code": error.number, "message": str(error)}
    return {
        "jsonrpc": "2.0",
        "id": id,
        "error": problem if error.data is None else {**problem, "data": error.data},
    }


class RpcConversation:
    """Conversation with one client: `take` receives its lines in order, *send* transmits ours."""

    def __init__(
        self,
        endpoint: Endpoint,
        ctx: Context,
        send: Callable[[bytes], None],
        announce: Callable[[Id, str, Moment], None] | None = None,
    ):
        """With *announce*, it is called before each transaction: for which request, by which actor, at what moment.

        A context without a connection gets one of its own.
        """
        self._endpoint = endpoint
        self._ctx = ctx if ctx.connection else ctx.over(random_uid())
        self._send = send
        self._announce = announce
        self._shows_apps = False
        self._subscriptions = Subscriptions(ctx.store, self._send_message)
        self._turns: SimpleQueue[RpcRequest | None] = SimpleQueue()
        self._waiting: set[RpcRequest] = set()
        # A single thread, so that pipelined requests take effect in the order sent.
        inherited = contextvars.copy_context()
        self._thread = threading.Thread(
            target=inherited.run, args=(self._take_turns,), name="mnemic-calls", daemon=True
        )
        self._has_thread = started(self._thread, "no call can be cancelled")

    def take(self, line: bytes) -> None:
        """Process one line."""
        if not line.strip():
            return
        try:
            message = read_message(line)
        except BadMessage as refusal:
            self._send_message(failure(refusal.id, refusal))
            return
        match message:
            case RpcRequest(method=method) if method in SLOW:
                self._waiting.add(message)
                self._turns.put(message)
                if not self._has_thread:
                    self._turns.put(None)
                    self._take_turns()
            case RpcRequest(method=method) if method == LISTEN and self._endpoint.can_be_subscribed:
                answer = answered(message, self._listen)
                if "error" in answer:
                    self._send_message(answer)
            case RpcRequest():
                self._send_message(answered(message, self._result))
            case Notification(method="notifications/cancelled", params={"requestId": int() | str() as id}):
                self._waiting -= {request for request in list(self._waiting) if request.id == id}
                self._subscriptions.end(id)

    def refuse_long_line(self, line: bytes) -> None:
        """Answer an overlong line of which only the ends were kept."""
        refusal = BadMessage(INVALID_REQUEST, f"Invalid request: larger than {MAX_BYTES} bytes")
        self._send_message(failure(find_id(line), refusal))

    def close(self, seconds: float | None = None) -> None:
        """Finish pending requests, for at most this many seconds."""
        self._turns.put(None)
        if self._has_thread:
            self._thread.join(seconds)
        self._subscriptions.close()

    def _send_message(self, message: Message) -> None:
        self._send(_line(message))

    def _take_turns(self) -> None:
        while (request := self._turns.get()) is not None:
            if request not in self._waiting:
                continue
            reply = _line(answered(request, self._result))
            self._subscriptions.look()
            if request in self._waiting:
                self._waiting.discard(request)
                self._send(reply)

    def _result(self, request: RpcRequest) -> Result:
        if request.envelope is not None:
            check_modern(request.envelope)
            ctx = self._named(request.envelope.get(CLIENT_KEY))
            return self._endpoint.handle_modern(self._marked(ctx, request), request.method, request.params)
        if request.method == "initialize":
            self._ctx = self._named(request.params.get("clientInfo"))
            self._shows_apps = shows_apps(request.params.get("capabilities"))
            return self._endpoint.initialize(self._ctx, request.params)
        if request.method in SUBSCRIBING and self._endpoint.can_be_subscribed:
            return self._subscribe(request)
        ctx = self._marked(self._ctx, request)
        return self._endpoint.handle(ctx, request.method, request.params, apps=self._shows_apps)

    def _marked(self, ctx: Context, request: RpcRequest) -> Context:
        """*ctx* with its transactions announced, if somebody wants to know."""
        if self._announce is None:
            return ctx
        return replace(ctx, announce=functools.partial(self._announce, request.id, ctx.actor))

    def _listen(self, request: RpcRequest) -> Result:
        """Open the subscription of *request*. Its answer is due when it ends, so the return value is not sent."""
        if request.envelope is None:
            raise ProtocolError(METHOD_NOT_FOUND, "Method not found", request.method)
        check_modern(request.envelope)
        self._subscriptions.listen(request.id, self._endpoint.live_addresses(request.params))
        return {}

    def _subscribe(self, request: RpcRequest) -> Result:
        address = self._endpoint.live_address(request.params)
        if request.method == SUBSCRIBE:
            self._subscriptions.add(address)
        else:
            self._subscriptions.remove(address)
        return {}

    def _named(self, client_info: Any) -> Context:
        """The context for a client of this name."""
        name = client_name(client_info)
        return self._ctx.on_behalf_of(name) if name else self._ctx


def _line(message: Message) -> bytes:
    return orjson.dumps(message) + b"\n"
