"""Login of the dashboard: routes that set and clear its cookie, and say what the caller may do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mnemic.errors import Invalid
from mnemic.transports.http.auth import CONTEXT, LOGIN, Tokens
from mnemic.transports.http.cookies import LIFE_SECONDS, Cookies, cookie_name
from mnemic.transports.http.openapi import PREFIX
from mnemic.transports.http.responses import reply
from mnemic.transports.json_input import parse_object
from mnemic.transports.mcp.methods import server_info

if TYPE_CHECKING:
    from mnemic.core.context import Context


def login_routes(tokens: Tokens, cookies: Cookies) -> Iterator[Route]:
    """Routes to log a browser in and out, and to ask what it may do."""

    async def login(request: Request) -> Response:
        secret = parse_object(await request.body()).get("token")
        if not isinstance(secret, str):
            raise Invalid("token: must be a text", "token")
        await tokens.context(secret.encode(), request.scope)
        return _with_cookie(request, cookies.issue(secret.encode()), int(LIFE_SECONDS))

    async def logout(request: Request) -> Response:
        cookies.revoke(request.headers)
        return _with_cookie(request, "", 0)

    async def whoami(request: Request) -> Response:
        ctx: Context = request.scope[CONTEXT]
        about = {
            "version": server_info()["version"],
            "needs_token": tokens.are_needed(),
            "can_write": ctx.may_write,
            "is_admin": ctx.may_write and ctx.granted is None,
            "namespaces": ctx.granted,
        }
        return reply(about)

    yield Route(LOGIN, login, methods=["POST"])
    yield Route(f"{PREFIX}/logout", logout, methods=["POST"])
    yield Route(f"{PREFIX}/whoami", whoami)


def _with_cookie(request: Request, value: str, seconds: int) -> Response:
    answer = reply({"logged_in": bool(value)})
    answer.set_cookie(
        cookie_name(request.headers),
        value,
        max_age=seconds,
        path=PREFIX,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer
