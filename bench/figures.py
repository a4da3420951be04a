"""A line of the table: what was measured, what it may be, and what others need for the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

HEADINGS = ("what", "ours", "wall", "budget", "floor", "reference", "ours/floor", "reference/ours", "verdict")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measurement. *wall* stands beside *ours* where that is processor time."""

    what: str
    ours: float
    unit: str = "ms"
    budget: float | None = None
    is_least: bool = False
    """The budget is the least that will do, not the most."""
    wall: float | None = None
    floor: float | None = None
    reference: float | None = None

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
            shown(self.wall, self.unit),
            "" if self.budget is None else bound + shown(self.budget, self.unit),
            shown(self.floor, self.unit),
            shown(self.reference, self.unit),
            _ratio(self.ours, self.floor),
            _ratio(self.reference, self.ours),
            self.verdict,
        )


def shown(value: float | None, unit: str) -> str:
    """*value* with as many digits as mean something."""
    if value is None:
        return ""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {unit}".rstrip()


def _ratio(value: float | None, other: float | None) -> str:
    return f"{value / other:.1f}" if value is not None and other else ""


def widths(rows: Iterable[Sequence[str]]) -> list[int]:
    """How wide each column must be."""
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def line(cells: Sequence[str], wide: Sequence[int]) -> str:
    """*cells* as a row of a Markdown table: the first to the left, the others to the right."""
    first, *others = (
        cell.ljust(width) if place == 0 else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(cells, wide, strict=True))
    )
    return f"| {' | '.join((first, *others))} |"


def table(figures: Iterable[Figure]) -> str:
    """The figures as a Markdown table."""
    rows = [HEADINGS, *(figure.cells() for figure in figures)]
    wide = widths(rows)
    rule = "|" + "|".join("-" * (width + 1) + (":" if place else "-") for place, width in enumerate(wide)) + "|"
    head, *body = (line(cells, wide) for cells in rows)
    return "\n".join((head, rule, *body))
