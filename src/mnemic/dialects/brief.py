"""The JSON schema of a request as a model reads it, in few words."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

_LOOKED_UP = frozenset(
    (
        *("$defs", "additionalProperties", "default", "title"),
        *("exclusiveMaximum", "maxItems", "maxLength", "minItems", "minLength", "minimum"),
    )
)

_SCALE = 10
"""An upper bound up to this tells what a number means (0 to 1, 1 to 10); above, it is only a limit."""


@functools.cache
def input_schema(shape: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a request as a model reads it: names, types, choices, and what is required.

    A list of tools is paid for in tokens at the start of every conversation. What a caller would only
    look up (lengths, defaults) is left to the OpenAPI document and to the error for a bad argument.
    """
    whole = shape.model_json_schema(by_alias=True)
    slim = _slim(whole, whole.get("$defs", {}))
    fields = slim.get("properties", {})
    slim["properties"] = {name: _without_repetition(part, fields) for name, part in fields.items()}
    return {key: slim[key] for key in ("type", "properties", "required") if key in slim}


def _slim(part: Any, definitions: Mapping[str, Any]) -> Any:
    """*part* of a schema with its references resolved, without what a caller would only look up."""
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        target = {**definitions[part["$ref"].rsplit("/", 1)[-1]]}
        target.pop("description", None)
        part = target | {key: value for key, value in part.items() if key != "$ref"}
    if "anyOf" in part:
        rest = {key: value for key, value in part.items() if key != "anyOf"}
        part = rest | _union(part["anyOf"], definitions)
    slim = {}
    for key, value in part.items():
        if key == "properties":
            slim[key] = {name: _slim(item, definitions) for name, item in value.items()}
        elif key not in _LOOKED_UP and not (key == "maximum" and value > _SCALE):
            slim[key] = _slim(value, definitions)
    return slim


def _union(choices: Sequence[Mapping[str, Any]], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """A choice between schemas, without null: the one that is left, or a list of plain types, or `anyOf`."""
    left = [_slim(choice, definitions) for choice in choices if choice != {"type": "null"}]
    if len(left) == 1:
        return dict(left[0])
    if all(set(choice) == {"type"} for choice in left):
        return {"type": [choice["type"] for choice in left]}
    return {"anyOf": left}


def _without_repetition(part: dict[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """*part*; but of a list of objects that have the request's own fields, only a word that says so."""
    item = part.get("items", {})
    inner = item.get("properties", {})
    if not inner or any(fields.get(name) != schema for name, schema in inner.items()):
        return part
    return {"type": "array", "items": {"type": "object"}, "description": "many, each with these fields"}
