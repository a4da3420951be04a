"""Listings: a page of the memories that pass a filter, how many there are, and what there is to narrow them by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice

import orjson

from mnemic.core.context import Context
from mnemic.model.filter import Filter, Order
from mnemic.model.memory import Memory
from mnemic.storage.base import Reader
from mnemic.storage.queries import count

FACETS = ("namespace", "kind", "tag", "tier", "state", "actor", "session")
"""What the memories of a listing are counted by."""
MOST_VALUES = 50
"""Values of a facet that are counted one by one, the most frequent first."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the memories that pass a filter, in order, and how many pass in all."""

    memories: tuple[Memory, ...]
    total: int


def page(
    ctx: Context,
    wanted: Filter,
    *,
    text: str | None = None,
    order: Order = Order.NEWEST,
    is_reversed: bool = False,
    limit: int,
    offset: int = 0,
) -> Page:
    """The memories from *offset* on that pass *wanted* and hold *text*, in this order or the other way round."""
    reader = ctx.read()
    wanted = holding(reader, wanted, text)
    total = count(reader, wanted)
    numbers = reader.select(wanted, limit=limit, offset=offset, order=order, is_reversed=is_reversed)
    return Page(tuple(reader.get(numbers)), total)


def holding(reader: Reader, wanted: Filter, text: str | None) -> Filter:
    """*wanted* narrowed to the memories whose title, kind or text contains *text*, ignoring case."""
    if not text or not text.strip():
        return wanted
    return replace(wanted, ids=tuple(reader.search_substring(text.strip(), wanted)))


def with_metadata(wanted: Filter, metadata: Mapping[str, object]) -> Filter:
    """*wanted*, narrowed to memories whose metadata holds every pair of *metadata*."""
    from mnemic.core.memories import faithful  # 30 ms, for which no other listing waits

    return replace(
        wanted,
        metadata=tuple((key, orjson.dumps(value).decode()) for key, value in faithful(metadata).items()),
    )


def facets(ctx: Context, wanted: Filter, text: str | None = None) -> dict[str, dict[str, int]]:
    """How many of the memories that pass have each namespace, kind, tag, tier, state, actor and session."""
    reader = ctx.read()
    wanted = holding(reader, wanted, text)
    return {by: dict(islice(reader.tally(wanted, by).items(), MOST_VALUES)) for by in FACETS}
