"""What things are: moments, spans, memories and filters."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import Invalid
from mnemic.model.enums import State, Tier
from mnemic.model.filter import Filter
from mnemic.model.graph import Edge
from mnemic.model.memory import Memory, Statement, is_beginning
from mnemic.model.text_size import cut, fitted
from mnemic.model.time import DAY, HOUR, LATEST, MINUTE, SECOND, YEAR, iso, parse_moment, parse_span
from mnemic.model.uids import random_uid

NOW = 1_800_000_000_000_000


@pytest.mark.parametrize(
    "text, moment",
    [
        ("2027-01-15T08:00:00+00:00", NOW),
        ("2027-01-15T08:00Z", NOW),
        ("2027-01-15T08:00", NOW),
        ("2027-01-15 10:00+02:00", NOW),
        ("2027-01-15", NOW - 8 * HOUR),
        ("2027-01-15T08:00:00.000001Z", NOW + 1),
        ("1970-01-01", 0),
        ("1969-12-31", -DAY),
        ("90s", NOW - 90 * SECOND),
        ("5m", NOW - 5 * MINUTE),
        ("2h", NOW - 2 * HOUR),
        (" 7D ", NOW - 7 * DAY),
        ("2 w", NOW - 14 * DAY),
        ("1y", NOW - YEAR),
        ("0s", NOW),
        ("999999999y", 0),
    ],
)
def test_a_moment_is_a_date_or_a_span_before_now(text, moment):
    assert parse_moment(text, "since", NOW) == moment


@pytest.mark.parametrize(
    "text", ["", "yesterday", "7", "7x", "-7d", "2026-13-01", "2026-02-30", "1e3s", "٣d" * 20, "12345678901d"]
)
def test_what_is_no_moment_is_refused_by_name(text):
    with pytest.raises(Invalid, match="since: not a time") as refusal:
        parse_moment(text, "since", NOW)
    assert refusal.value.field == "since" and len(str(refusal.value)) < 200


@pytest.mark.parametrize(
    "text, span",
    [
        ("90s", 90 * SECOND),
        ("30m", 30 * MINUTE),
        ("6H", 6 * HOUR),
        ("1y", YEAR),
        ("2 days", 2 * DAY),
        ("1 Week", 7 * DAY),
        ("10 minutes", 10 * MINUTE),
    ],
)
def test_a_span_is_a_number_and_a_unit(text, span):
    assert parse_span(text, "ttl") == span


@pytest.mark.parametrize(
    "text", ["", "0d", "2 months", "3 dayz", "00h", "-1d", "1.5h", "d", "2026-01-01", "1d2h"]
)
def test_what_is_no_span_is_refused_by_name(text):
    with pytest.raises(Invalid, match="ttl: not a span of time"):
        parse_span(text, "ttl")


@given(st.integers(-62_135_596_800_000_000, LATEST))
def test_a_moment_shown_and_read_again_is_the_same(moment):
    assert parse_moment(iso(moment), "at", NOW) == moment


def test_a_moment_is_shown_without_a_fraction_it_does_not_have():
    assert iso(NOW) == "2027-01-15T08:00:00+00:00"
    assert iso(NOW + 1) == "2027-01-15T08:00:00.000001+00:00"
    assert iso(LATEST).startswith("9999-12-31T23:59:59")


@pytest.mark.parametrize("end, is_over", [(None, False), (NOW + 1, False), (NOW, True), (NOW - 1, True)])
def test_the_time_of_a_memory_is_over_from_its_end_on(end, is_over):
    memory = Memory(id=1, uid="", namespace="", title="", created_at=0, updated_at=0, expires_at=end)
    assert memory.has_expired(NOW) is is_over


@pytest.mark.parametrize("end, is_current", [(None, True), (NOW, False)])
def test_a_link_is_current_until_it_ends(end, is_current):
    edge = Edge(id=1, source_id=1, target_id=2, type="knows", created_at=0, valid_to=end)
    assert edge.is_current is is_current


def test_the_content_of_a_memory_is_its_statements_in_lines():
    memory = Memory(id=1, uid="", namespace="", title="", created_at=0, updated_at=0)
    assert memory.content == ""
    told = Memory(
        id=1,
        uid="",
        namespace="",
        title="",
        created_at=0,
        updated_at=0,
        statements=(Statement(1, " one "), Statement(2, "two\nlines")),
    )
    assert told.content == " one \ntwo\nlines"


@pytest.mark.parametrize(
    "title, body, beginning",
    [
        ("We deploy.", "We deploy. On Fridays.", True),
        ("We deploy. (2)", "We deploy. On Fridays.", False),
        ("We deploy", "  We deploy", True),
        ("Deploys", "We deploy", False),
        ("Cat", "Category", False),
        ("Plan 9", "Plan 90", False),
    ],
)
def test_a_title_that_was_made_repeats_how_the_body_begins(title, body, beginning):
    assert is_beginning(title, body) is beginning


@pytest.mark.parametrize(
    "wanted, plain",
    [
        ({}, True),
        ({"namespaces": ("a",)}, True),
        ({"alive_at": 1}, True),
        ({"kinds": ()}, False),
        ({"tags": ("a",)}, False),
        ({"tier": Tier.LONG}, False),
        ({"session_ids": (1,)}, False),
        ({"ids": (1,)}, False),
        ({"min_priority": 1}, False),
        ({"since": 0}, False),
        ({"until": 0}, False),
        ({"states": frozenset(State)}, False),
    ],
)
def test_a_plain_filter_is_one_the_indexes_answer_alone(wanted, plain):
    assert Filter(**wanted).is_plain is plain


# -- texts cut to a size


@pytest.mark.parametrize(
    "texts, limit, expected",
    [
        (["aaa", "b"], 10, ["aaa", "b"]),
        (["aaaa", "b", "cccc"], 7, ["aaa", "b", "ccc"]),
        (["aaaa", "b"], 5, ["aaaa", "b"]),
        ([], 5, []),
        (["éé"], 3, ["é"]),
    ],
)
def test_texts_are_cut_to_fit_together(texts, limit, expected):
    assert fitted(texts, limit) == expected


def test_a_cut_leaves_no_half_character():
    assert [cut("aé", size) for size in range(4)] == ["", "a", "a", "aé"]


def test_a_fresh_uid_is_a_random_uuid_as_it_is_written():
    uids = [random_uid() for _ in range(1_000)]
    read = [uuid.UUID(uid) for uid in uids]
    assert [str(one) for one in read] == uids
    assert {(one.version, one.variant) for one in read} == {(4, uuid.RFC_4122)}
    assert len(set(uids)) == 1_000
