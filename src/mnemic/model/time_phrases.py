"""Times as people write them: ISO dates, spans such as `7d`, `yesterday`, `3 days ago`, read in a time zone."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta, tzinfo

from mnemic.errors import Invalid
from mnemic.model.time import DAY, HOUR, MINUTE, SECOND, YEAR, Moment, parse_moment

LOCAL = "local"
"""The setting that asks for the time zone of the system."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SPAN = re.compile(r"(in )?(\d{1,9}|an?) (second|minute|hour|day|week|month|year)s?( ago)?")
_AGO = re.compile(r"^(\d+[a-z]) ago$", re.IGNORECASE)
"""An age as the command line shows it."""
_PERIOD = re.compile(r"(this|last) (week|month|year)")
_CLOCK = re.compile(r"(?:(\w+) (?:at )?)?(\d{1,2}):(\d{2})(?::(\d{2}))?")
_UNITS = {
    "second": SECOND,
    "minute": MINUTE,
    "hour": HOUR,
    "day": DAY,
    "week": 7 * DAY,
    "month": 30 * DAY,
    "year": YEAR,
}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class SystemZone(tzinfo):
    """The time zone of the system, with the offset that holds at each date."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        """The offset at the local time *moment*."""
        return None if moment is None else moment.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, moment: datetime | None) -> timedelta | None:
        """Not known."""
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        """What the zone is called at the local time *moment*."""
        return None if moment is None else moment.replace(tzinfo=None).astimezone().tzname()

    def fromutc(self, moment: datetime) -> datetime:
        """The local time of *moment*, which is in UTC."""
        return moment.replace(tzinfo=UTC).astimezone().replace(tzinfo=self)


def zone_named(name: str) -> tzinfo:
    """The time zone *name*: an IANA name such as `Europe/Berlin`, `UTC`, or `local`; Invalid if there is none."""
    if name in ("", LOCAL):
        return SystemZone()
    if name.upper() == "UTC":
        return UTC
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise Invalid(
            f"timezone: unknown time zone {name[:40]!r}. Use a name such as Europe/Berlin", "timezone"
        ) from None


def moment_of(stamp: datetime, zone: tzinfo) -> Moment:
    """*stamp* as a moment; without a time zone of its own it is in *zone*."""
    aware = stamp if stamp.tzinfo is not None else stamp.replace(tzinfo=zone)
    return (aware.astimezone(UTC) - _EPOCH) // timedelta(microseconds=1)


def datetime_of(moment: Moment, zone: tzinfo = UTC) -> datetime:
    """*moment* as an aware datetime in *zone*."""
    return (_EPOCH + timedelta(microseconds=moment)).astimezone(zone)


def parse_time(text: str, field: str, now: Moment, zone: tzinfo) -> Moment:
    """The moment *text* means. A time without an offset is in *zone*; a day means its beginning there.

    Read are ISO dates and times, spans before now (`7d`, `3 days ago`) and after it (`in 3 days`), `now`, `today`,
    `yesterday`, weekdays (the last one before today), `this` or `last week`, `month` and `year`, and a time of day
    (`14:30`, `yesterday 9:00`).
    """
    words = " ".join(text.lower().split())
    local = datetime_of(now, zone)
    if words == "now":
        return now
    if (span := _SPAN.fullmatch(words)) and bool(span[1]) != bool(span[4]):
        length = (int(span[2]) if span[2].isdecimal() else 1) * _UNITS[span[3]]
        return now + length if span[1] else max(0, now - length)
    found = _day(words, local) or _period(words, local) or _clock(words, local)
    if found is not None:
        return moment_of(found, zone)
    return _iso(_AGO.sub(r"\1", text.strip()), field, now, zone)


def _iso(text: str, field: str, now: Moment, zone: tzinfo) -> Moment:
    """An ISO time or a span; `parse_moment` reads it, but takes a time without an offset for UTC."""
    try:
        stamp = datetime.fromisoformat(text.strip())
    except ValueError:
        stamp = None
    if stamp is not None and stamp.tzinfo is None:
        return moment_of(stamp, zone)
    try:
        return parse_moment(text, field, now)
    except Invalid:
        known = "2026-01-31, 2026-01-31T09:00, yesterday, 3 days ago or 7d"
        raise Invalid(f"{field}: not a time: {text[:40]!r}. Use {known}", field) from None


def _day(words: str, local: datetime) -> datetime | None:
    """The beginning of the day that *words* name."""
    if words in _WEEKDAYS:
        back = (local.weekday() - _WEEKDAYS.index(words) - 1) % 7 + 1
    elif words in ("today", "yesterday"):
        back = int(words == "yesterday")
    else:
        return None
    return datetime.combine(local.date() - timedelta(days=back), time())


def _period(words: str, local: datetime) -> datetime | None:
    """The beginning of the week (Monday), month or year that *words* name."""
    found = _PERIOD.fullmatch(words)
    if found is None:
        return None
    day = local.date()
    starts = {
        "week": (day - timedelta(days=day.weekday()), timedelta(days=7)),
        "month": (day.replace(day=1), timedelta(days=1)),
        "year": (day.replace(month=1, day=1), timedelta(days=1)),
    }
    start, step = starts[found[2]]
    if found[1] == "last":
        before = start - step
        start = {"week": before, "month": before.replace(day=1), "year": before.replace(month=1, day=1)}[
            found[2]
        ]
    return datetime.combine(start, time())


def _clock(words: str, local: datetime) -> datetime | None:
    """A time of day, today or on the day named before it."""
    found = _CLOCK.fullmatch(words)
    day = _day(found[1] or "today", local) if found else None
    if found is None or day is None:
        return None
    hours, minutes, seconds = int(found[2]), int(found[3]), int(found[4] or 0)
    if hours > 23 or minutes > 59 or seconds > 59:
        return None
    return day.replace(hour=hours, minute=minutes, second=seconds)
