"""Authentication of HTTP requests: Host, Origin, token and body size."""

from __future__ import annotations

import asyncio
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
from mnemic.dialects.execution import guarded
from mnemic.errors import Denied, Invalid, MnemicError
from mnemic.transports.http.cookies import Cookies
from mnemic.transports.http.failed_logins import Logins
from mnemic.transports.http.oauth import METADATA, BadToken, Issuer
from mnemic.transports.http.pages import is_page
from mnemic.transports.http.rate_limit import RateLimit
from mnemic.transports.http.responses import problem
from mnemic.transports.json_input import MAX_BYTES
from mnemic.transports.workers import Caller, Workers

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from mnemic.core.context import Context

Headers = Mapping[str, str]
CONTEXT = "mnemic.ctx"
"""Key of the ASGI scope that holds the caller's context."""
ADMIT = "mnemic.admit"
"""Key of the ASGI scope that holds the check a long-lived response repeats; it raises Unauthorized."""
CALLER = "mnemic.caller"
"""Key of the ASGI scope that holds the client and its worker queue."""
LIVE, READY, LOGIN = "/livez", "/readyz", "/api/v1/login"
OPEN_PATHS = frozenset(("/api/v1/health", LIVE, READY, LOGIN))
"""Paths that need no token, beside the pages."""
KEYED_PATHS = "/api/v1/"
"""Paths below this accept a token in the URL. URLs end up in logs, so no other path does."""
KEY = "api_key"
"""Query parameter that carries the token."""
REFUSED = "missing or invalid API key"


class Unauthorized(Denied):
    """The request has no token, or an unknown one."""

    code = "unauthorized"


class TooLarge(Invalid):
    """The body exceeds the size limit."""

    code = "too_large"


@dataclass(frozen=True, slots=True)
class AuthPolicy:
    """Listening address, the administrator's token, and the authorization server whose JWTs count too."""

    host: str
    token: str = ""
    issuer: Issuer | None = None

    @property
    def is_local(self) -> bool:
        """Whether only this machine can connect."""
        return is_loopback(self.host)

    @property
    def needs_token(self) -> bool:
        """Whether every request needs a token."""
        return bool(self.token) or self.issuer is not None or not self.is_local


@functools.lru_cache(maxsize=64)
def is_loopback(host: str) -> bool:
    """Whether *host* is a loopback name or address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_start(policy: AuthPolicy, ctx: Context) -> None:
    """Raise Denied if the daemon would be open to the network without a token."""
    if not policy.is_local and not (policy.token or policy.issuer or access.tokens(ctx)):
        raise Denied(
            f"Not listening on {policy.host} without a token: anyone on the network could read and change "
            "your memories. Set MNEMIC_TOKEN, or make a token with `mnemic token create NAME`."
        )


class Tokens:
    """The secrets that open a store: the administrator's, and the tokens it holds."""

    def __init__(self, ctx: Context, policy: AuthPolicy):
        self._ctx = ctx
        self._policy = policy
        self._logins = Logins()
        self._rates = RateLimit()

    def are_needed(self) -> bool:
        """Whether a token is needed: by policy, or because the store has tokens."""
        return self._policy.needs_token or bool(guarded(access.tokens, self._ctx))

    async def context(self, secret: bytes, scope: Scope) -> Context:
        """The context of who knows *secret*, or Unauthorized."""
        if self._policy.token and hmac.compare_digest(secret, self._policy.token.encode()):
            return self._ctx
        text = secret.decode(errors="replace")
        try:
            return self._stored(text) or await self._issued(text)
        except Unauthorized:
            await self._logins.refused(_address(scope), scope["method"], scope["path"])
            raise

    def _stored(self, secret: str) -> Context | None:
        """The context of a token that the store holds; None if it holds no such token."""
        token = guarded(access.token_for, self._ctx, secret)
        if token is None:
            return None
        now = self._ctx.now()
        if access.is_expired(token, now):
            raise Unauthorized(f"{REFUSED}: this token has expired.")
        if token.grant.quota.requests_per_minute is not None:
            self._rates.take(token.name, token.grant.quota.requests_per_minute)
        if access.is_use_due(token, now):
            asyncio.get_running_loop().run_in_executor(None, guarded, access.note_use, self._ctx, secret)
        return self._ctx.limited_to(token.grant, token.name)

    async def _issued(self, secret: str) -> Context:
        """The context of a JWT of the authorization server, or Unauthorized."""
        if self._policy.issuer is None:
            raise Unauthorized(f"{REFUSED}: this token grants nothing here.")
        try:
            login = await asyncio.to_thread(self._policy.issuer.login, secret)
        except BadToken as error:
            raise Unauthorized(error.message) from None
        if login is None:
            raise Unauthorized(f"{REFUSED}: this token grants nothing here.")
        return self._ctx.limited_to(login.grant, login.actor)


