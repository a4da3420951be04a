"""Filtering by metadata: memories that hold given values under given keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import orjson

from mnemic.core.memories import faithful
from mnemic.model.filter import Filter


def with_metadata(wanted: Filter, metadata: Mapping[str, object]) -> Filter:
    """*wanted*, narrowed to memories whose metadata holds every pair of *metadata*."""
    return replace(
        wanted,
        metadata=tuple((key, orjson.dumps(value).decode()) for key, value in faithful(metadata).items()),
    )
