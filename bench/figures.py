"""A line of the table: what was measured, what it may be, and what others need for the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.measuring import Spent

HEADINGS = (
    "what",
    "ours",
    "budget",
    "verdict",
    "floor",
    "ours/floor",
    "reference",
    "reference/ours",
    "as measured",
    "by the clock",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measurement. Of processor time, *busy* is what was measured before it was brought to a machine at rest."""

    what: str
    ours: float
    unit: str = "ms"
    budget: float | None = None
    is_least: bool = False
    """The budget is the least that will do, not the most."""
    floor: float | None = None
    reference: float | None = None
    busy: float | None = None
    wall: float | None = None

    @property
    def verdict(self) -> str:
        """Whether the budget is kept."""
        if self.budget is None:
            return ""
        kept = self.ours >= self.budget if self.is_least else self.ours <= self.budget
        return "kept" if kept else "MISSED"

    def cells(self) -> tuple[str, ...]:
        """The line as texts, in the order of HEADINGS."""
        bound = "≥ " if self.is_least else "≤ "
        return (
            self.what,
            shown(self.ours, self.unit),
            "" if self.budget is None else bound + shown(self.budget, self.unit),
            self.verdict,
            shown(self.floor, self.unit),
            _ratio(self.ours, self.floor),
            shown(self.reference, self.unit),
            _ratio(self.reference, self.ours),
            shown(self.busy, self.unit),
            shown(self.wall, self.unit),
        )


def timed(
    what: str,
    ours: Spent,
    budget: float | None = None,
    *,
    floor: Spent | None = None,
    reference: Spent | None = None,
) -> Figure:
    """A figure of the time a call takes."""
    return Figure(
        what=what,
        ours=ours.cpu,
        budget=budget,
        floor=floor.cpu if floor else None,
        reference=reference.cpu if reference else None,
        busy=ours.busy,
        wall=ours.wall,
    )


def rated(
    what: str, count: int, ours: Spent, budget: float | None = None, floor: Spent | None = None
) -> Figure:
    """A figure of how many a second that makes, when a call does *count*."""
    return Figure(
        what=what,
        ours=1000 * count / ours.cpu,
        unit="/s",
        budget=budget,
        is_least=True,
        floor=1000 * count / floor.cpu if floor else None,
        busy=1000 * count / ours.busy,
        wall=1000 * count / ours.wall,
    )


def shown(value: float | None, unit: str) -> str:
    """*value* with as many digits as mean something."""
    if value is None:
        return ""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {unit}".rstrip()


def _ratio(value: float | None, other: float | None) -> str:
    return f"{value / other:.1f}" if value is not None and other else ""


def table(figures: Iterable[Figure]) -> str:
    """The figures as a Markdown table."""
    rows = [HEADINGS, *(figure.cells() for figure in figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = (
        "|"
        + "|".join("-" * (width + 1) + (":" if place else "-") for place, width in enumerate(widths))
        + "|"
    )
    head, *body = (_line(cells, widths) for cells in rows)
    return "\n".join((head, rule, *body))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """*cells* as a row: the first to the left, the others to the right."""
    padded = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
    return f"| {' | '.join((cells[0].ljust(widths[0]), *padded[1:]))} |"
