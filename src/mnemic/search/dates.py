"""The time a question speaks of: "two weeks ago", "in July 2023", "last Friday", seen from a moment."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from re import Match
from typing import NamedTuple

from mnemic.model.time import DAY, HOUR, Moment

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MONTHS = tuple(
    "january february march april may june july august september october november december".split()
)
WEEKDAYS = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
COUNTS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "couple": 2,
    "three": 3,
    "few": 3,
    "four": 4,
    "several": 4,
    "five": 5,
}
COUNTS |= {"six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12}
UNITS = {"day": DAY, "week": 7 * DAY, "month": 30 * DAY + 10 * HOUR, "year": 365 * DAY + 6 * HOUR}
# How far from the day it names a count may lie, at least and more for each it counts: "two weeks ago" is said of
# the twelfth day as of the sixteenth.
SLACK = {"day": (1.0, 0.2), "week": (3.0, 0.5), "month": (8.0, 2.0), "year": (60.0, 10.0)}
TOLD_WITHIN = 7 * DAY
"""Days after an event in which it is usually reported."""

COUNT = rf"(?:a )?(\d{{1,3}}|{'|'.join(COUNTS)})(?: of)?"
UNIT = f"({'|'.join(UNITS)})s?"
MONTH = f"({'|'.join(MONTHS)}|{'|'.join(name[:3] for name in MONTHS if name != 'may')})"
DATE = r"(\d{1,2})(?:st|nd|rd|th)?"
YEAR = r"(?:,? ((?:19|20|21)\d\d))?"


class Period(NamedTuple):
    """A stretch of time, both ends in it."""

    start: Moment
    end: Moment


def period(question: str, now: Moment) -> Period | None:
    """The stretch of time *question* asks about, or None if it names none."""
    text = question.lower()
    for pattern, reading in READINGS:
        found = re.search(pattern, text)  # compiled when first needed, and kept by `re`
        span = reading(found, now) if found else None
        if span:
            return span
    return None


def looks_back(question: str) -> bool:
    """Whether *question* counts a time from now, as in "the past three months"."""
    return re.search(f"{AGO}|{YESTERDAY}|{PAST}", question.lower()) is not None


def untimed(question: str) -> str:
    """*question* without relative times: the text written then does not contain "two weeks ago"."""
    return re.sub(f"{AGO}|{YESTERDAY}|{PAST}", " ", question.lower())


def _ago(found: Match[str], now: Moment) -> Period:
    count, unit = _number(found[1]), found[2]
    least, each = SLACK[unit]
    middle, slack = now - count * UNITS[unit], int((least + each * count) * DAY)
    return Period(middle - slack, middle + slack)


def _yesterday(_: Match[str], now: Moment) -> Period:
    return Period(now - 2 * DAY, now - 12 * HOUR)


def _day_first(found: Match[str], now: Moment) -> Period | None:
    return _day(found[1], found[2], found[3], now)


def _month_first(found: Match[str], now: Moment) -> Period | None:
    return _day(found[2], found[1], found[3], now)


def _day(day: str, month: str, year: str | None, now: Moment) -> Period | None:
    first, length = _month_of(month, year, now)
    start = first + (int(day) - 1) * DAY
    if not first <= start < first + length:
        return None
    return Period(start - DAY, start + DAY + TOLD_WITHIN)


def _month(found: Match[str], now: Moment) -> Period:
    first, length = _month_of(found[1], found[2], now)
    return Period(first - DAY, first + length + TOLD_WITHIN)


def _past(found: Match[str], now: Moment) -> Period:
    # "Last month" reaches back to the beginning of the month before, "the past three months" a little over three.
    count = 1.1 * _number(found[1]) if found[1] else 2
    return Period(now - int(count * UNITS[found[2]]), now)


def _weekday(found: Match[str], now: Moment) -> Period:
    back = (_date(now).weekday() - WEEKDAYS.index(found[1])) % 7 or 7
    day = now - back * DAY
    return Period(day - DAY, day + DAY + 12 * HOUR)


def _number(count: str) -> int:
    return int(count) if count.isdecimal() else COUNTS[count]


def _month_of(month: str, year: str | None, now: Moment) -> tuple[Moment, Moment]:
    """Start and length of the month, in the given year or the latest one that has begun it."""
    today = _date(now)
    number = next(place for place, name in enumerate(MONTHS, 1) if name.startswith(month))
    its_year = int(year) if year else today.year - (number > today.month)
    start = datetime(its_year, number, 1, tzinfo=UTC) - EPOCH
    return start // timedelta(microseconds=1), monthrange(its_year, number)[1] * DAY


def _date(moment: Moment) -> datetime:
    return EPOCH + timedelta(microseconds=moment)


AGO = rf"\b{COUNT} {UNIT} (?:ago|earlier)\b"
YESTERDAY = r"\byesterday\b"
PAST = rf"\b(?:past|last|previous) (?:{COUNT} )?{UNIT}\b"
READINGS: tuple[tuple[str, Callable[[Match[str], Moment], Period | None]], ...] = (
    (AGO, _ago),
    (YESTERDAY, _yesterday),
    (rf"\b{DATE}(?: of)? {MONTH}\b{YEAR}", _day_first),
    (rf"\b{MONTH}\.? {DATE}\b{YEAR}", _month_first),
    (rf"\b(?:in|during|of|from|early|mid|late)[ -]{MONTH}\b{YEAR}", _month),
    (PAST, _past),
    (rf"\b(?:last|on|this past) ({'|'.join(WEEKDAYS)})\b", _weekday),
)
"""English time expressions and their periods, most exact first."""
