"""JSON schemas of requests: short ones for language models, full ones for dialects whose clients expect them."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel

_OMITTED = frozenset(
    (
        *("$defs", "additionalProperties", "default", "title"),
        *("exclusiveMaximum", "maxItems", "maxLength", "maximum", "minItems", "minLength", "minimum"),
    )
)

UNLISTED, ALWAYS, IN_LISTS = "x-unlisted", "always", "in lists"
"""Marks a field that is accepted and documented, but not shown in lists of tools; or not within a list of objects."""
DRAFT_07 = "http://json-schema.org/draft-07/schema#"
EXTENSION = "x-extension"
"""Marks an argument of ours that the dialect's document does not have."""

MACHINE_WORD = 1 << 62
"""A larger bound is that of the integers we store, which tells a caller nothing."""


@functools.cache
def input_schema(shape: type[BaseModel]) -> dict[str, Any]:
    """Short JSON schema of a request: names, types, choices, descriptions and required fields.

    Bounds and defaults are part of the description: some clients drop those keywords and some refuse them.
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
    added = ", ".join(facts)
    if text.endswith(")"):
        return {**part, "description": f"{text[:-1]}, {added})"}
    return {**part, "description": f"{text} ({added})" if text else added.capitalize()}


def _bounds(whole: Mapping[str, Any]) -> Iterator[str]:
    """The range of a number, where it has both ends."""
    numbers = [
        choice for choice in whole.get("anyOf", [whole]) if "minimum" in choice and "maximum" in choice
    ]
    if numbers and numbers[0]["maximum"] < MACHINE_WORD:
        yield f"{numbers[0]['minimum']:.9g}-{numbers[0]['maximum']:.9g}"


def _default(whole: Mapping[str, Any]) -> Iterator[str]:
    """The default, where it is more than nothing."""
    default = whole.get("default")
    if default not in (None, "", [], {}):
        yield f"default {json.dumps(default) if isinstance(default, bool) else default}"


def _slim(part: Any, definitions: Mapping[str, Any]) -> Any:
    """*part* of a schema with its references resolved, without keywords a model does not need."""
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
        elif key not in _OMITTED:
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


@functools.cache
def whole_schema(
    shape: type[BaseModel], mode: Literal["validation", "serialization"] = "validation"
) -> dict[str, Any]:
    """The schema of *shape* without references, generated names, or arguments that are extensions."""
    whole = shape.model_json_schema(by_alias=True, mode=mode)
    return {"$schema": DRAFT_07, **_plain(whole, whole.get("$defs", {}))}


def without_closure(part: Any) -> Any:
    """*part* of a schema without `additionalProperties: false`, which google-genai's converter rejects.

    Unknown arguments are refused in any case.
    """
    if isinstance(part, list):
        return [without_closure(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {
        key: without_closure(value)
        for key, value in part.items()
        if key != "additionalProperties" or not isinstance(value, bool)
    }


def _plain(part: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(part, list):
        return [_plain(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        own = {key: value for key, value in part.items() if key != "$ref"}
        return _plain(definitions[part["$ref"].rsplit("/", 1)[-1]], definitions) | own
    plain = {key: _plain(value, definitions) for key, value in part.items() if key not in ("title", "$defs")}
    if plain.get("additionalProperties") is True:
        del plain["additionalProperties"]
    if "properties" in part:
        # The description of a model is its docstring, written for readers of the code.
        plain.pop("description", None)
        plain["properties"] = {
            name: _plain(value, definitions)
            for name, value in part["properties"].items()
            if EXTENSION not in value
        }
    return plain
