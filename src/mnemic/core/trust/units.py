"""Units of measurement in seven languages."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files


@cache
def _by_name() -> dict[str, tuple[str, float]]:
    raw = tomllib.loads((files("mnemic.core.trust") / "data/units.toml").read_text(encoding="utf-8"))
    return {
        name: (dimension, float(factor))
        for dimension, factors in raw.items()
        for factor, names in factors.items()
        for name in names.split()
    }


def unit(name: str) -> tuple[str, float] | None:
    """Dimension and factor of a unit as written; None if unknown."""
    return _by_name().get(name.lower())


@cache
def unit_names() -> tuple[str, ...]:
    """All names, longest first."""
    return tuple(sorted(_by_name(), key=len, reverse=True))
