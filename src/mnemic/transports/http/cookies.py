"""Login cookies of browsers, each tied to a token."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

CLIENT = "mnemic-client"
"""Header with the name of the client, which becomes the actor of its changes.

The dashboard sends it, pages of other origins cannot: a cookie without it changes nothing."""
LIFE_SECONDS = 12 * 3600.0
MOST = 1_000
SAFE = frozenset(("GET", "HEAD"))


class Cookies:
    """Tokens by the random value of a cookie. They are kept in memory: after a restart browsers log in again.

    The cookie does not hold the token itself, since browsers send it to every port of the host.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._tokens: OrderedDict[str, tuple[bytes, float]] = OrderedDict()

    def issue(self, token: bytes) -> str:
        """A new cookie value for *token*."""
        value = secrets.token_urlsafe(32)
        self._tokens[value] = token, self._now() + LIFE_SECONDS
        if len(self._tokens) > MOST:
            self._tokens.popitem(last=False)
        return value

    def token(self, method: str, headers: Mapping[str, str]) -> bytes | None:
        """The token of a request's cookie, or None.

        A request that may change something must also carry the name of its client.
        """
        if "cookie" not in headers or (method not in SAFE and CLIENT not in headers):
            return None
        token, until = self._tokens.get(_value(headers), (None, 0.0))
        return token if until > self._now() else None

    def revoke(self, headers: Mapping[str, str]) -> None:
        """Forget the cookie of a request."""
        self._tokens.pop(_value(headers), None)


def cookie_name(headers: Mapping[str, str]) -> str:
    """The cookie of this port: browsers tell hosts apart, but not ports."""
    port = urlsplit(f"//{headers.get('host', '')}").port
    return f"mnemic_{port or 'login'}"


def _value(headers: Mapping[str, str]) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(cookie_name(headers))
    except (CookieError, ValueError):
        return ""
    return found.value if found else ""
