"""Routing by fixed path in one look-up, and by method."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

CHANGES = "mnemic.changes"
"""Key of the ASGI scope that holds the numbers of the changes a request has made."""
CHANGES_HEADER = "Mnemic-Changes"
"""Header of the response with these numbers, as `undo` takes them."""
Handler = Callable[[Request], Awaitable[Response]]


class Fixed(BaseRoute):
    """Routes without path parameters, found by one dictionary look-up."""

    def __init__(self, routes: Iterable[Route]):
        self._routes = {route.path: route for route in routes}

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match the path and its method."""
        route = self._routes.get(scope["path"])
        return route.matches(scope) if route else (Match.NONE, {})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a matching request."""
        scope["route"] = route = self._routes[scope["path"]]
        await route.handle(scope, receive, send)


def in_order(routes: Iterable[Route]) -> list[BaseRoute]:
    """*routes* in order of matching: all fixed paths in one step, then the others in turn."""
    by_kind: dict[bool, list[Route]] = {True: [], False: []}
    for route in routes:
        by_kind[not route.param_convertors].append(route)
    return [Fixed(by_kind[True]), *by_kind[False]]


class ByVerb:
    """ASGI app of one path with a handler per method. HEAD is answered by GET. Tells what a request has changed."""

    def __init__(self, handlers: Mapping[str, Handler]):
        self._handlers = {"HEAD": handlers["GET"], **handlers} if "GET" in handlers else handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the handler of the method."""
        response = await self._handlers[scope["method"]](Request(scope, receive))
        if scope.get(CHANGES):
            response.headers[CHANGES_HEADER] = ",".join(map(str, scope[CHANGES]))
        await response(scope, receive, send)
