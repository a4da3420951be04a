"""Figures of a run and the table they are printed as; budget rows without a figure are printed as missing."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bench.budgets import BUDGETS, Budget
from bench.timer import Spent

HEADINGS = (
    "what",
    "measured",
    "p99",
    "budget",
    "verdict",
    "at rest",
    "wall p50",
    "wall p99",
    "floor",
    "ours/floor",
    "reference",
    "reference/ours",
)
KEPT, MISSED = "kept", "MISSED"
RARELY_OVER = "kept, p99 over twice"
"""The median is within the budget, the slowest hundredth takes more than twice as much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measurement. Of times, *measured* is the median of the CPU time as measured, which the budget judges."""

    what: str
    measured: float
    unit: str = "ms"
    row: str | None = None
    """The key of the budget it belongs to."""
    limit: float | None = None
    """The limit of a figure that is no row of the design's table."""
    is_minimum: bool = False
    p99: float | None = None
    at_rest: float | None = None
    wall_p50: float | None = None
    wall_p99: float | None = None
    floor: float | None = None
    """Plain SQLite, in the same run."""
    reference: float | None = None
    """The reference MCP memory server, in the same run."""

    @property
    def budget(self) -> Budget | None:
        """The budget that judges the figure."""
        if self.row is not None:
            return BUDGETS[self.row]
        if self.limit is None:
            return None
        return Budget(self.what, self.limit, self.unit, "", self.is_minimum)

    @property
    def verdict(self) -> str:
        """Whether the budget is kept; empty without a budget."""
        if (budget := self.budget) is None:
            return ""
        if budget.is_minimum:
            return KEPT if self.measured >= budget.limit else MISSED
        if self.measured > budget.limit:
            return MISSED
        return RARELY_OVER if self.p99 is not None and self.p99 > 2 * budget.limit else KEPT

    def cells(self) -> tuple[str, ...]:
        """The cells of its line, in the order of HEADINGS."""
        return (
            self.what,
            shown(self.measured, self.unit),
            shown(self.p99, self.unit),
            _limit(self.budget),
            self.verdict,
            *(shown(value, self.unit) for value in (self.at_rest, self.wall_p50, self.wall_p99, self.floor)),
            _ratio(self.measured, self.floor),
            shown(self.reference, self.unit),
            _ratio(self.reference, self.measured),
        )


def timed(
    what: str,
    ours: Spent,
    row: str | None = None,
    *,
    limit: float | None = None,
    floor: Spent | None = None,
    reference: Spent | None = None,
) -> Figure:
    """The time a call takes."""
    return Figure(
        what=what,
        measured=ours.p50,
        row=row,
        limit=limit,
        p99=ours.p99,
        at_rest=ours.at_rest,
        wall_p50=ours.wall_p50,
        wall_p99=ours.wall_p99,
        floor=floor.p50 if floor else None,
        reference=reference.p50 if reference else None,
    )


def rated(
    what: str, count: int, ours: Spent, row: str | None = None, *, floor: Spent | None = None
) -> Figure:
    """Items a second when a call handles *count* of them."""
    return Figure(
        what=what,
        measured=1000 * count / ours.p50,
        unit="/s",
        row=row,
        p99=1000 * count / ours.p99,
        at_rest=1000 * count / ours.at_rest,
        wall_p50=1000 * count / ours.wall_p50,
        wall_p99=1000 * count / ours.wall_p99,
        floor=1000 * count / floor.p50 if floor else None,
    )


def shown(value: float | None, unit: str) -> str:
    """*value* with three significant digits and its unit; empty for None."""
    if value is None:
        return ""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {unit}".rstrip()


def _ratio(value: float | None, other: float | None) -> str:
    return f"{value / other:.1f}" if value is not None and other else ""


def _limit(budget: Budget | None) -> str:
    if budget is None:
        return ""
    return ("≥ " if budget.is_minimum else "≤ ") + shown(budget.limit, budget.unit)


def echoed(figures: Iterable[Figure]) -> Iterator[Figure]:
    """*figures*, each reported on standard error as soon as it is measured."""
    for figure in figures:
        print(*figure.cells()[:5], sep="  ", file=sys.stderr, flush=True)
        yield figure


def report(figures: Sequence[Figure]) -> str:
    """The figures as a Markdown table, followed by the budget rows that none of them measured."""
    measured = {figure.row for figure in figures}
    missing = [budget for row, budget in BUDGETS.items() if row not in measured]
    return table([*(figure.cells() for figure in figures), *map(_missing, missing)])


def _missing(budget: Budget) -> tuple[str, ...]:
    source = f"{budget.what} ({budget.measured_by})"
    return (source, "missing", "", _limit(budget), "missing", *[""] * (len(HEADINGS) - 5))


def table(lines: Iterable[Sequence[str]]) -> str:
    """HEADINGS and *lines* as a Markdown table."""
    rows = [HEADINGS, *lines]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = "|".join("-" * (width + 1) + (":" if place else "-") for place, width in enumerate(widths))
    head, *body = (_line(cells, widths) for cells in rows)
    return "\n".join((head, f"|{rule}|", *body))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """*cells* as a line: the first left-aligned, the others right-aligned."""
    padded = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
    return f"| {' | '.join((cells[0].ljust(widths[0]), *padded[1:]))} |"
