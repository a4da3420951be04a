"""Numbers in requests: pydantic takes true for 1 and false for 0, and `forget` would take memory 1 for it."""

from __future__ import annotations

from typing import Any

from pydantic_core import CoreSchema, PydanticKnownError, core_schema


def _whole(value: object) -> object:
    if isinstance(value, bool):
        raise PydanticKnownError("int_type")
    return value


def _number(value: object) -> object:
    if isinstance(value, bool):
        raise PydanticKnownError("float_type")
    return value


_CHECKS = {"int": _whole, "float": _number}
_NO_SCHEMAS = frozenset(("default", "expected", "metadata", "serialization"))


def without_flags(schema: CoreSchema) -> CoreSchema:
    """*schema* with every number in it refusing true and false."""
    checked: CoreSchema = _checked(schema)
    return checked


def _checked(part: Any) -> Any:
    if isinstance(part, (list, tuple)):
        return type(part)(map(_checked, part))
    if not isinstance(part, dict) or _is_checked(part):
        return part
    whole = {key: value if key in _NO_SCHEMAS else _checked(value) for key, value in part.items()}
    check = _CHECKS.get(str(part.get("type")))
    return core_schema.no_info_before_validator_function(check, whole) if check else whole


def _is_checked(part: dict[str, Any]) -> bool:
    """A shape that stands in another has been gone through before."""
    function = part.get("function")
    return isinstance(function, dict) and function.get("function") in _CHECKS.values()
