"""Arguments as models write them, turned into what the schema says where only one thing can be meant.

Null, and an empty text or list for an optional argument, count as not given: in strict mode a model has to fill in
every argument. A scalar counts as a list of one and the other way round, a text as an object with that text, and a list
or an object may come as JSON text.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

import orjson
from pydantic import BaseModel

WORD_LISTS = frozenset(("tags", "kinds", "types"))
"""Lists of words, which models also write as one text with commas."""
CLEARED_BY_EMPTY = frozenset(("tags", "metadata"))
"""Fields where an empty value is meaningful: it clears the field."""
_NUMBERS = re.compile(r"\s*\d+(\s*,\s*\d+)+\s*")


@dataclass(frozen=True, slots=True)
class Expected:
    """What a field holds: a list, a dict or something else (object), and the shape of its objects, if any."""

    kind: type
    shape: type[BaseModel] | None
    is_required: bool


def coerced(shape: type[BaseModel], arguments: Mapping[Any, Any]) -> dict[Any, Any]:
    """*arguments* for *shape*, each in the type that is expected where that is plain; unknown ones as they are."""
    fields = expected(shape)
    return {
        name: _as(fields[name], name, value) if name in fields else value
        for name, value in arguments.items()
        if name not in fields or _is_given(fields[name], name, value)
    }


@functools.cache
def expected(shape: type[BaseModel]) -> dict[str, Expected]:
    """What each field of *shape* holds."""
    return {
        name: Expected(_kind(info.annotation), next(_shapes(info.annotation), None), info.is_required())
        for name, info in shape.model_fields.items()
    }


def _kind(annotation: Any) -> type:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _kind(get_args(annotation)[0])
    if origin in (list, dict):
        return list if origin is list else dict
    inner = {_kind(part) for part in get_args(annotation)} - {object}
    return inner.pop() if len(inner) == 1 else object


def _shapes(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _shapes(part)


def _is_given(field: Expected, name: str, value: Any) -> bool:
    if value is None:
        return False
    is_empty = value in ("", []) and name not in CLEARED_BY_EMPTY
    return field.is_required or not is_empty


def _as(field: Expected, name: str, value: Any) -> Any:
    if field.kind is object:
        return value[0] if isinstance(value, list) and len(value) == 1 else value
    if isinstance(value, str):
        value = _from_json(value, field.kind)
    if field.kind is list:
        return [_item(field, item) for item in _as_list(name, value)]
    return value


def _as_list(name: str, value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, str) and (name in WORD_LISTS or _NUMBERS.fullmatch(value)):
        return [part.strip() for part in value.split(",") if part.strip()]
    return [value]


def _item(field: Expected, item: Any) -> Any:
    if field.shape is None:
        return item
    if isinstance(item, str) and "text" in field.shape.model_fields:
        return {"text": item}
    return coerced(field.shape, item) if isinstance(item, dict) else item


def _from_json(text: str, kind: type) -> Any:
    """The list or object that *text* writes as JSON; else *text* itself."""
    if not text.lstrip().startswith(("[", "{")):
        return text
    try:
        read = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return read if isinstance(read, (kind, dict)) else text
