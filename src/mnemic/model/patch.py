"""Patches: typed changes to a memory, link or session, in which an unset field stays as it is."""

from __future__ import annotations

from dataclasses import fields, replace
from enum import Enum
from typing import Any, Self, TypeVar

T = TypeVar("T")


class Unset(Enum):
    """The type of UNSET."""

    UNSET = "unset"


UNSET = Unset.UNSET
"""The value of a field that a patch does not change; None is a value like any other."""


def if_given(value: T | None) -> T | Unset:
    """*value*, or UNSET where it is None, for callers to whom None means: as it is."""
    return UNSET if value is None else value


class Patch:
    """What every patch can do. A subclass is a frozen dataclass whose fields all default to UNSET."""

    __slots__ = ()

    def fields(self) -> dict[str, Any]:
        """The fields it sets, by name."""
        named = ((one.name, getattr(self, one.name)) for one in fields(self))  # type: ignore[arg-type]
        return {name: value for name, value in named if value is not UNSET}

    def then(self, other: Self) -> Self:
        """Both patches as one; where both set a field, *other* decides."""
        return replace(self, **other.fields())  # type: ignore[type-var]
