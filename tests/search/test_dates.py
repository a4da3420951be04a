"""A question is read for the time it speaks of."""

from __future__ import annotations

import pytest

from mnemic.model.time import DAY, LATEST, iso, parse_moment
from mnemic.search.dates import period

NOW = parse_moment("2023-05-30T12:00", "now", 0)  # a Tuesday


@pytest.mark.parametrize(
    "question, inside, outside",
    [
        ("What did I buy two weeks ago?", "2023-05-16", "2023-05-28"),
        ("What did I cook a couple of days ago?", "2023-05-28T12:00", "2023-05-20"),
        ("What did I say yesterday?", "2023-05-29", "2023-05-26"),
        ("What did Melanie do in July 2022?", "2022-07-20", "2022-09-01"),
        ("Which race did I run in June?", "2022-06-20", "2023-05-29"),
        ("Who had dinner with Maria on May 3, 2023?", "2023-05-04", "2023-05-20"),
        ("Who had dinner with Maria on 3 May?", "2023-05-04", "2023-05-20"),
        ("Who came for dinner on the 3rd of November?", "2022-11-04", "2022-11-20"),
        ("What was planned in mid-December?", "2022-12-15", "2023-02-01"),
        ("Who did I meet last Friday?", "2023-05-26", "2023-05-20"),
        ("What did I read last month?", "2023-04-20", "2023-03-01"),
        ("Which trips did I make in the past three months?", "2023-03-10", "2022-12-01"),
        ("What did I plant a year ago?", "2022-05-30", "2023-05-01"),
    ],
)
def test_a_time_in_the_question_is_found(question, inside, outside):
    found = period(question, NOW)
    assert found is not None
    assert found.start <= parse_moment(inside, "t", 0) <= found.end, (iso(found.start), iso(found.end))
    assert not found.start <= parse_moment(outside, "t", 0) <= found.end, (iso(found.start), iso(found.end))


@pytest.mark.parametrize(
    "question",
    [
        "",
        "Where does Anna live?",
        "How many weeks ago did I attend the workshop?",
        "How many months ago did I book the flat?",
        "What may I do about it?",
        "Who won on 31 february?",
        "The march to the sea",
    ],
)
def test_a_question_without_a_time_has_no_period(question):
    assert period(question, NOW) is None


@pytest.mark.parametrize("now", [0, DAY, NOW, LATEST])
@pytest.mark.parametrize(
    "question",
    [
        "in may 1900",
        "in december 2199",
        "on 30 december",
        "999 years ago",
        "two days ago",
        "last friday",
        "past 999 years",
    ],
)
def test_any_time_is_survived(question, now):
    found = period(question, now)
    assert found is not None and found.start < found.end
