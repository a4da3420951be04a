"""JSON from outside is taken as it is, or refused in words."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from server_process import BAD_JSON

from mnemic.errors import Invalid
from mnemic.transports.json_input import MAX_DEPTH, parse_json, parse_object

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
)


@given(values)
def test_what_is_json_comes_as_it_was_written(value):
    assert parse_json(json.dumps(value).encode()) == value


@pytest.mark.parametrize("body", [body for _, body in BAD_JSON], ids=[name for name, _ in BAD_JSON])
def test_what_is_not_is_refused(body):
    with pytest.raises(Invalid):
        parse_json(body)


@pytest.mark.parametrize("number", [2**63 - 1, 2**64 - 1, -(2**63), 0])
def test_an_integer_of_64_bits_stays_one(number):
    assert parse_json(b'{"n": %d}' % number) == {"n": number}


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**30])
def test_a_longer_one_is_refused_and_not_rounded(number):
    with pytest.raises(Invalid, match="64 bits"):
        parse_json(b'{"n": %d}' % number)


def test_long_digits_in_a_text_are_no_number():
    assert parse_json(b'{"n": "%d"}' % 10**30) == {"n": str(10**30)}


def test_depth_has_a_limit():
    assert parse_json(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    with pytest.raises(Invalid, match="nested"):
        parse_json(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1))


def test_an_empty_body_is_an_empty_object():
    assert parse_object(b" \n") == {}
    with pytest.raises(Invalid, match="object"):
        parse_object(b"[1]")
