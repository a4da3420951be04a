"""Quality report over the living memories: low confidence, decay, orphans, unsupported decisions.

The *status* is `fail` if more than 35 % have low confidence, more than half have decayed, any decision is unsupported,
or there are more than 25 contradictions; `warn` if more than 15 % or 25 %, or if there is any orphan or contradiction;
else `pass`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mnemic.core.context import Context
from mnemic.core.memories import KNOWN, SUPERSEDES
from mnemic.core.trust.beliefs import CONTRADICTS
from mnemic.core.trust.impact import CAUSAL
from mnemic.model.filter import EdgeFilter, Filter
from mnemic.model.graph import Direction
from mnemic.model.shapes import Standing
from mnemic.search.decay import decay
from mnemic.storage.queries import unlinked

PASS, WARN, FAIL = "pass", "warn", "fail"
DECISION = "decision"
UNSURE_FAILS, UNSURE_WARNS = 0.35, 0.15
FADED_FAILS, FADED_WARNS = 0.50, 0.25
MOST_CONTRADICTIONS = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityReport:
    """Counts, and the numbers of the memories with a problem."""

    memories: int
    """How many are living or superseded."""
    living: int
    links: int
    contradictions: int
    corrections: int
    unsure: tuple[int, ...]
    faded: tuple[int, ...]
    alone: tuple[int, ...]
    unsupported: tuple[int, ...]

    @property
    def status(self) -> str:
        """`pass`, `warn` or `fail`."""
        unsure, faded = self._share(self.unsure), self._share(self.faded)
        too_much = unsure > UNSURE_FAILS or faded > FADED_FAILS
        if too_much or self.unsupported or self.contradictions > MOST_CONTRADICTIONS:
            return FAIL
        much = unsure > UNSURE_WARNS or faded > FADED_WARNS
        return WARN if much or self.alone or self.contradictions else PASS

    def _share(self, some: Sequence[int]) -> float:
        return len(some) / self.living if self.living else 0.0


def report(ctx: Context, *, unsure_below: float = 0.45, faded_below: float = 0.20) -> QualityReport:
    """How far what this caller sees can be relied on."""
    reader, now = ctx.read(), ctx.now()
    living = Filter(namespaces=ctx.scope(), alive_at=now)
    readable = Filter(namespaces=ctx.scope(), states=KNOWN, alive_at=now)
    standings = reader.look(living, Standing)
    links = reader.tally(EdgeFilter(ends=readable, is_current=True), "type")
    decisions = Filter(namespaces=ctx.scope(), kinds=(DECISION,), alive_at=now)
    return QualityReport(
        memories=sum(reader.tally(readable, "kind").values()),
        living=len(standings),
        links=sum(links.values()),
        contradictions=links.get(CONTRADICTS, 0),
        corrections=links.get(SUPERSEDES, 0),
        unsure=tuple(one.id for one in standings if one.confidence < unsure_below),
        faded=tuple(one.id for one in standings if decay(one, now) < faded_below),
        alone=tuple(unlinked(reader, living)),
        unsupported=tuple(unlinked(reader, decisions, Direction.OUT, CAUSAL)),
    )
