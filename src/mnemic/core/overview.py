"""The store in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mnemic.core.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What there is. Counts are of living memories unless the name says otherwise."""

    total: int
    by_tier: Mapping[str, int]
    by_namespace: Mapping[str, int]
    by_kind: Mapping[str, int]
    by_state: Mapping[str, int]
    expiring_soon: int
    links: int
    pending: int
    model: str | None
    changes: int
    size_bytes: int
    """The size of the whole store; 0, like the number of its changes, for a caller who may see a part of it."""


def overview(ctx: Context, namespace: str | None = None) -> Overview:
    """The numbers of one namespace, or of everything the caller may see."""
    if namespace is not None:
        ctx.must_see(namespace)
    wanted = ctx.granted if namespace is None else (namespace,)
    counts = ctx.store.read().counts(wanted, ctx.now(), seen=ctx.granted)
    return Overview(
        total=sum(counts.by_tier.values()),
        by_tier=counts.by_tier,
        by_namespace=counts.by_namespace,
        by_kind=counts.by_kind,
        by_state=counts.by_state,
        expiring_soon=counts.expiring,
        links=counts.edges,
        pending=counts.pending,
        model=ctx.embedder.name if ctx.embedder else None,
        changes=counts.changes if ctx.granted is None else 0,
        size_bytes=counts.size_bytes if ctx.granted is None else 0,
    )
