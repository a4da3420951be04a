"""REST: every tool under its own path, and the endpoints that dialects declare."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from mnemic.dialects.execution import answer, answer_tool, guarded, perform
from mnemic.dialects.framework import Dialect, Operation, Tool, whole_body
from mnemic.dialects.json_schema import input_schema
from mnemic.errors import MnemicError, NotFound
from mnemic.transports.http.auth import CALLER, CONTEXT, KEY
from mnemic.transports.http.cookies import CLIENT
from mnemic.transports.http.openapi import PREFIX, document
from mnemic.transports.http.responses import as_it_is, described, reply, response_of
from mnemic.transports.http.routes import CHANGES, ByVerb, Handler
from mnemic.transports.json_input import parse_json, parse_object
from mnemic.transports.mcp.methods import server_info
from mnemic.transports.workers import Caller, Workers

if TYPE_CHECKING:
    from mnemic.core.context import Context

ACTOR = "http"
"""Actor of changes made over REST by a client that does not say its name."""
BODIED = frozenset(("POST", "PUT", "PATCH"))
QUICK_CHARACTERS = 500
QUICK_MEMORIES = 20_000

_NAME = re.compile(r"[\w.@-][\w.@ -]{0,63}")
_BLANK_OFFSET = re.compile(r"(:\d\d(?:\.\d+)?) (\d\d:\d\d)\Z")


class Rest:
    """Routes under /api/v1 for these dialects and for *views* (callable, not listed)."""

    def __init__(self, dialects: Mapping[str, Dialect], views: Mapping[str, Dialect] | None = None):
        self._dialects = dialects
        self._callable = {**dialects, **(views or {})}
        named = (dialect.service for dialect in dialects.values() if dialect.service)
        self._service = next(named, server_info()["name"])
        self._probe = Caller("health", Workers(threads=1))
        """Own thread for health checks, so that they never wait behind work."""

    def routes(self) -> Iterator[Route]:
        """Our own routes, then those the dialects declare."""
        yield Route(f"{PREFIX}/health", self.health)
        yield Route(f"{PREFIX}/openapi.json", self.openapi)
        yield Route(f"{PREFIX}/tools", self.tools)
        yield Route(f"{PREFIX}/export.jsonl", export_lines)
        yield Route(f"{PREFIX}/tools/{{dialect}}/{{tool}}", ByVerb({"POST": self.call}), methods=["POST"])
        yield from self._declared()

    def _declared(self) -> Iterator[Route]:
        """One route per path, so that the answer to a wrong method lists all allowed ones."""
        handlers: dict[str, dict[str, Handler]] = {}
        for dialect in self._dialects.values():
            for operation in dialect.operations.values():
                _place(handlers, operation, functools.partial(_tool, Tool(dialect, operation)))
            for operation in dialect.endpoints.values():
                _place(handlers, operation, functools.partial(_endpoint, Tool(dialect, operation)))
            for operation in dialect.commands.values():
                path = f"/tools/{dialect.name}/{operation.name}"
                handlers.setdefault(path, {})["POST"] = functools.partial(_endpoint, Tool(dialect, operation))
        for path, verbs in handlers.items():
            yield Route(PREFIX + path, ByVerb(verbs), methods=list(verbs))

    async def health(self, request: Request) -> Response:
        """Health: the daemon runs, the store answers and its word index is readable."""
        about = {"service": self._service, "version": server_info()["version"]}
        try:
            ctx = caller(request)
            await self._probe.run(guarded, functools.partial(ctx.engines.probe, ctx.store))
        except MnemicError as error:
            return reply({"status": "error", **about, **described(error)}, 503)
        return reply({"status": "ok", **about})

    async def openapi(self, request: Request) -> Response:
        """The OpenAPI document."""
        return reply(self._document)

    @functools.cached_property
    def _document(self) -> dict[str, Any]:
        return document(self._dialects.values())

    async def tools(self, request: Request) -> Response:
        """Every tool of every dialect."""
        listed = [
            {"dialect": dialect.name, **dialect.listed(operation)}
            for dialect in self._dialects.values()
            for operation in dialect.operations.values()
        ]
        return reply({"tools": listed, "count": len(listed)})

    async def call(self, request: Request) -> Response:
        """Call the tool in the path with the body as arguments."""
        name = request.path_params["dialect"]
        if name not in self._callable:
            raise NotFound(f"Unknown dialect: {name[:40]}. There are: {', '.join(self._callable)}")
        arguments = parse_object(await request.body())
        tool = request.path_params["tool"]
        ctx, dialect = caller(request), self._callable[name]
        return response_of(await _worker(request).run(answer, dialect, ctx, tool, arguments))


async def export_lines(request: Request) -> Response:
    """Everything the caller may see as lines of JSON that lose nothing, in constant memory."""
    from mnemic.transfer.formats import Format, export

    pieces = export(caller(request), Format.JSONL)
    headers = {"Content-Disposition": 'attachment; filename="mnemic.jsonl"', "Cache-Control": "no-store"}
    return StreamingResponse(pieces, 200, headers, "application/x-ndjson")


def _place(handlers: dict[str, dict[str, Handler]], operation: Operation, handler: Handler) -> None:
    for declared in operation.http:
        verb, path = declared.split()
        handlers.setdefault(path, {})[verb] = handler


async def _tool(tool: Tool, request: Request) -> Response:
    """A tool at a path of its own: arguments from the path and the query or body."""
    if request.method in BODIED:
        arguments = parse_object(await request.body())
    else:
        arguments = queried(tool.operation, request)
    given = {**arguments, **request.path_params}
    return response_of(await _worker(request).run(answer_tool, tool, caller(request), given))


async def _endpoint(tool: Tool, request: Request) -> Response:
    """An endpoint: arguments from path, body and query; the first wins."""
    arguments = queried(tool.operation, request)
    if request.method in BODIED:
        arguments |= in_body(tool.operation, await request.body())
    arguments |= request.path_params
    body = await serve(_worker(request), tool, caller(request), arguments)
    return as_it_is(body, tool.operation.status)


async def serve(caller: Caller, tool: Tool, ctx: Context, arguments: Mapping[str, Any]) -> bytes:
    """`perform`, inline if the call is quick, else in a worker thread."""
    if is_quick(tool.operation, ctx, arguments):
        return perform(tool, ctx, arguments)
    return await caller.run(perform, tool, ctx, arguments)


def is_quick(operation: Operation, ctx: Context, arguments: Mapping[str, Any]) -> bool:
    """Whether a call finishes sooner than a thread switch: a few words against a small store.

    Threads that recall concurrently contend for the interpreter at every row SQLite returns, which costs more than the
    recall itself.
    """
    return (
        operation.defers_uses
        and ctx.uses is not None
        and ctx.embedder is None
        and ctx.language is None
        and sum(len(value) for value in arguments.values() if isinstance(value, str)) <= QUICK_CHARACTERS
        and guarded(ctx.read().statistics, (), None).total <= QUICK_MEMORIES
    )


def in_body(operation: Operation, body: bytes) -> dict[str, Any]:
    """Arguments in the body: an object, or the one field that is the whole body."""
    field = whole_body(operation.request)
    return parse_object(body) if field is None else {field: parse_json(body)}


def queried(operation: Operation, request: Request) -> dict[str, Any]:
    """Arguments in the query; a list field takes every value of its name, any other the last."""
    if not request.scope["query_string"]:
        return {}
    fields = input_schema(operation.request)["properties"]
    query = request.query_params
    return {name: _value(query, name, fields.get(name, {})) for name in query if name != KEY}


def _value(query: QueryParams, name: str, schema: Mapping[str, Any]) -> str | list[str]:
    if schema.get("type") == "array":
        return query.getlist(name)
    value: str = query[name]
    # An unescaped plus of a UTC offset arrives as a blank.
    return _BLANK_OFFSET.sub(r"\1+\2", value) if schema.get("format") == "date-time" else value


def caller(request: Request) -> Context:
    """The context that authentication put into the scope; its changes are recorded there too."""
    ctx: Context = request.scope[CONTEXT]
    changes: list[int] = request.scope.setdefault(CHANGES, [])
    return replace(ctx.on_behalf_of(_client_name(request) or ACTOR), committed=changes.append)


def _worker(request: Request) -> Caller:
    """The client's share of the worker threads."""
    worker: Caller = request.scope[CALLER]
    return worker


def _client_name(request: Request) -> str | None:
    """What the client calls itself, if that is a short name."""
    name: str | None = request.headers.get(CLIENT)
    return name if name and _NAME.fullmatch(name) else None
