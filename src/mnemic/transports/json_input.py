"""JSON input: bytes to values, or an error with the fault."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from mnemic.errors import Invalid

MAX_BYTES = 2 * 1024 * 1024
MAX_DEPTH = 100

_LONG_NUMBER = re.compile(rb"\d{19}")


def parse_json(body: bytes) -> Any:
    """The value in *body*; Invalid if it is not JSON or holds values that cannot be stored unchanged."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Invalid(f"not valid JSON: {error.msg} (character {error.pos})") from None
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH and _is_deeper(value, MAX_DEPTH):
        raise Invalid(f"nested deeper than {MAX_DEPTH} levels")
    if _LONG_NUMBER.search(body):
        # orjson silently turns integers beyond 64 bits into floats.
        json.loads(body, parse_int=_checked_integer)
    return value


def parse_object(body: bytes) -> dict[str, Any]:
    """The object in *body*; an empty body is an empty object."""
    value = parse_json(body) if body.strip() else {}
    if not isinstance(value, dict):
        raise Invalid("the body must be a JSON object")
    return value


def _is_deeper(value: Any, limit: int) -> bool:
    """Whether *value* is nested deeper than *limit*; iterative, so that depth cannot overflow the stack."""
    level = [value]
    for _ in range(limit):
        level = [child for item in level if isinstance(item, (list, dict)) for child in _children(item)]
    return any(isinstance(item, (list, dict)) for item in level)


def _children(item: list[Any] | dict[str, Any]) -> list[Any]:
    return item if isinstance(item, list) else list(item.values())


def _checked_integer(digits: str) -> int:
    if len(digits) > 20 or not -(2**63) <= int(digits) < 2**64:
        raise Invalid("holds an integer of more than 64 bits")
    return int(digits)
