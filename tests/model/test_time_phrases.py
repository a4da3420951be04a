"""Times as people write them, in a time zone."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from mnemic.errors import Invalid
from mnemic.model.time_phrases import datetime_of, moment_of, parse_time, zone_named

BERLIN = ZoneInfo("Europe/Berlin")
NOW = moment_of(datetime(2026, 3, 31, 0, 30), BERLIN)
"""A Tuesday in Berlin, two days after the clocks went forward, and still Monday in UTC."""


@pytest.mark.parametrize(
    "text, meant",
    [
        ("now", "2026-03-31T00:30+02:00"),
        ("today", "2026-03-31T00:00+02:00"),
        ("Yesterday", "2026-03-30T00:00+02:00"),
        ("yesterday 9:15", "2026-03-30T09:15+02:00"),
        ("yesterday at 09:15", "2026-03-30T09:15+02:00"),
        ("00:10", "2026-03-31T00:10+02:00"),
        ("monday", "2026-03-30T00:00+02:00"),
        ("tuesday", "2026-03-24T00:00+01:00"),
        ("saturday 18:00", "2026-03-28T18:00+01:00"),
        ("this week", "2026-03-30T00:00+02:00"),
        ("last week", "2026-03-23T00:00+01:00"),
        ("this month", "2026-03-01T00:00+01:00"),
        ("last month", "2026-02-01T00:00+01:00"),
        ("last year", "2025-01-01T00:00+01:00"),
        ("3 days ago", "2026-03-28T00:30+02:00"),
        ("3 days", "2026-03-28T00:30+02:00"),
        ("an hour ago", "2026-03-30T23:30+02:00"),
        ("2h ago", "2026-03-30T22:30+02:00"),
        ("90m ago", "2026-03-30T23:00+02:00"),
        ("2 weeks ago", "2026-03-17T00:30+02:00"),
        ("in 2 days", "2026-04-02T00:30+02:00"),
        ("7d", "2026-03-24T00:30+02:00"),
        ("2026-01-31", "2026-01-31T00:00+01:00"),
        ("2026-07-31T09:00", "2026-07-31T09:00+02:00"),
        ("2026-01-31T09:00Z", "2026-01-31T09:00+00:00"),
        ("2026-01-31T09:00-05:00", "2026-01-31T09:00-05:00"),
    ],
)
def test_a_time_is_read_in_the_zone(text, meant):
    found = datetime_of(parse_time(text, "since", NOW, BERLIN), BERLIN)
    assert found == datetime.fromisoformat(meant)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterdayish",
        "25:00",
        "last blue moon",
        "ago",
        "2026-13-01",
        "days ago",
        "in 3 days ago",
    ],
)
def test_what_is_no_time_is_refused_by_the_name_of_the_field(text):
    with pytest.raises(Invalid, match="since: not a time"):
        parse_time(text, "since", NOW, UTC)


def test_the_zone_of_the_system_knows_summer_and_winter(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        local = zone_named("local")
        for text in ("2026-01-31T09:00", "2026-07-31T09:00"):
            stamp = datetime.fromisoformat(text)
            moment = moment_of(stamp, local)
            assert moment == moment_of(stamp, BERLIN)
            assert datetime_of(moment, local).replace(tzinfo=None) == stamp
        assert datetime_of(NOW, local).strftime("%H:%M %Z") == "00:30 CEST"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_an_unknown_zone_is_refused():
    assert zone_named("utc") is UTC
    with pytest.raises(Invalid, match="timezone: unknown time zone 'Mars/Base'"):
        zone_named("Mars/Base")
    with pytest.raises(Invalid):
        zone_named("../etc/passwd")
