"""Filtering by metadata: memories that hold given values under given keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mnemic.core.context import Context
from mnemic.core.memories import faithful
from mnemic.model.search import Filter


def with_metadata(ctx: Context, wanted: Filter, metadata: Mapping[str, object]) -> Filter:
    """*wanted*, narrowed to memories whose metadata holds every pair of *metadata*."""
    holding = ctx.store.read().ids_with_metadata(faithful(metadata))
    return replace(
        wanted, ids=tuple(number for number in holding if wanted.ids is None or number in wanted.ids)
    )
