"""JSON-RPC as MCP uses it, in both protocol eras and without the SDK: messages, answers, and a conversation in lines.

Importing the SDK takes longer than everything else a stdio server does before its first answer, its own
stdio transport drops a broken line without a word, and over HTTP it costs more than most calls. The tests
hold our transports and the SDK's server side by side: the same messages get the same answers.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import orjson

from mnemic.errors import Invalid
from mnemic.surfaces.mcp import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MODERN_VERSIONS,
    Endpoint,
    ProtocolError,
    Result,
    client_name,
)
from mnemic.surfaces.parsing import MAX_BYTES, parse_json
from mnemic.surfaces.subscriptions import LISTEN, SUBSCRIBE, SUBSCRIBING, Subscriptions

if TYPE_CHECKING:
    from mnemic.core.context import Context

log = logging.getLogger(__name__)

Id = int | str
Message = dict[str, Any]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
UNSUPPORTED_VERSION = -32022

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"

SLOW = frozenset(("tools/call", "resources/read", "completion/complete"))
"""The methods that ask the store. Everything else can be answered at once."""

_ID = rb'"id"\s*:\s*(\d{1,15}|"[^"\\]{1,100}")\s*'
_ID_FIRST = re.compile(rb'\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,\s*)*' + _ID + rb"[,}]")
_ID_LAST = re.compile(rb"[,{]\s*" + _ID + rb"\}\s*\Z")


class Refused(ProtocolError):
    """A line that is no message we can act on; *id* is the request's, where it can be told."""

    def __init__(self, number: int, message: str, id: Id | None = None):
        super().__init__(number, message)
        self.id = id


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """A message that wants an answer."""

    id: Id
    method: str
    params: Mapping[str, Any]

    @property
    def envelope(self) -> Mapping[str, Any] | None:
        """What a request of the 2026 revision says about itself; None in an older one."""
        meta = self.params.get("_meta")
        is_modern = isinstance(meta, Mapping) and VERSION_KEY in meta and self.method != "initialize"
        return meta if is_modern else None


@dataclass(frozen=True, slots=True)
class Notification:
    """A message that wants none."""

    method: str
    params: Mapping[str, Any]


def read_message(line: bytes) -> Request | Notification | None:
    """The message in *line*; None for an answer, since we ask nothing. Refused if it is none of these."""
    try:
        content = parse_json(line)
    except Invalid as error:
        raise Refused(PARSE_ERROR, f"Parse error: {error}", find_id(line)) from None
    if not isinstance(content, dict):
        raise Refused(INVALID_REQUEST, "Invalid request: not a single JSON object")
    id = content.get("id")
    known_id = id if isinstance(id, (int, str)) and not isinstance(id, bool) else None
    if content.get("jsonrpc") != "2.0":
        raise Refused(INVALID_REQUEST, 'Invalid request: jsonrpc must be "2.0"', known_id)
    if "id" in content and known_id is None and "error" not in content:
        raise Refused(INVALID_REQUEST, "Invalid request: id must be a text or a whole number")
    return _message(content, known_id)


def _message(content: Mapping[str, Any], id: Id | None) -> Request | Notification | None:
    method, params = content.get("method"), content.get("params")
    if method is None and ("result" in content or "error" in content):
        return None
    if not isinstance(method, str):
        raise Refused(INVALID_REQUEST, "Invalid request: method must be a text", id)
    if id is None:
        return Notification(method, params if isinstance(params, dict) else {})
    if params is not None and not isinstance(params, dict):
        raise Refused(INVALID_PARAMS, "params: must be an object", id)
    return Request(id, method, params or {})


def find_id(line: bytes) -> Id | None:
    """The id in an object we cannot parse, if it stands first or last, where it can be nobody else's."""
    if not line.rstrip().endswith(b"}"):
        return None
    found = _ID_FIRST.match(line) or _ID_LAST.search(line[-1024:])
    try:
        return orjson.loads(found[1]) if found else None
    except orjson.JSONDecodeError:
        return None


def check_envelope(envelope: Mapping[str, Any]) -> None:
    """ProtocolError unless *envelope* has what every request of the 2026 revision must say."""
    for key in (VERSION_KEY, CAPABILITIES_KEY):
        if key not in envelope:
            raise ProtocolError(INVALID_PARAMS, f"params._meta: {key} is required")


def check_version(asked: Any) -> None:
    """ProtocolError unless *asked* is a revision without a handshake that we speak."""
    if not isinstance(asked, str):
        raise ProtocolError(INVALID_PARAMS, f"params._meta: {VERSION_KEY} must be a text")
    if asked not in MODERN_VERSIONS:
        told = {"supported": list(MODERN_VERSIONS), "requested": asked[:80]}
        raise ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version", told)


