"""The store in numbers: stats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Annotated

from mnemic.core.context import Context
from mnemic.core.stats import overview
from mnemic.dialects.framework import Shape
from mnemic.dialects.native.as_of import AsOf, at
from mnemic.dialects.native.dialect import MNEMIC
from mnemic.dialects.native.types import Namespace, Request, described

MOST_SHOWN = 100
"""Namespaces and kinds listed one by one, largest first."""


class StatsRequest(Request):
    """Nothing, or a namespace and a moment."""

    namespace: Annotated[Namespace | None, described("Only there (default: the whole store)")] = None
    as_of: Annotated[AsOf, described("At that moment (default: now)")] = None


class TierCount(Shape):
    """How many memories a tier has."""

    tier: str
    count: int


class NamespaceCount(Shape):
    """How many memories a namespace has."""

    namespace: str
    count: int


class StatsReply(Shape):
    """The store in numbers; of very many namespaces or kinds the largest, and how many more there are."""

    total: int
    by_tier: list[TierCount]
    by_namespace: list[NamespaceCount]
    namespaces_left: int | None = None
    by_kind: dict[str, int]
    kinds_left: int | None = None
    by_state: dict[str, int]
    expiring_soon: int
    links_count: int
    pending_vectors: int
    model: str | None = None
    changes: int
    db_size_bytes: int


@MNEMIC.operation(
    title="Stats",
    read_only=True,
    idempotent=True,
    defers_uses=True,
    cli="stats",
    about="Show the store in numbers.",
)
def stats(ctx: Context, request: StatsRequest) -> StatsReply:
    """See which namespaces there are, how much each holds, and how many memories wait for their vectors."""
    seen = overview(at(ctx, request.as_of), request.namespace)
    return StatsReply(
        total=seen.total,
        by_tier=[TierCount(tier=name, count=count) for name, count in seen.by_tier.items()],
        by_namespace=[
            NamespaceCount(namespace=name, count=count) for name, count in _largest(seen.by_namespace)
        ],
        namespaces_left=_left(seen.by_namespace),
        by_kind=dict(_largest(seen.by_kind)),
        kinds_left=_left(seen.by_kind),
        by_state=dict(seen.by_state),
        expiring_soon=seen.expiring_soon,
        links_count=seen.links,
        pending_vectors=seen.pending,
        model=seen.model,
        changes=seen.changes,
        db_size_bytes=seen.size_bytes,
    )


def _largest(counts: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    return islice(counts.items(), MOST_SHOWN)


def _left(counts: Mapping[str, int]) -> int | None:
    return max(0, len(counts) - MOST_SHOWN) or None
