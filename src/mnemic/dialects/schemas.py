"""JSON schemas written out in full, for vocabularies whose clients expect them so."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel

from mnemic.dialects.operation import Operation, hints

DRAFT_07 = "http://json-schema.org/draft-07/schema#"
EXTENSION = "x-extension"
"""Marks an argument of our own, which the vocabulary's documents do not have."""


@functools.cache
def whole_schema(
    shape: type[BaseModel], mode: Literal["validation", "serialization"] = "validation"
) -> dict[str, Any]:
    """The schema of *shape* without references, generated names, or arguments that are extensions."""
    whole = shape.model_json_schema(by_alias=True, mode=mode)
    return {"$schema": DRAFT_07, **_plain(whole, whole.get("$defs", {}))}


def listed_in_full(operation: Operation) -> dict[str, Any]:
    """*operation* as a list of tools shows it, with the whole schema of its arguments and none of its answer."""
    return {
        "name": operation.name,
        "title": operation.title,
        "description": operation.description,
        "inputSchema": without_closure(whole_schema(operation.request)),
        "annotations": hints(operation),
    }


def without_closure(part: Any) -> Any:
    """*part* of a schema without `additionalProperties: false`, which the converter of google-genai fails at.

    An unknown argument is refused whether the schema says so or not.
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
        # What describes a model is its docstring, which speaks to readers of the code.
        plain.pop("description", None)
        plain["properties"] = {
            name: _plain(value, definitions)
            for name, value in part["properties"].items()
            if EXTENSION not in value
        }
    return plain