def check_modern(envelope: Mapping[str, Any]) -> None:
    """ProtocolError unless *envelope* is of a revision without a handshake that we speak."""
    check_envelope(envelope)
    check_version(envelope[VERSION_KEY])


def answered(request: Request, result: Callable[[Request], Result]) -> Message:
    """The answer to *request*: what *result* returns, or the error it raises."""
    try:
        return {"jsonrpc": "2.0", "id": request.id, "result": result(request)}
    except ProtocolError as error:
        return failure(request.id, error)
    except Exception:
        log.exception("unexpected failure")
        return failure(request.id, ProtocolError(INTERNAL_ERROR, "internal error"))


def failure(id: Id | None, error: ProtocolError) -> Message:
    """The answer that says *error*."""
    told = {"code": error.number, "message": str(error)}
    return {"jsonrpc": "2.0", "id": id, "error": told if error.data is None else {**told, "data": error.data}}


class Conversation:
    """Answers one client. `take` is given its lines in order; *send* is given ours."""

    def __init__(self, endpoint: Endpoint, ctx: Context, send: Callable[[bytes], None]):
        self._endpoint = endpoint
        self._ctx = ctx
        self._send = send
        self._subscriptions = Subscriptions(ctx.store, self._tell)
        self._turns: SimpleQueue[Request | None] = SimpleQueue()
        self._waiting: set[Request] = set()
        # One thread, so that what a client sends without waiting takes effect in the order it was sent.
        self._thread = threading.Thread(target=self._take_turns, name="mnemic-calls", daemon=True)
        self._thread.start()

    def take(self, line: bytes) -> None:
        """Act on one line."""
        if not line.strip():
            return
        try:
            message = read_message(line)
        except Refused as refusal:
            self._tell(failure(refusal.id, refusal))
            return
        match message:
            case Request(method=method) if method in SLOW:
                self._waiting.add(message)
                self._turns.put(message)
            case Request(method=method) if method == LISTEN and self._endpoint.can_be_subscribed:
                answer = answered(message, self._listen)
                if "error" in answer:
                    self._tell(answer)
            case Request():
                self._tell(answered(message, self._result))
            case Notification(method="notifications/cancelled", params={"requestId": int() | str() as id}):
                self._waiting -= {request for request in list(self._waiting) if request.id == id}
                self._subscriptions.end(id)

    def refuse_long_line(self, line: bytes) -> None:
        """Answer a line of which only the ends were kept."""
        refusal = Refused(INVALID_REQUEST, f"Invalid request: larger than {MAX_BYTES} bytes")
        self._tell(failure(find_id(line), refusal))

    def close(self, seconds: float | None = None) -> None:
        """Answer what was asked, for at most so many seconds."""
        self._turns.put(None)
        self._thread.join(seconds)
        self._subscriptions.close()

    def _tell(self, message: Message) -> None:
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

    def _result(self, request: Request) -> Result:
        if request.envelope is not None:
            check_modern(request.envelope)
            ctx = self._named(request.envelope.get(CLIENT_KEY))
            return self._endpoint.handle_modern(ctx, request.method, request.params)
        if request.method == "initialize":
            self._ctx = self._named(request.params.get("clientInfo"))
            return self._endpoint.initialize(self._ctx, request.params)
        if request.method in SUBSCRIBING and self._endpoint.can_be_subscribed:
            return self._subscribe(request)
        return self._endpoint.handle(self._ctx, request.method, request.params)

    def _listen(self, request: Request) -> Result:
        """Tell *request* what it asks for. Its answer is due when that is over, so what is returned is not sent."""
        if request.envelope is None:
            raise ProtocolError(METHOD_NOT_FOUND, "Method not found", request.method)
        check_modern(request.envelope)
        self._subscriptions.listen(request.id, self._endpoint.live_addresses(request.params))
        return {}

    def _subscribe(self, request: Request) -> Result:
        address = self._endpoint.live_address(request.params)
        if request.method == SUBSCRIBE:
            self._subscriptions.add(address)
        else:
            self._subscriptions.remove(address)
        return {}

    def _named(self, client_info: Any) -> Context:
        """The context for a client that calls itself so."""
        name = client_name(client_info)
        return self._ctx.on_behalf_of(name) if name else self._ctx


def _line(message: Message) -> bytes:
    return orjson.dumps(message) + b"\n"
