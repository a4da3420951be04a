"""Who may speak to the daemon: the Host and Origin of a request, its token, the size of its body."""

from __future__ import annotations

import base64
import binascii
import functools
import hashlib
import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from mnemic.core import access
from mnemic.errors import Denied, Invalid, MnemicError
from mnemic.surfaces.bridge import guarded
from mnemic.surfaces.logins import Logins
from mnemic.surfaces.parsing import MAX_BYTES
from mnemic.surfaces.replies import problem
from mnemic.surfaces.workers import Caller, Workers

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from mnemic.core.context import Context

Headers = Mapping[str, str]
CONTEXT = "mnemic.ctx"
"""Where in a request's scope the context of its caller is found."""
ADMIT = "mnemic.admit"
"""Where a response that lasts finds whom to ask for that context anew; Unauthorized if it is no longer given."""
CALLER = "mnemic.caller"
"""Where it is found who asks and how work is done for them."""
OPEN_PATHS = frozenset(("/api/v1/health",))
"""What may be asked without a token."""
KEYED_PATHS = "/api/v1/"
"""Below this a token may come in the address. It may stand in logs then, so no other path takes it."""
KEY = "api_key"
"""The query parameter that holds it."""
REFUSED = "missing or invalid API key"


class Unauthorized(Denied):
    """The request carries no token, or one that opens nothing."""

    code = "unauthorized"


class TooLarge(Invalid):
    """The body is larger than we take."""

    code = "too_large"


@dataclass(frozen=True, slots=True)
class Policy:
    """Where we listen, and the token that opens everything."""

    host: str
    token: str = ""

    @property
    def is_local(self) -> bool:
        """True when only this machine can reach us."""
        return is_loopback(self.host)

    @property
    def needs_token(self) -> bool:
        """True when nobody gets in without one."""
        return bool(self.token) or not self.is_local


@functools.lru_cache(maxsize=64)
def is_loopback(host: str) -> bool:
    """True if *host* names this machine and no other can mean it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_start(policy: Policy, ctx: Context) -> None:
    """Denied if the daemon would be open to the network."""
    if not policy.is_local and not policy.token and not access.tokens(ctx):
        raise Denied(
            f"Not listening on {policy.host} without a token: anyone on the network could read and change "
            "your memories. Set MNEMIC_TOKEN, or make a token with `mnemic token create NAME`."
        )


class Guard:
    """ASGI middleware: what passes carries its caller's context in the scope."""

    def __init__(self, app: ASGIApp, ctx: Context, policy: Policy, workers: Workers):
        self._app = app
        self._ctx = ctx
        self._policy = policy
        self._workers = workers
        self._logins = Logins()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Blanks around a value are no part of it, but the parser leaves those behind it where they are.
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        headers = _first_of_each(scope["headers"])
        try:
            _check_host(headers, self._policy)
            _check_origin(headers)
            scope[ADMIT] = functools.partial(self._context, scope, headers)
            scope[CONTEXT] = await scope[ADMIT]()
        except Unauthorized as error:
            await problem(error, headers={"WWW-Authenticate": _challenge(headers)})(scope, receive, send)
        except MnemicError as error:
            await problem(error)(scope, receive, send)
        else:
            come = _limited(headers, receive)
            scope[CALLER] = Caller(_client(scope, headers), self._workers, functools.partial(_left, come))
            await self._app(scope, come, send)

    async def _context(self, scope: Scope, headers: Headers) -> Context:
        """The context of whoever sent *headers*, or Unauthorized. Where no token is needed, none is looked at."""
        if scope["path"] in OPEN_PATHS or not self._needs_token():
            return self._ctx
        secret = _secret(headers)
        if secret is None:
            secret = _key(scope)
        if secret is None:
            raise Unauthorized(f"{REFUSED}: send `X-API-Key: TOKEN` or `Authorization: Bearer TOKEN`.")
        if self._policy.token and hmac.compare_digest(secret, self._policy.token.encode()):
            return self._ctx
        grant = guarded(access.grant_for, self._ctx, secret.decode(errors="replace"))
        if grant is None:
            await self._logins.refused(_address(scope), scope["method"], scope["path"])
            raise Unauthorized(f"{REFUSED}: this one opens nothing here.")
        return self._ctx.limited_to(grant)

    def _needs_token(self) -> bool:
        """Whether one is needed: by the policy, or because the store has some."""
        return self._policy.needs_token or bool(guarded(access.tokens, self._ctx))


