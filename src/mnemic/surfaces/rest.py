"""REST: every tool at its own address, and at the addresses its operation declares."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mnemic.dialects.operation import Dialect, Operation, input_schema
from mnemic.errors import NotFound
from mnemic.surfaces.bridge import call, cross, guarded
from mnemic.surfaces.guard import CONTEXT
from mnemic.surfaces.mcp import server_info
from mnemic.surfaces.openapi import PREFIX, document
from mnemic.surfaces.parsing import parse_object
from mnemic.surfaces.replies import reply, told

if TYPE_CHECKING:
    from mnemic.core.context import Context

ACTOR = "http"
"""Who changed something over REST, in the journal's words."""


class Rest:
    """The addresses below /api/v1 for these vocabularies."""

    def __init__(self, dialects: Mapping[str, Dialect]):
        self._dialects = dialects

    def routes(self) -> Iterator[Route]:
        """What is fixed, then what the operations declare."""
        yield Route(f"{PREFIX}/health", self.health)
        yield Route(f"{PREFIX}/openapi.json", self.openapi)
        yield Route(f"{PREFIX}/tools", self.tools)
        yield Route(f"{PREFIX}/tools/{{dialect}}/{{tool}}", self.call, methods=["POST"])
        for dialect in self._dialects.values():
            for operation in dialect.operations.values():
                yield from _declared_routes(dialect, operation)

    async def health(self, request: Request) -> Response:
        """That we are here, and that the store answers."""
        await cross(guarded, caller(request).store.sequence)
        return reply({"status": "ok", "service": "ai-memory", "version": server_info()["version"]})

    async def openapi(self, request: Request) -> Response:
        """The description of all this."""
        return reply(self._document)

    @functools.cached_property
    def _document(self) -> dict[str, Any]:
        return document(self._dialects.values())

    async def tools(self, request: Request) -> Response:
        """Every tool of every vocabulary."""
        listed = [
            {"dialect": dialect.name, **dialect.listed(operation)}
            for dialect in self._dialects.values()
            for operation in dialect.operations.values()
        ]
        return reply({"tools": listed, "count": len(listed)})

    async def call(self, request: Request) -> Response:
        """The tool that the address names, given the body as its arguments."""
        name = request.path_params["dialect"]
        if name not in self._dialects:
            raise NotFound(f"Unknown dialect: {name[:40]}. There are: {', '.join(self._dialects)}")
        arguments = parse_object(await request.body())
        return told(await call(self._dialects[name], caller(request), request.path_params["tool"], arguments))


def _declared_routes(dialect: Dialect, operation: Operation) -> Iterator[Route]:
    for declared in operation.http:
        verb, path = declared.split()
        yield Route(PREFIX + path, functools.partial(_declared, dialect, operation), methods=[verb])


async def _declared(dialect: Dialect, operation: Operation, request: Request) -> Response:
    """An operation at an address of its own: arguments come in the path and in the query or the body."""
    if request.method in ("POST", "PUT", "PATCH"):
        arguments = parse_object(await request.body())
    else:
        arguments = queried(operation, request)
    return told(await call(dialect, caller(request), operation.name, {**arguments, **request.path_params}))


def queried(operation: Operation, request: Request) -> dict[str, Any]:
    """The arguments in a query; a field that is a list takes all values of its name, any other the last."""
    fields = input_schema(operation.request)["properties"]
    query = request.query_params
    lists = {name for name, part in fields.items() if part.get("type") == "array"}
    return {name: query.getlist(name) if name in lists else query[name] for name in query}


def caller(request: Request) -> Context:
    """The context that the guard gave this request."""
    ctx: Context = request.scope[CONTEXT]
    return ctx.on_behalf_of(ACTOR)
