"""Whether two texts exclude each other."""

from __future__ import annotations

import pytest

from mnemic.core.trust.contradiction import contradiction_between


@pytest.mark.parametrize(
    "one, other",
    [
        ("We ship on Monday.", "We ship on Friday."),
        ("It is fast. The API listens on 8080.", "The API is old.\nThe API listens on 9090!"),
        ("We always deploy by hand", "We never deploy by hand"),
        ("Deploys run on Friday.", "Deploys do not run on Friday!"),
        ("The team deploys the API on Fridays", "The team never deploys the API on Fridays"),
        ("The cache is enabled.", "The cache is disabled."),
        ("Feature flags are on", "Feature flags are off"),
        ("The timeout is 30 seconds", "The timeout is 45 seconds"),
        ("The capital is Paris", "the capital is Lyon"),
        ("The service uses PostgreSQL", "The service uses MySQL"),
        ("The meeting starts at 10:30", "The meeting starts at 10:45"),
        ("Version 2.0 is supported", "Version 2.0 isn't supported"),
    ],
)
def test_these_are_contradictions_by_rule(one, other):
    assert contradiction_between(one, other) and contradiction_between(other, one)


@pytest.mark.parametrize(
    "one, other",
    [
        ("We ship on Monday.", "We ship on Monday."),
        ("Room 5 is blue", "Room 6 is blue"),
        ("Alice likes tea", "Bob likes tea"),
        ("Tokens are JWT.", "Sessions live in Redis."),
        ("The cache is enabled.", "The proxy is disabled."),
        ("The cache is not disabled", "The cache is enabled"),
        ("The cache is enabled on Fridays for logged-in users", "The cache is disabled at night"),
        ("Deploys run on Friday", "Nobody reads the log"),
        ("Yes", "No"),
        ("Monday", "Friday"),
        ("", "We ship"),
        ("I know this", "I do not know this"),
    ],
)
def test_these_are_none_by_rule(one, other):
    assert not contradiction_between(one, other) and not contradiction_between(other, one)


@pytest.mark.parametrize(
    "one, other",
    [
        ("Step 1 takes 5 minutes", "Step 2 takes 7 minutes"),
        ("The lighthouse keeper note 3", "The lighthouse keeper note 4"),
        ("Bug 12 was fixed in release 5", "Bug 13 was fixed in release 6"),
        ("Server alpha has 4 cores", "Server beta has 8 cores"),
        ("Contractor badges are blue", "Contract badges are not blue"),
    ],
)
def test_a_number_or_name_that_tells_things_apart_contradicts_nothing(one, other):
    assert contradiction_between(one, other) is None and contradiction_between(other, one) is None
