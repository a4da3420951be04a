"""Moments and spans of time: microseconds since 1970 in UTC, as RFC 3339 and back."""

from __future__ import annotations

import functools
import re
from datetime import UTC, datetime, timedelta

from mnemic.errors import Invalid

Moment = int
"""A point in time: microseconds since 1970 in UTC. Compared as a number, shown by `iso`."""

SECOND: Moment = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
YEAR = 365 * DAY

EARLIEST: Moment = -62_135_596_800_000_000
LATEST: Moment = 253_402_300_799_999_999
"""The first and the last moment a calendar can show (the beginning of the year 1, the end of the year 9999)."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SPAN = re.compile(
    r"(\d{1,9})\s*(s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?|y(?:ears?)?)",
    re.IGNORECASE,
)
_UNITS = {"s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY, "w": 7 * DAY, "y": YEAR}


# Every hit formats its times, and most never change.
@functools.lru_cache(maxsize=2048)
def iso(moment: Moment) -> str:
    """*moment* as RFC 3339 in UTC, without a fraction when there is none."""
    return (_EPOCH + timedelta(microseconds=moment)).isoformat()


def parse_moment(text: str, field: str, now: Moment) -> Moment:
    """The moment *text* means: RFC 3339, a date, or a span before now such as `2h` or `7d`."""
    span = _SPAN.fullmatch(text.strip())
    if span:
        return max(0, now - int(span[1]) * _UNITS[span[2][0].lower()])
    try:
        stamp = datetime.fromisoformat(text.strip())
        stamp = stamp.replace(tzinfo=UTC) if stamp.tzinfo is None else stamp.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Invalid(
            f"{field}: not a time: {text[:40]!r}. Use 2026-01-31, 2026-01-31T09:00Z or 7d", field
        ) from None
    return (stamp - _EPOCH) // timedelta(microseconds=1)


def parse_span(text: str, field: str) -> Moment:
    """The length of time *text* means, such as `90s`, `6h`, `7d` or `1y`, in microseconds."""
    span = _SPAN.fullmatch(text.strip())
    if not span or not int(span[1]):
        raise Invalid(f"{field}: not a span of time: {text[:40]!r}. Use 90s, 30m, 6h, 7d, 2w or 1y", field)
    return int(span[1]) * _UNITS[span[2][0].lower()]
