"""The OpenAPI 3.1 document of the REST API, derived from the declarations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

from pydantic import RootModel, TypeAdapter

from mnemic.dialects.framework import Dialect, Operation, whole_body
from mnemic.dialects.json_schema import input_schema
from mnemic.transports.http.responses import BROKEN, FAILURES
from mnemic.transports.mcp.methods import server_info

Part = dict[str, Any]
Mode = Literal["validation", "serialization"]
References = Mapping[tuple[Any, Mode], Part]

PREFIX = "/api/v1"
ABOUT = (
    "The memory of AI agents over HTTP. Every tool of every dialect is at /api/v1/tools/DIALECT/TOOL: "
    "a POST with its arguments as a JSON object is answered with its reply as a JSON object. DIALECT "
    "may be `all`, which has every tool. At the other addresses arguments may come in the query too."
)

_ERROR: Part = {
    "type": "object",
    "required": ["error", "code", "message"],
    "properties": {
        "error": {"type": "string", "description": "what is wrong, in words"},
        "code": {
            "type": "string",
            "enum": sorted({failing.code for failing in (*FAILURES.values(), BROKEN)}),
        },
        "message": {"type": "string", "description": "the same as error"},
        "field": {"type": "string", "description": "the argument at fault"},
    },
}
_HEALTH: Part = {
    "type": "object",
    "required": ["status", "service", "version"],
    "properties": {
        "status": {"type": "string", "enum": ["ok", "error"]},
        "service": {"type": "string"},
        "version": {"type": "string"},
    },
}
_FAILURES: Mapping[str, str] = {
    "400": "An argument is missing, unknown or wrong.",
    "401": "A token is needed.",
    "403": "The caller may not do this.",
    "404": "There is no such thing.",
    "409": "It would break something that stands.",
    "413": "The body is too large.",
    "500": "Something broke; the log says what.",
    "503": "Busy, or a part is missing.",
}


def document(dialects: Iterable[Dialect]) -> Part:
    """The document for these dialects."""
    dialects = list(dialects)
    paths, schemas = _own_paths(), {"Error": _ERROR, "Health": _HEALTH}
    for dialect in dialects:
        references, definitions = _schemas(dialect)
        schemas |= definitions
        for verb, path, part in _operations(dialect, references):
            paths.setdefault(path, {})[verb] = part
    info = server_info()
    return {
        "openapi": "3.1.0",
        "info": {"title": info["title"], "version": info["version"], "description": ABOUT},
        "tags": [{"name": dialect.name, "description": dialect.title} for dialect in dialects],
        "paths": paths,
        "components": {"schemas": schemas, "responses": _failures(), "securitySchemes": _SECURITY},
        "security": [{}, {"bearer": []}, {"key": []}],
    }


_SECURITY: Part = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}


def _own_paths() -> Part:
    here = _answer("The daemon is there.", {"$ref": "#/components/schemas/Health"})
    tools = _answer("Every tool of every dialect.", {"type": "object"})
    ill = _good("The store or its words do not answer.", {"$ref": "#/components/schemas/Health"})
    health = {
        "summary": "Health",
        "operationId": "health",
        "responses": here | {"503": ill},
        "security": [{}],
    }
    live = {
        "summary": "Live",
        "description": "Server-sent events: `change` for each change and `recall` for each recall, as they happen.",
        "operationId": "live",
        "responses": {"200": {"description": "Events.", "content": {"text/event-stream": {}}}},
    }
    return {
        f"{PREFIX}/live": {"get": live},
        f"{PREFIX}/health": {"get": health},
        f"{PREFIX}/tools": {"get": {"summary": "List the tools", "operationId": "tools", "responses": tools}},
    }


def _schemas(dialect: Dialect) -> tuple[References, Part]:
    """Prefix and components of the request and reply types of *dialect*."""
    adapters: list[tuple[Any, Mode, TypeAdapter[Any]]] = []
    for operation in (*_called(dialect), *dialect.endpoints.values()):
        adapters.append((operation.request, "validation", TypeAdapter(operation.request)))
        adapters.append((operation.reply, "serialization", TypeAdapter(operation.reply)))
    prefix = f"{dialect.name}."
    references, whole = TypeAdapter.json_schemas(
        adapters, by_alias=True, ref_template="#/components/schemas/" + prefix + "{model}"
    )
    return references, {prefix + name: part for name, part in whole.get("$defs", {}).items()}


def _operations(dialect: Dialect, references: References) -> Iterator[tuple[str, str, Part]]:
    """Method, path and description of every route of *dialect*."""
    for operation in _called(dialect):
        routes = (f"POST /tools/{dialect.name}/{operation.name}", *operation.http)
        yield from _ways(dialect, operation, routes, references)
    for operation in dialect.endpoints.values():
        yield from _ways(dialect, operation, operation.http, references, "endpoint.")


def _called(dialect: Dialect) -> tuple[Operation, ...]:
    """The tools and commands, each at an address of its name."""
    return (*dialect.operations.values(), *dialect.commands.values())


def _ways(
    dialect: Dialect, operation: Operation, routes: Iterable[str], references: References, kind: str = ""
) -> Iterator[tuple[str, str, Part]]:
    """*operation* at each of *routes*."""
    for number, route in enumerate(routes):
        verb, path = route.split()
        part: Part = {
            "operationId": f"{dialect.name}.{kind}{operation.name}" + (f".{number}" if number else ""),
            "tags": [dialect.name],
            "summary": operation.title,
            "description": operation.description,
            "responses": _answer(
                "The reply.",
                references[operation.reply, "serialization"],
                operation.status,
                is_text=_may_be_text(operation.reply),
            ),
        }
        yield verb.lower(), PREFIX + path, part | _input(verb, path, operation, references)


def _input(verb: str, path: str, operation: Operation, references: References) -> Part:
    """Parameters of *operation*: path, then query (GET) or body."""
    brief = input_schema(operation.request)
    in_path = re.findall(r"\{(\w+)\}", path)
    parameters = [_parameter("path", name, brief) for name in in_path]
    if verb in ("GET", "DELETE"):
        in_query = [name for name in brief["properties"] if name not in in_path]
        return {"parameters": parameters + [_parameter("query", name, brief) for name in in_query]}
    schema = _body(in_path, operation, references)
    part: Part = {"parameters": parameters} if parameters else {}
    if schema is None:
        return part
    content = {"application/json": {"schema": schema, "examples": _examples(operation)}}
    is_required = any(name not in in_path for name in brief.get("required", ()))
    return part | {"requestBody": {"required": is_required, "content": content}}


def _body(in_path: Sequence[str], operation: Operation, references: References) -> Part | None:
    """Schema of the body: the request without its path parameters, or the one field that is the whole body."""
    fields = input_schema(operation.request)["properties"]
    whole = whole_body(operation.request)
    if whole is not None:
        return dict(fields[whole])
    if not in_path:
        return references[operation.request, "validation"]
    left = {name: part for name, part in fields.items() if name not in in_path}
    return {"type": "object", "properties": left} if left else None


def _parameter(place: str, name: str, brief: Part) -> Part:
    is_required = place == "path" or name in brief.get("required", ())
    return {"name": name, "in": place, "required": is_required, "schema": brief["properties"].get(name, {})}


def _examples(operation: Operation) -> Part:
    return {
        str(number): {"summary": example.purpose or operation.title, "value": dict(example.arguments)}
        for number, example in enumerate(operation.examples, 1)
    }


def _answer(text: str, schema: Part, status: int = 200, *, is_text: bool = False) -> Part:
    failures = {failing: {"$ref": f"#/components/responses/{failing}"} for failing in _FAILURES}
    return {str(status): _good(text, schema, is_text)} | failures


def _good(text: str, schema: Part, is_text: bool = False) -> Part:
    plain = {"text/plain": {"schema": {"type": "string"}}} if is_text else {}
    return {"description": text, "content": {"application/json": {"schema": schema}, **plain}}


def _may_be_text(reply: Any) -> bool:
    """Whether a tool may answer with text instead of an object (TOON)."""
    is_root = isinstance(reply, type) and issubclass(reply, RootModel)
    return is_root and str in get_args(reply.model_fields["root"].annotation)


def _failures() -> Part:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {status: {"description": text, "content": content} for status, text in _FAILURES.items()}
