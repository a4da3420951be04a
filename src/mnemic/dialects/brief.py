"""The JSON schema of a request as a model reads it, in few words."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

_LOOKED_UP = frozenset(
    (
        *("$defs", "additionalProperties", "default", "title"),
        *("exclusiveMaximum", "maxItems", "maxLength", "maximum", "minItems", "minLength", "minimum"),
    )
)

UNLISTED, ALWAYS, IN_LISTS = "x-unlisted", "always", "in lists"
"""Marks a field that is accepted and documented, but not shown in lists of tools; or not within a list of objects."""


@functools.cache
def input_schema(shape: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a request in short: names, types, choices, descriptions, and what is required.

    Bounds and defaults stand in the description: not every client passes the keywords on to the model, and some refuse
    a schema for them.
    """
    whole = shape.model_json_schema(by_alias=True)
    slim = _slim(whole, whole.get("$defs", {}))
    slim["properties"] = {
        name: _described(part, whole["properties"][name]) for name, part in slim.get("properties", {}).items()
    }
    return {key: slim[key] for key in ("type", "properties", "required") if key in slim}


@functools.cache
def tool_schema(shape: type[BaseModel]) -> dict[str, Any]:
    """`input_schema` as a list of tools shows it: without the fields that are marked as unlisted.

    A list of tools is paid for in tokens at the start of every conversation.
    """
    schema = input_schema(shape)
    return {**schema, "properties": _listed(schema["properties"])}


def _listed(properties: Mapping[str, Any], unlisted: tuple[str, ...] = (ALWAYS,)) -> dict[str, Any]:
    return {
        name: _listed_part(part) for name, part in properties.items() if part.get(UNLISTED) not in unlisted
    }


def _listed_part(part: dict[str, Any]) -> dict[str, Any]:
    part = {key: value for key, value in part.items() if key != UNLISTED}
    item = part.get("items", {})
    if "properties" not in item:
        return part
    return {**part, "items": {**item, "properties": _listed(item["properties"], (ALWAYS, IN_LISTS))}}


def _described(part: dict[str, Any], whole: Mapping[str, Any]) -> dict[str, Any]:
    """*part* with its bounds and its default in the description."""
    facts = [*_bounds(whole), *_default(whole)]
    text = part.get("description", "")
    if not facts:
        return part
    told = ", ".join(facts)
    if text.endswith(")"):
        return {**part, "description": f"{text[:-1]}, {told})"}
    return {**part, "description": f"{text} ({told})" if text else told.capitalize()}


def _bounds(whole: Mapping[str, Any]) -> Iterator[str]:
    """The range of a number, where it has both ends."""
    numbers = [
        choice for choice in whole.get("anyOf", [whole]) if "minimum" in choice and "maximum" in choice
    ]
    if numbers:
        yield f"{numbers[0]['minimum']:g}-{numbers[0]['maximum']:g}"


def _default(whole: Mapping[str, Any]) -> Iterator[str]:
    """The default, where it is more than nothing."""
    default = whole.get("default")
    if default not in (None, "", [], {}):
        yield f"default {json.dumps(default) if isinstance(default, bool) else default}"


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
        elif key not in _LOOKED_UP:
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
