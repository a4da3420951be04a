"""The OpenAPI 3.1 document of the REST interface, derived from the declarations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic.json_schema import models_json_schema

from mnemic.dialects.operation import Dialect, Operation, input_schema
from mnemic.surfaces.mcp import server_info
from mnemic.surfaces.replies import STATUS

if TYPE_CHECKING:
    from pydantic import BaseModel

Part = dict[str, Any]
References = Mapping[tuple[type["BaseModel"], str], Part]

PREFIX = "/api/v1"
ABOUT = (
    "The memory of AI agents over HTTP. Every tool of every vocabulary is at /api/v1/tools/DIALECT/TOOL: "
    "a POST with its arguments as a JSON object is answered with its reply as a JSON object."
)

_ERROR: Part = {
    "type": "object",
    "required": ["error", "code", "message"],
    "properties": {
        "error": {"type": "string", "description": "what is wrong, in words"},
        "code": {"type": "string", "enum": sorted(STATUS)},
        "message": {"type": "string", "description": "the same as error"},
        "field": {"type": "string", "description": "the argument at fault"},
    },
}
_HEALTH: Part = {
    "type": "object",
    "required": ["status", "service", "version"],
    "properties": {name: {"type": "string"} for name in ("status", "service", "version")},
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
    """The whole document for these vocabularies."""
    dialects = list(dialects)
    paths, schemas = _own_paths(), {"Error": _ERROR, "Health": _HEALTH}
    for dialect in dialects:
        references, definitions = _schemas(dialect)
        schemas |= definitions
        for operation in dialect.operations.values():
            for verb, path, part in _operations(dialect, operation, references):
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
    tools = _answer("Every tool of every vocabulary.", {"type": "object"})
    health = {"summary": "Health", "operationId": "health", "responses": here, "security": [{}]}
    return {
        f"{PREFIX}/health": {"get": health},
        f"{PREFIX}/tools": {"get": {"summary": "List the tools", "operationId": "tools", "responses": tools}},
    }


def _schemas(dialect: Dialect) -> tuple[References, Part]:
    """Where the shapes of *dialect* are found among the components, and the components."""
    modes: list[tuple[type[BaseModel], Literal["validation", "serialization"]]] = []
    for operation in dialect.operations.values():
        modes += [(operation.request, "validation"), (operation.reply, "serialization")]
    prefix = f"{dialect.name}."
    references, whole = models_json_schema(
        modes, by_alias=True, ref_template="#/components/schemas/" + prefix + "{model}"
    )
    return references, {prefix + name: part for name, part in whole.get("$defs", {}).items()}  # type: ignore[return-value]


def _operations(
    dialect: Dialect, operation: Operation, references: References
) -> Iterator[tuple[str, str, Part]]:
    """Every way to reach *operation*: verb, path, description."""
    routes = (f"POST /tools/{dialect.name}/{operation.name}", *operation.http)
    for number, route in enumerate(routes):
        verb, path = route.split()
        part: Part = {
            "operationId": f"{dialect.name}.{operation.name}" + (f".{number}" if number else ""),
            "tags": [dialect.name],
            "summary": operation.title,
            "description": operation.description,
            "responses": _answer("The reply.", references[operation.reply, "serialization"]),
        }
        yield verb.lower(), PREFIX + path, part | _input(verb, path, operation, references)


def _input(verb: str, path: str, operation: Operation, references: References) -> Part:
    """How *operation* is given its arguments: in the path, then in the query of a GET or in a body."""
    brief = input_schema(operation.request)
    in_path = re.findall(r"\{(\w+)\}", path)
    parameters = [_parameter("path", name, brief) for name in in_path]
    if verb in ("GET", "DELETE"):
        in_query = [name for name in brief["properties"] if name not in in_path]
        return {"parameters": parameters + [_parameter("query", name, brief) for name in in_query]}
    body = {"schema": references[operation.request, "validation"], "examples": _examples(operation)}
    part: Part = {"requestBody": {"content": {"application/json": body}}}
    return part | ({"parameters": parameters} if parameters else {})


def _parameter(place: str, name: str, brief: Part) -> Part:
    is_required = place == "path" or name in brief.get("required", ())
    return {"name": name, "in": place, "required": is_required, "schema": brief["properties"].get(name, {})}


def _examples(operation: Operation) -> Part:
    return {
        str(number): {"summary": example.purpose or operation.title, "value": dict(example.arguments)}
        for number, example in enumerate(operation.examples, 1)
    }


def _answer(text: str, schema: Part) -> Part:
    good = {"description": text, "content": {"application/json": {"schema": schema}}}
    return {"200": good} | {status: {"$ref": f"#/components/responses/{status}"} for status in _FAILURES}


def _failures() -> Part:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {status: {"description": text, "content": content} for status, text in _FAILURES.items()}