class Guard:
    """ASGI middleware that authenticates a request and puts its caller's context into the scope."""

    def __init__(
        self,
        app: ASGIApp,
        ctx: Context,
        policy: AuthPolicy,
        tokens: Tokens,
        cookies: Cookies,
        workers: Workers,
    ):
        self._app = app
        self._ctx = ctx
        self._policy = policy
        self._tokens = tokens
        self._cookies = cookies
        self._workers = workers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # The parser keeps trailing blanks of a header value.
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        headers = _first_of_each(scope["headers"])
        try:
            _check_host(headers, self._policy)
            _check_origin(headers)
            secret = self._secret(scope, headers)
            scope[ADMIT] = functools.partial(self._context, scope, secret)
            scope[CONTEXT] = await scope[ADMIT]()
        except Unauthorized as error:
            challenge = _challenge(headers, scope["path"], self._policy)
            await problem(error, headers={"WWW-Authenticate": challenge})(scope, receive, send)
        except MnemicError as error:
            await problem(error)(scope, receive, send)
        else:
            come = _limited(headers, receive)
            scope[CALLER] = Caller(_client(scope, secret), self._workers, functools.partial(_left, come))
            await self._app(scope, come, send)

    def _secret(self, scope: Scope, headers: Headers) -> bytes | None:
        """The secret that a request carries: in a header, as a cookie, or in the URL."""
        for secret in (_secret(headers), self._cookies.token(scope["method"], headers), _key(scope)):
            if secret is not None:
                return secret
        return None

    async def _context(self, scope: Scope, secret: bytes | None) -> Context:
        """The context of the caller, or Unauthorized. Tokens are ignored where none is needed."""
        path = scope["path"]
        if path in OPEN_PATHS or path.startswith(METADATA) or is_page(path) or not self._tokens.are_needed():
            return self._ctx
        if secret is None:
            raise Unauthorized(f"{REFUSED}: send `X-API-Key: TOKEN` or `Authorization: Bearer TOKEN`.")
        return await self._tokens.context(secret, scope)


async def _left(receive: Receive) -> None:
    """Wait until the client disconnects; read and drop what it sends until then."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _client(scope: Scope, secret: bytes | None) -> str:
    """Key of the per-client limits: the token, or the address without one."""
    return _address(scope) if secret is None else hashlib.sha256(secret).hexdigest()


def _address(scope: Scope) -> str:
    """The client's address."""
    client = scope.get("client")
    return str(client[0]) if client else "unknown"


def _first_of_each(headers: list[tuple[bytes, bytes]]) -> Headers:
    """The headers by name; the first of a repeated one."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(headers)}


def _check_host(headers: Headers, policy: AuthPolicy) -> None:
    """Refuse DNS rebinding: a foreign page can point its name at this machine, but cannot forge Host."""
    if policy.is_local and not _is_here(headers.get("host", "")):
        raise Denied("Host: this daemon answers on this machine only, as localhost.")


@functools.lru_cache(maxsize=64)
def _is_here(address: str) -> bool:
    """Whether *address*, `host` or `host:port`, is this machine."""
    try:
        return is_loopback(urlsplit("//" + address).hostname or "")
    except ValueError:
        return False


def _check_origin(headers: Headers) -> None:
    """Refuse requests of pages from another origin."""
    # Links and images send no Origin, but browsers mark them as cross-site.
    if headers.get("sec-fetch-site") == "cross-site":
        raise Denied("Sec-Fetch-Site: pages of other origins may not use this daemon.")
    origin = headers.get("origin")
    if origin is None:
        return
    scheme, _, address = origin.lower().partition("://")
    if scheme not in ("http", "https") or address != headers.get("host", "").lower():
        raise Denied("Origin: pages of other origins may not use this daemon.")


def _secret(headers: Headers) -> bytes | None:
    """The token sent as bearer, API key or basic password."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip().encode("latin-1")
    if scheme.lower() == "basic":
        return _password(value)
    key = headers.get("x-api-key")
    return None if key is None else key.encode("latin-1")


def _key(scope: Scope) -> bytes | None:
    """The token in the URL, on paths that accept it there."""
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


def _challenge(headers: Headers, path: str, policy: AuthPolicy) -> str:
    """The WWW-Authenticate challenge: the way to the authorization server, else a form for browsers or bearer."""
    if policy.issuer is not None:
        return policy.issuer.challenge(path)
    return 'Basic realm="mnemic"' if "text/html" in headers.get("accept", "") else 'Bearer realm="mnemic"'


def _limited(headers: Headers, receive: Receive) -> Receive:
    """*receive* limited to MAX_BYTES."""
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
