"""The store in numbers: stats."""

from __future__ import annotations

from mnemic.core import overview
from mnemic.core.context import Context
from mnemic.dialects.mnemic.moments import AsOf, at
from mnemic.dialects.mnemic.shapes import Namespace, Request
from mnemic.dialects.mnemic.vocabulary import MNEMIC
from mnemic.dialects.operation import Shape


class StatsRequest(Request):
    """Nothing, or a namespace and a moment."""

    namespace: Namespace | None = None
    as_of: AsOf = None


class TierCount(Shape):
    """How many memories a tier has."""

    tier: str
    count: int


class NamespaceCount(Shape):
    """How many memories a namespace has."""

    namespace: str
    count: int


class StatsReply(Shape):
    """The store in numbers."""

    total: int
    by_tier: list[TierCount]
    by_namespace: list[NamespaceCount]
    by_kind: dict[str, int]
    by_state: dict[str, int]
    expiring_soon: int
    links_count: int
    pending_vectors: int
    model: str | None = None
    changes: int
    db_size_bytes: int


@MNEMIC.operation(title="Stats", read_only=True, idempotent=True)
def stats(ctx: Context, request: StatsRequest) -> StatsReply:
    """The store in numbers."""
    seen = overview.overview(at(ctx, request.as_of), request.namespace)
    return StatsReply(
        total=seen.total,
        by_tier=[TierCount(tier=name, count=count) for name, count in seen.by_tier.items()],
        by_namespace=[
            NamespaceCount(namespace=name, count=count) for name, count in seen.by_namespace.items()
        ],
        by_kind=dict(seen.by_kind),
        by_state=dict(seen.by_state),
        expiring_soon=seen.expiring_soon,
        links_count=seen.links,
        pending_vectors=seen.pending,
        model=seen.model,
        changes=seen.changes,
        db_size_bytes=seen.size_bytes,
    )
