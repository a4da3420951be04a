"""Validation of requests: text types, strict numbers, and errors that name the field in plain words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, Field, ValidationError
from pydantic_core import CoreSchema, PydanticKnownError, core_schema

from mnemic.errors import Invalid
from mnemic.model.limits import unstorable

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_FIELD = re.compile(r"[a-z]\w*")
_TYPES = frozenset(("bool", "float", "int", "str"))
_MAX_NAME = 80


Advice = Callable[[Sequence[int | str]], str]
"""Hint for an unknown argument, given the path to it."""


def invalid(error: ValidationError, advice: Advice | None = None) -> Invalid:
    """pydantic's error as ours: each field at fault with a plain sentence."""
    at_fault: dict[str, list[ErrorDetails]] = {}
    for item in error.errors(include_url=False, include_input=False):
        at_fault.setdefault(_field(item), []).append(item)
    lines = [
        ": ".join(filter(None, (where, _fault(items) + _advised(items[0], advice))))
        for where, items in at_fault.items()
    ]
    shown = lines[:3] if len(lines) <= 3 else [*lines[:3], f"and {len(lines) - 3} more"]
    return Invalid("; ".join(shown), next(iter(at_fault)) or None)


def _advised(item: ErrorDetails, advice: Advice | None) -> str:
    return advice(item["loc"]) if advice and item["type"] == "extra_forbidden" else ""


def _field(item: ErrorDetails) -> str:
    """Path of the faulty argument, without the union alternatives that pydantic adds."""
    path, unknown = item["loc"], item["loc"][-1:] if item["type"] == "extra_forbidden" else ()
    known = (part for part in path[: len(path) - len(unknown)] if isinstance(part, int) or _is_field(part))
    return ".".join(str(part)[:_MAX_NAME] for part in (*known, *unknown))


def _is_field(part: str) -> bool:
    return _FIELD.fullmatch(part) is not None and part not in _TYPES


def _fault(items: Sequence[ErrorDetails]) -> str:
    """Message for one argument; type errors of union alternatives only if none matched the type."""
    telling = [item for item in items if not _is_of_another_type(item)]
    if telling or len(items) == 1:
        return _words((telling or items)[0])
    kinds = dict.fromkeys(_words(item).removeprefix("Input should be ").partition(",")[0] for item in items)
    return f"Input should be {' or '.join(kinds)}"


def _is_of_another_type(item: ErrorDetails) -> bool:
    return item["type"].endswith(("_type", "_parsing", "_parsing_size", "_from_float"))


def _words(item: ErrorDetails) -> str:
    limits = item.get("ctx", {})
    match item["type"]:
        case "extra_forbidden":
            return "unknown argument"
        case "missing":
            return "required"
        case "model_type" | "dict_type":
            return "Input should be an object"
        case "string_too_short" if limits["min_length"] == 1:
            return "must not be empty"
        case "string_too_long":
            return f"Input should have at most {limits['max_length']} characters"
        case "too_short" if limits["min_length"] == 1:
            return "must not be empty"
        case "too_long" if limits["field_type"] == "Value":
            return f"Input should have at most {limits['max_length']} characters"
    return item["msg"].removeprefix("Value error, ")


def storable(text: str) -> str:
    """*text*; ValueError if a database could not return it unchanged."""
    if fault := unstorable(text):
        raise ValueError(fault)
    return text


StorableText = Annotated[str, AfterValidator(storable)]
NonEmptyText = Annotated[str, Field(min_length=1), AfterValidator(storable)]


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
    """*schema* with every number refusing true and false.

    pydantic reads true as 1: `forget` would take it for memory 1.
    """
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
    """Whether this part, nested in another shape, has been wrapped already."""
    function = part.get("function")
    return isinstance(function, dict) and function.get("function") in _CHECKS.values()
