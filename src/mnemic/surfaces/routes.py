"""How an address leads to what answers there: by its path where that is fixed, and by its method."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

Handler = Callable[[Request], Awaitable[Response]]


class Fixed(BaseRoute):
    """Routes whose path has no parameters: one look finds the right one of them, or that there is none."""

    def __init__(self, routes: Iterable[Route]):
        self._routes = {route.path: route for route in routes}

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether one of them is meant, and with a method that it has."""
        route = self._routes.get(scope["path"])
        return route.matches(scope) if route else (Match.NONE, {})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that matches."""
        await self._routes[scope["path"]].handle(scope, receive, send)


def in_order(routes: Iterable[Route]) -> list[BaseRoute]:
    """*routes* as they are to be tried: all that are fixed in one step, then the others one after another."""
    by_kind: dict[bool, list[Route]] = {True: [], False: []}
    for route in routes:
        by_kind[not route.param_convertors].append(route)
    return [Fixed(by_kind[True]), *by_kind[False]]


class ByVerb:
    """The ASGI app of one path: a handler for each method. Who asks for the head is answered as by GET."""

    def __init__(self, handlers: Mapping[str, Handler]):
        self._handlers = {"HEAD": handlers["GET"], **handlers} if "GET" in handlers else handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with what the handler of the method gives."""
        response = await self._handlers[scope["method"]](Request(scope, receive))
        await response(scope, receive, send)
