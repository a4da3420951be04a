"""Comparing what was known in two stretches of time or of work."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.core.context import Context
from mnemic.core.memories import KNOWN, SUPERSEDES
from mnemic.model.filter import EdgeFilter, Filter
from mnemic.model.graph import Direction, Link
from mnemic.model.shapes import Standing
from mnemic.model.time import Moment
from mnemic.search.decay import decay
from mnemic.storage.base import Reader

FADED = 0.3
"""What has decayed to this may no longer be true."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """What was learnt within a window of time, both ends included, or in some sessions."""

    since: Moment | None = None
    until: Moment | None = None
    session_ids: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicComparison:
    """How a later stretch differs from an earlier one, as numbers of memories; corrected are pairs of old and new."""

    added: tuple[int, ...]
    corrected: tuple[tuple[int, int], ...]
    unchanged: tuple[int, ...]
    stale: tuple[int, ...]


def compare(ctx: Context, earlier: Stretch, later: Stretch) -> TopicComparison:
    """What *later* has that *earlier* has not, what it corrects of it, and what has become of the rest.

    The rest is unchanged while its decay is above 0.3 and nothing has superseded it; otherwise it may be stale.
    """
    reader, now = ctx.read(), ctx.now()
    before, after = _standings(reader, ctx, earlier), _standings(reader, ctx, later)
    links = (
        reader.look(
            EdgeFilter(at=tuple(after), direction=Direction.OUT, types=(SUPERSEDES,), is_current=True), Link
        )
        if after
        else []
    )
    corrected = tuple((link.target_id, link.source_id) for link in links if link.target_id in before)
    replaced = {old for old, _ in corrected}
    rest = [one for one in before.values() if one.id not in replaced]
    fresh = {one.id for one in rest if one.is_living and decay(one, now) > FADED}
    return TopicComparison(
        added=tuple(number for number in after if number not in before),
        corrected=corrected,
        unchanged=tuple(one.id for one in rest if one.id in fresh),
        stale=tuple(one.id for one in rest if one.id not in fresh),
    )


def _standings(reader: Reader, ctx: Context, stretch: Stretch) -> dict[int, Standing]:
    wanted = Filter(
        namespaces=ctx.scope(),
        since=stretch.since,
        until=stretch.until,
        session_ids=stretch.session_ids,
        states=KNOWN,
        alive_at=ctx.now(),
    )
    return {one.id: one for one in reader.look(wanted, Standing)}
