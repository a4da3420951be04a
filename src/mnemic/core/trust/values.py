"""Comparison of claimed and known quantities and dates."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import inf, isclose

CALENDAR = (365 / 360, 365 / 364, 364 / 360, 91 / 90)
"""Months and years have no exact length: 40 euros a month are 480 a year, a year has 52 weeks."""


class Fit(Enum):
    """Relation of a claimed value to a known one."""

    SAME = "same"
    WITHIN = "within"
    """It follows from the known one, as 7 is above 5."""
    CONFLICT = "conflict"
    APART = "apart"
    """Nothing follows: they measure different things."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit in base units; a range if it is above or at most something."""

    low: float
    high: float
    dimension: str
    """The dimension of its unit, the noun that is counted, or "" for a bare number."""
    text: str
    is_calendar: bool = False
    """Whether it is measured in months or years."""

    @property
    def is_range(self) -> bool:
        """Whether it is a bound rather than a number."""
        return self.low != self.high


@dataclass(frozen=True, slots=True)
class Date:
    """A date to the known precision: year, month, day, weekday, part of the day, minute."""

    parts: tuple[tuple[str, int], ...]
    text: str


def fit(claimed: Quantity | Date, known: Quantity | Date) -> Fit:
    """Compare *claimed* with *known*."""
    if isinstance(claimed, Quantity) and isinstance(known, Quantity):
        return _quantities(claimed, known)
    if isinstance(claimed, Date) and isinstance(known, Date):
        return _dates(claimed, known)
    return Fit.APART


def _quantities(claimed: Quantity, known: Quantity) -> Fit:
    if claimed.dimension.isupper() and known.dimension.isupper() and claimed.dimension != known.dimension:
        return (
            Fit.CONFLICT if claimed.low == known.low and claimed.high == known.high else Fit.APART
        )  # currencies
    if claimed.dimension != known.dimension:
        is_count = all(one.dimension.startswith("#") or not one.dimension for one in (claimed, known))
        return Fit.SAME if is_count and claimed.low == known.low and claimed.high == known.high else Fit.APART
    is_calendar = claimed.is_calendar or known.is_calendar
    if _equal(claimed.low, known.low, is_calendar) and _equal(claimed.high, known.high, is_calendar):
        return Fit.SAME
    if claimed.is_range and not known.is_range:
        return Fit.WITHIN if claimed.low <= known.low and known.high <= claimed.high else Fit.CONFLICT
    if known.is_range and not claimed.is_range:
        return Fit.WITHIN if known.low <= claimed.low <= known.high else Fit.APART
    return Fit.APART if _overlap(claimed, known) else Fit.CONFLICT


def _overlap(one: Quantity, other: Quantity) -> bool:
    """Whether two bounds share amounts while neither contains the other: above 20 and below 50."""
    low, high = sorted((one, other), key=lambda each: (each.low, each.high))
    return low.low < high.low < low.high < high.high


def is_narrower(claimed: Quantity, known: Quantity) -> bool:
    """Whether every amount within *claimed* is within *known* too: above 750 is above 500."""
    is_same_kind = claimed.dimension == known.dimension and claimed.is_range and known.is_range
    return is_same_kind and known.low <= claimed.low and claimed.high <= known.high


def is_outside(claimed: Quantity, known: Quantity) -> bool:
    """Whether the bound of *known* excludes the amount *claimed*: 10 hours are not within 10 minutes."""
    is_bound = claimed.dimension == known.dimension and known.is_range and not claimed.is_range
    return is_bound and not known.low <= claimed.low <= known.high


def _equal(one: float, other: float, is_calendar: bool) -> bool:
    if inf in (abs(one), abs(other)):
        return one == other
    ratios = (1.0, *CALENDAR) if is_calendar else (1.0,)
    return any(isclose(one, other * ratio) or isclose(one * ratio, other) for ratio in ratios)


def _dates(claimed: Date, known: Date) -> Fit:
    told, there = dict(claimed.parts), dict(known.parts)
    shared = told.keys() & there.keys()
    if not shared:
        return Fit.APART
    if any(told[part] != there[part] for part in shared):
        return Fit.CONFLICT
    return Fit.SAME if told.keys() <= there.keys() else Fit.APART
