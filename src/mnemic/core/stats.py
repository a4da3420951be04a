"""The store in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from mnemic.core.context import Context
from mnemic.model.enums import State
from mnemic.model.filter import EdgeFilter, Filter
from mnemic.model.time import HOUR, Moment
from mnemic.storage.base import Reader
from mnemic.storage.queries import count, newest_change

COUNTED = frozenset(State) - {State.NAMED}
LINKED = frozenset({State.LIVING, State.NAMED})


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
    spaces = None if namespace is None else (namespace,)
    reader, now = ctx.read(), ctx.now()
    living = Filter(namespaces=spaces, alive_at=now)
    by_tier = reader.tally(living, "tier")
    total = sum(by_tier.values())
    return Overview(
        total=total,
        by_tier=by_tier,
        by_namespace=reader.tally(living, "namespace"),
        by_kind=reader.tally(living, "kind"),
        by_state=by_state(reader, spaces, now),
        expiring_soon=total - sum(reader.tally(replace(living, alive_at=now + HOUR), "tier").values()),
        links=_links(reader, spaces),
        pending=reader.backlog(living),
        model=ctx.embedder.name if ctx.embedder else None,
        changes=_changes(reader) if ctx.granted is None else 0,
        size_bytes=reader.size_bytes(),
    )


def _changes(reader: Reader) -> int:
    """The number of the newest change."""
    newest = newest_change(reader)
    return newest.sequence if newest else 0


def by_state(reader: Reader, namespaces: tuple[str, ...] | None, now: Moment) -> dict[str, int]:
    """How many memories are in each state. Expired ones that still wait to be archived count as archived."""
    every = reader.tally(Filter(namespaces=namespaces, states=COUNTED), "state")
    living = sum(reader.tally(Filter(namespaces=namespaces, alive_at=now), "state").values())
    overdue = every.get(State.LIVING, 0) - living
    counts = {**every, State.LIVING: living, State.ARCHIVED: every.get(State.ARCHIVED, 0) + overdue}
    return {str(state): number for state, number in sorted(counts.items(), key=_largest) if number}


def _largest(one: tuple[str, int]) -> tuple[int, str]:
    return -one[1], one[0]


def _links(reader: Reader, namespaces: tuple[str, ...] | None) -> int:
    """How many current links have one end in these namespaces, or in any."""
    near = None if namespaces is None else Filter(namespaces=namespaces, states=LINKED)
    ends = Filter(states=LINKED)
    return count(reader, EdgeFilter(near=near, ends=ends, is_current=True))