async def _left(receive: Receive) -> None:
    """Wait until the client has closed its connection. What it sends until then is read and dropped."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _client(scope: Scope, headers: Headers) -> str:
    """Who shares the limits of a client: all that use the same token, or that come from the same address without."""
    secret = _secret(headers) or _key(scope)
    return _address(scope) if secret is None else hashlib.sha256(secret).hexdigest()


def _address(scope: Scope) -> str:
    """Where a request comes from."""
    client = scope.get("client")
    return str(client[0]) if client else "unknown"


def _first_of_each(headers: list[tuple[bytes, bytes]]) -> Headers:
    """The headers by name; of one that came twice, the first."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(headers)}


def _check_host(headers: Headers, policy: Policy) -> None:
    """A page elsewhere can let its own name lead to this machine, but not hide that name from us."""
    if policy.is_local and not _is_here(headers.get("host", "")):
        raise Denied("Host: this daemon answers on this machine only, as localhost.")


@functools.lru_cache(maxsize=64)
def _is_here(address: str) -> bool:
    """True if *address*, a name and perhaps a port, is of this machine."""
    try:
        return is_loopback(urlsplit("//" + address).hostname or "")
    except ValueError:
        return False


def _check_origin(headers: Headers) -> None:
    """A page from another origin may not speak to us, whatever its user could."""
    # A link or a picture names no origin, but a browser says that it stands on another site.
    if headers.get("sec-fetch-site") == "cross-site":
        raise Denied("Sec-Fetch-Site: pages from elsewhere may not use this daemon.")
    origin = headers.get("origin")
    if origin is None:
        return
    scheme, _, address = origin.lower().partition("://")
    if scheme not in ("http", "https") or address != headers.get("host", "").lower():
        raise Denied("Origin: pages from elsewhere may not use this daemon.")


def _secret(headers: Headers) -> bytes | None:
    """The token that was sent: as a bearer, an API key, or the password a browser asked its user for."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip().encode("latin-1")
    if scheme.lower() == "basic":
        return _password(value)
    key = headers.get("x-api-key")
    return None if key is None else key.encode("latin-1")


def _key(scope: Scope) -> bytes | None:
    """The token in the address, where it may stand there."""
    query: bytes = scope["query_string"]
    if KEY.encode() not in query or not scope["path"].startswith(KEYED_PATHS):
        return None
    found = parse_qs(query.decode("latin-1"), keep_blank_values=True).get(KEY)
    return found[-1].encode() if found else None


def _password(value: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True).partition(b":")[2]
    except binascii.Error:
        return b""


def _challenge(headers: Headers) -> str:
    """How to authenticate: a browser shows a form for the one, a program knows the other."""
    return 'Basic realm="mnemic"' if "text/html" in headers.get("accept", "") else 'Bearer realm="mnemic"'


def _limited(headers: Headers, receive: Receive) -> Receive:
    """*receive*, until more than MAX_BYTES have come."""
    announced = headers.get("content-length", "")
    came = int(announced) if announced.isdecimal() and int(announced) > MAX_BYTES else 0

    async def limited() -> Message:
        nonlocal came
        message = {"type": "http.request"} if came > MAX_BYTES else await receive()
        came += len(message.get("body", b""))
        if came > MAX_BYTES:
            raise TooLarge(f"the body is larger than {MAX_BYTES} bytes")
        return message

    return limited
