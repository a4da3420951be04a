"""What is said of arguments that do not make a request: the fields at fault, in plain words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pydantic import ValidationError

from mnemic.errors import Invalid

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_FIELD = re.compile(r"[a-z]\w*")
_TYPES = frozenset(("bool", "float", "int", "str"))
_MAX_NAME = 80


Advice = Callable[[Sequence[int | str]], str]
"""What to say of an unknown argument, by the path to it."""


def invalid(error: ValidationError, advice: Advice | None = None) -> Invalid:
    """Our error for pydantic's: the fields at fault and, in plain words, what is wrong with each."""
    at_fault: dict[str, list[ErrorDetails]] = {}
    for item in error.errors(include_url=False, include_input=False):
        at_fault.setdefault(_field(item), []).append(item)
    lines = [
        ": ".join(filter(None, (where, _fault(items) + _advised(items[0], advice))))
        for where, items in at_fault.items()
    ]
    told = lines[:3] if len(lines) <= 3 else [*lines[:3], f"and {len(lines) - 3} more"]
    return Invalid("; ".join(told), next(iter(at_fault)) or None)


def _advised(item: ErrorDetails, advice: Advice | None) -> str:
    return advice(item["loc"]) if advice and item["type"] == "extra_forbidden" else ""


def _field(item: ErrorDetails) -> str:
    """The path to the argument at fault. pydantic also names the alternatives of a union, which nobody has written."""
    path, unknown = item["loc"], item["loc"][-1:] if item["type"] == "extra_forbidden" else ()
    known = (part for part in path[: len(path) - len(unknown)] if isinstance(part, int) or _is_field(part))
    return ".".join(str(part)[:_MAX_NAME] for part in (*known, *unknown))


def _is_field(part: str) -> bool:
    return _FIELD.fullmatch(part) is not None and part not in _TYPES


def _fault(items: Sequence[ErrorDetails]) -> str:
    """What is wrong with one argument; of the alternatives it could be, those of another type only if it is none."""
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
        case "too_short" if limits["field_type"] == "Value" and limits["min_length"] == 1:
            return "must not be empty"
        case "too_long" if limits["field_type"] == "Value":
            return f"Input should have at most {limits['max_length']} characters"
    return item["msg"].removeprefix("Value error, ")
