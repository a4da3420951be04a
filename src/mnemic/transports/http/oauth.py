"""OAuth 2.1 resource server: metadata of this daemon (RFC 9728) and validation of an issuer's JWTs."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.routing import Route

from mnemic.errors import Invalid, Unavailable
from mnemic.model.access import Grant
from mnemic.transports.http.responses import reply

if TYPE_CHECKING:
    from jwt import PyJWKClient
    from starlette.requests import Request
    from starlette.responses import Response

    from mnemic.settings import Settings

METADATA = "/.well-known/oauth-protected-resource"
READ, WRITE = "mnemic:read", "mnemic:write"
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures that are accepted: asymmetric ones only, since a shared key would let anyone who checks also sign."""
LEEWAY_SECONDS = 30
KEYS_LIFETIME_SECONDS = 600
TIMEOUT_SECONDS = 5
EVERY_NAMESPACE = "*"
NAMES = ("preferred_username", "email", "sub")
"""Claims that may name the caller in the journal; the first that is there."""


class BadToken(Invalid):
    """A JWT of the issuer that grants nothing here; the message says why."""


@dataclass(frozen=True, slots=True)
class Login:
    """Who a JWT speaks for, and what it allows."""

    actor: str
    grant: Grant


@dataclass(frozen=True, slots=True)
class Issuer:
    """The authorization server that issues tokens for this daemon."""

    url: str
    resource: str
    """The public address of this daemon: the audience of its tokens."""
    namespaces_claim: str

    def routes(self, paths: tuple[str, ...]) -> Iterator[Route]:
        """The metadata of the daemon, and of the resource at each of *paths*."""
        for path in ("", *paths):
            yield Route(METADATA + path, functools.partial(self._metadata, path))

    async def _metadata(self, path: str, request: Request) -> Response:
        """Protected resource metadata: where clients get a token for this resource."""
        return reply(
            {
                "resource": self.resource + path,
                "authorization_servers": [self.url],
                "scopes_supported": [READ, WRITE],
                "bearer_methods_supported": ["header"],
                "resource_name": "Mnemic",
            }
        )

    def challenge(self, path: str) -> str:
        """The WWW-Authenticate header that tells a client at *path* where to begin."""
        about = path if path.startswith("/mcp") else ""
        return f'Bearer resource_metadata="{self.resource}{METADATA}{about}", scope="{READ} {WRITE}"'

    def login(self, token: str) -> Login | None:
        """What the JWT *token* allows; None if it is no JWT, BadToken if it is one that does not count here."""
        if token.count(".") != 2:
            return None
        import jwt

        try:
            key = _keys(self.url).get_signing_key_from_jwt(token)
            claims = jwt.decode(
                token,
                key,
                algorithms=list(ALGORITHMS),
                issuer=self.url,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud"], "verify_aud": False},
            )
        except jwt.PyJWKClientConnectionError:
            raise Unavailable("The authorization server cannot be reached; try again later.") from None
        except jwt.PyJWTError as error:
            raise BadToken(f"token: {error}", "token") from None
        self._check_audience(claims)
        return Login(_actor(claims), self._grant(claims))

    def _check_audience(self, claims: Mapping[str, Any]) -> None:
        """BadToken unless the token is for this daemon, or for one of its addresses below /mcp."""
        for audience in _texts(claims["aud"]):
            if audience.rstrip("/") in (self.resource, f"{self.resource}/mcp"):
                return
            if audience.startswith(f"{self.resource}/mcp/"):
                return
        raise BadToken(f"token: issued for another audience than {self.resource}", "token")

    def _grant(self, claims: Mapping[str, Any]) -> Grant:
        scopes = _texts(claims.get("scope", claims.get("scp", ())))
        if READ not in scopes and WRITE not in scopes:
            raise BadToken(f"token: has neither of the scopes {READ} and {WRITE}", "token")
        namespaces = _texts(claims.get(self.namespaces_claim, ()))
        if not namespaces:
            raise BadToken(f"token: names no namespaces in its claim {self.namespaces_claim}", "token")
        return Grant(None if EVERY_NAMESPACE in namespaces else tuple(namespaces), WRITE in scopes)


def issuer(settings: Settings) -> Issuer | None:
    """The issuer that the settings name, or None. Unavailable if its library is missing, Invalid if half is set."""
    if not settings.oauth_issuer:
        return None
    if urlsplit(settings.oauth_resource).scheme not in ("http", "https"):
        raise Invalid("oauth_resource: set it to the public address of this daemon", "oauth_resource")
    try:
        import jwt  # noqa: F401
    except ImportError:
        raise Unavailable("oauth_issuer: needs the extra `oauth`: pip install 'mnemic[oauth]'.") from None
    return Issuer(settings.oauth_issuer, settings.oauth_resource.rstrip("/"), settings.oauth_namespaces_claim)


@functools.cache
def _keys(url: str) -> PyJWKClient:
    """The signing keys of the issuer, fetched when a token needs one and kept for a while."""
    import jwt

    return jwt.PyJWKClient(
        _key_address(url), cache_keys=True, lifespan=KEYS_LIFETIME_SECONDS, timeout=TIMEOUT_SECONDS
    )


def _key_address(url: str) -> str:
    """The `jwks_uri` in the issuer's metadata (RFC 8414, or OpenID Connect discovery)."""
    import httpx

    parts = urlsplit(url)
    base, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    for address in (
        f"{base}/.well-known/oauth-authorization-server{path}",
        f"{base}{path}/.well-known/openid-configuration",
    ):
        try:
            answered = httpx.get(address, timeout=TIMEOUT_SECONDS)
            if answered.status_code == 200:
                return str(answered.json()["jwks_uri"])
        except (httpx.HTTPError, ValueError, KeyError):
            continue
    raise Unavailable("The authorization server does not say where its keys are; check oauth_issuer.")


def _texts(value: object) -> list[str]:
    """A claim as texts: a list, or words separated by blanks."""
    if isinstance(value, str):
        return value.split()
    return [str(one) for one in value] if isinstance(value, (list, tuple)) else []


def _actor(claims: Mapping[str, Any]) -> str:
    return next((str(claims[name])[:64] for name in NAMES if claims.get(name)), "oauth")
