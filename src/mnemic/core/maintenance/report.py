"""The report of what in a store wants tidying. This only looks; its neighbours merge, split and drop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mnemic.core.context import Context
from mnemic.core.maintenance.duplicate_statements import Flagged, flagged
from mnemic.core.maintenance.split import LABEL, Analysis, Thresholds, analyses
from mnemic.model.filter import Filter
from mnemic.model.memory import Memory
from mnemic.model.shapes import Outline
from mnemic.model.time import DAY, Moment

STALE_AFTER = 90 * DAY
RARELY = 2
"""Used this often or less, a memory that has long been left alone is stale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceReport:
    """Totals, and four lists: oversized, duplicated, unused and large memories."""

    memories: int
    statements: int
    split: tuple[Analysis, ...]
    flagged: tuple[Flagged, ...]
    stale: tuple[Memory, ...]
    large: tuple[Outline, ...]


def _nothing(memory: Memory) -> bool:
    return False


def look_over(
    ctx: Context,
    wanted: Filter,
    thresholds: Thresholds,
    *,
    stale_after: Moment = STALE_AFTER,
    is_archived: Callable[[Memory], bool] = _nothing,
    label: str = LABEL,
) -> MaintenanceReport:
    """What in the memories that pass *wanted* wants tidying. What *is_archived* may be left alone for ever."""
    outlines = ctx.read().look(wanted, Outline)
    full = [one for one in outlines if one.statements > thresholds.of(one.kind)]
    split = analyses(ctx, wanted, full, thresholds, label=label)
    return MaintenanceReport(
        memories=len(outlines),
        statements=sum(one.statements for one in outlines),
        split=tuple(one for one in split if len(one.topics) > 1),
        flagged=tuple(flagged(ctx, wanted, outlines)),
        stale=_stale(ctx, outlines, stale_after, is_archived),
        large=tuple(sorted(full, key=lambda one: -one.statements)),
    )


def _stale(
    ctx: Context, outlines: list[Outline], stale_after: Moment, is_archived: Callable[[Memory], bool]
) -> tuple[Memory, ...]:
    """The memories that say something, were rarely used and not for long, longest first."""
    before = ctx.now() - stale_after
    left_alone = [
        one for one in outlines if one.statements and one.access_count <= RARELY and _last_seen(one) < before
    ]
    left_alone.sort(key=_last_seen)
    found = ctx.read().get([one.id for one in left_alone])
    return tuple(memory for memory in found if not is_archived(memory))


def _last_seen(one: Outline) -> Moment:
    """When it was used last or, never used, written."""
    return one.created_at if one.accessed_at is None else one.accessed_at
