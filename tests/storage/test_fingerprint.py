"""How text becomes words."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.storage import fingerprint, tokenizer
from mnemic.storage.edit_distance import one_edit, one_edit_away


@pytest.mark.parametrize(
    "written, found",
    [
        ("Hello, World!", ["hello", "world"]),
        ("parse_config()", ["parse_config"]),
        ("don't", ["don", "t"]),
        ("", []),
        ("… — !", []),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("東", ["東"]),
        ("in 東京 today", ["in", "東京", "today"]),
        ("한국어", ["한국", "국어"]),
        ("Zoë", ["zoë"]),
        (unicodedata.normalize("NFD", "Zoë"), ["zoë"]),
        ('"a" OR NOT b*', ["a", "or", "not", "b"]),
    ],
)
def test_words_are_what_stands_between_spaces_and_signs(written, found):
    assert tokenizer.words(written) == found


@pytest.mark.parametrize(
    "written, parts",
    [
        ("parse_config", "parse config"),
        ("HTTPServer", "HTTP Server"),
        ("the getUserName call", "get User Name"),
        ("utf8", "utf 8"),
        ("plain words stay", ""),
        ("NASA and Bob", ""),
        ("__init__", ""),
    ],
)
def test_identifiers_have_parts(written, parts):
    assert tokenizer.identifier_parts(written) == parts


@pytest.mark.parametrize(
    "left, right, same",
    [
        ("The sky is blue", "  the SKY\n is\tblue ", True),
        ("café", unicodedata.normalize("NFD", "café"), True),
        ("ﬁne", "fine", True),
        ("Straße", "STRASSE", True),
        ("blue sky", "sky blue", False),
        ("blue", "blue.", False),
    ],
)
def test_equal_texts_share_a_number_whatever_their_case_spacing_and_form(left, right, same):
    assert (fingerprint.digest(left) == fingerprint.digest(right)) is same


@given(st.text())
def test_a_number_of_a_text_fits_a_column(body):
    assert -(2**63) <= fingerprint.digest(body) < 2**63


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_ascii_is_indexed_as_it_is(body):
    assert tokenizer.normalized(body) == body


def brute_one_edit(left, right):
    letters = set(left + right)
    edits = {left[:i] + left[i + 1 :] for i in range(len(left))}
    edits |= {left[:i] + letter + left[i:] for i in range(len(left) + 1) for letter in letters}
    edits |= {left[:i] + letter + left[i + 1 :] for i in range(len(left)) for letter in letters}
    edits |= {left[:i] + left[i + 1] + left[i] + left[i + 2 :] for i in range(len(left) - 1)}
    return right in edits - {left}


words = st.text("abc", max_size=6)


@given(words, words)
def test_one_edit_is_one_letter_more_less_other_or_swapped(left, right):
    assert one_edit(left, right) == brute_one_edit(left, right) == one_edit(right, left)
    assert (right in one_edit_away(left)) == one_edit(left, right)
