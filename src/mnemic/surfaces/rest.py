"""REST: every tool at its own address, and what the vocabularies declare at others."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mnemic.dialects.brief import input_schema
from mnemic.dialects.operation import Dialect, Operation, whole_body
from mnemic.errors import MnemicError, NotFound
from mnemic.surfaces.bridge import call, guarded, serve
from mnemic.surfaces.guard import CALLER, CONTEXT, KEY
from mnemic.surfaces.mcp import server_info
from mnemic.surfaces.openapi import PREFIX, document
from mnemic.surfaces.parsing import parse_json, parse_object
from mnemic.surfaces.replies import as_it_is, described, reply, told
from mnemic.surfaces.routes import ByVerb, Handler
from mnemic.surfaces.workers import Caller, Workers

if TYPE_CHECKING:
    from mnemic.core.context import Context

ACTOR = "http"
"""Who changed something over REST, in the journal's words."""
SERVICE = "ai-memory"
"""The name that health gives, since the clients of that server look for it."""
BODIED = frozenset(("POST", "PUT", "PATCH"))

_BLANK_OFFSET = re.compile(r"(:\d\d(?:\.\d+)?) (\d\d:\d\d)\Z")


class Rest:
    """The addresses below /api/v1 for these vocabularies, and for *views* of them, which are called but not listed."""

    def __init__(self, dialects: Mapping[str, Dialect], views: Mapping[str, Dialect] | None = None):
        self._dialects = dialects
        self._callable = {**dialects, **(views or {})}
        self._probe = Caller("health", Workers(threads=1))
        """A thread of its own: whoever asks for our health does not wait behind the work."""

    def routes(self) -> Iterator[Route]:
        """What there is of our own, then what the vocabularies declare."""
        yield Route(f"{PREFIX}/health", self.health)
        yield Route(f"{PREFIX}/openapi.json", self.openapi)
        yield Route(f"{PREFIX}/tools", self.tools)
        yield Route(f"{PREFIX}/tools/{{dialect}}/{{tool}}", ByVerb({"POST": self.call}), methods=["POST"])
        yield from self._declared()

    def _declared(self) -> Iterator[Route]:
        """One route for each path, so that whoever comes with another method is told of all there are."""
        handlers: dict[str, dict[str, Handler]] = {}
        for dialect in self._dialects.values():
            for operation in dialect.operations.values():
                _place(handlers, operation, functools.partial(_tool, dialect, operation))
            for operation in dialect.endpoints.values():
                _place(handlers, operation, functools.partial(_endpoint, dialect, operation))
        for path, verbs in handlers.items():
            yield Route(PREFIX + path, ByVerb(verbs), methods=list(verbs))

    async def health(self, request: Request) -> Response:
        """That we are here, that the store answers and that its words are found."""
        about = {"service": SERVICE, "version": server_info()["version"]}
        try:
            await self._probe.run(guarded, caller(request).store.probe)
        except MnemicError as error:
            return reply({"status": "error", **about, **described(error)}, 503)
        return reply({"status": "ok", **about})

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
        if name not in self._callable:
            raise NotFound(f"Unknown dialect: {name[:40]}. There are: {', '.join(self._callable)}")
        arguments = parse_object(await request.body())
        tool = request.path_params["tool"]
        return told(await call(request.scope[CALLER], self._callable[name], caller(request), tool, arguments))


def _place(handlers: dict[str, dict[str, Handler]], operation: Operation, handler: Handler) -> None:
    for declared in operation.http:
        verb, path = declared.split()
        handlers.setdefault(path, {})[verb] = handler


async def _tool(dialect: Dialect, operation: Operation, request: Request) -> Response:
    """A tool at an address of its own: arguments come in the path and in the query or the body."""
    if request.method in BODIED:
        arguments = parse_object(await request.body())
    else:
        arguments = queried(operation, request)
    given = {**arguments, **request.path_params}
    return told(await call(request.scope[CALLER], dialect, caller(request), operation.name, given))


async def _endpoint(dialect: Dialect, operation: Operation, request: Request) -> Response:
    """What is no tool: arguments come in the path, the body and the query; of one given twice, the first counts."""
    arguments = queried(operation, request)
    if request.method in BODIED:
        arguments |= in_body(operation, await request.body())
    arguments |= request.path_params
    body = await serve(request.scope[CALLER], dialect, operation, caller(request), arguments)
    return as_it_is(body, operation.status)


def in_body(operation: Operation, body: bytes) -> dict[str, Any]:
    """The arguments in a body: an object of them, or the one that the whole body is."""
    field = whole_body(operation.request)
    return parse_object(body) if field is None else {field: parse_json(body)}


def queried(operation: Operation, request: Request) -> dict[str, Any]:
    """The arguments in a query; a field that is a list takes all values of its name, any other the last."""
    if not request.scope["query_string"]:
        return {}
    fields = input_schema(operation.request)["properties"]
    query = request.query_params
    return {name: _value(query, name, fields.get(name, {})) for name in query if name != KEY}


def _value(query: QueryParams, name: str, schema: Mapping[str, Any]) -> str | list[str]:
    if schema.get("type") == "array":
        return query.getlist(name)
    value: str = query[name]
    # The plus of an offset is a blank in a query, unless the client has taken care of it.
    return _BLANK_OFFSET.sub(r"\1+\2", value) if schema.get("format") == "date-time" else value


def caller(request: Request) -> Context:
    """The context that the guard gave this request."""
    ctx: Context = request.scope[CONTEXT]
    return ctx.on_behalf_of(ACTOR)
