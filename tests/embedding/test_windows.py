"""Long texts are cut so that nothing is lost and a model can read each stretch."""

from __future__ import annotations

import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.embedding.local import FILES, INNER_TOKENS, TOKENS, LocalEmbedder, readable
from mnemic.embedding.windows import character_windows, sentence_groups

SENTENCE = "The review moved to Thursday because the auditors asked for it. "


@pytest.fixture(scope="module")
def embedder():
    return LocalEmbedder()


@pytest.fixture(scope="module")
def tokenizer():
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(FILES / "tokenizer.json"))
    tokenizer.encode_special_tokens = True
    return tokenizer


def uncovered(text, stretches):
    """The characters that lie in no stretch."""
    covered = {place for start, end in stretches for place in range(start, end)}
    return set(range(len(text))) - covered


fragments = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        [
            SENTENCE,
            "line\n",
            "今天天气很好。",
            "안녕하세요 ",
            "e\u0301",
            "x" * 90,
            "[SEP]",
            " " * 70,
            "a.b,c;d ",
        ]
    ),
)
texts = st.lists(st.tuples(fragments, st.integers(1, 60)), max_size=12).map(
    lambda parts: "".join(part * times for part, times in parts)
)


@settings(deadline=None)
@given(texts)
def test_every_character_is_covered_and_every_stretch_can_be_read(embedder, tokenizer, text):
    stretches = embedder.windows(text)
    assert not uncovered(text, stretches)
    for start, end in stretches:
        assert len(tokenizer.encode(readable(text[start:end])).ids) <= TOKENS


@given(texts, st.integers(120, 1200))
def test_stretches_of_characters_cover_everything_too(text, size):
    stretches = character_windows(text, size, overlap=20)
    assert not uncovered(text, stretches)
    assert all(end - start <= size for start, end in stretches)
    assert stretches == sorted(stretches)


@pytest.mark.parametrize("text", ["", "short", " ", "é" * 127, SENTENCE])
def test_a_short_text_is_one_stretch_and_needs_no_model(tmp_path, text):
    assert LocalEmbedder(tmp_path).windows(text) == [(0, len(text))]


def test_a_token_stands_for_a_byte_at_least(tokenizer):
    for first in range(0, sys.maxunicode, 97):
        text = (
            "".join(map(chr, range(first, min(first + 97, sys.maxunicode)))).encode(errors="replace").decode()
        )
        assert len(tokenizer.encode(text, add_special_tokens=False).ids) <= len(text.encode())


@given(texts, st.integers(30, 300))
def test_groups_of_sentences_follow_each_other_without_a_gap(text, size):
    groups = sentence_groups(text, size)
    assert [start for start, _ in groups] == [0, *(end for _, end in groups[:-1])]
    assert groups[-1][1] == len(text)


@pytest.mark.parametrize(
    "text, groups",
    [
        ("", [""]),
        ("One. Two. Three.", ["One. Two. Three."]),
        (
            "I need a recipe for tonight. By the way, I got a black cat.",
            ["I need a recipe for tonight. ", "By the way, I got a black cat."],
        ),
        (
            "The first line is long enough here\nso is the second one, I believe",
            ["The first line is long enough here\n", "so is the second one, I believe"],
        ),
        (
            "It costs 3.50 e.g. at the shop round the corner of the street",
            ["It costs 3.50 e.g. at the shop round the corner of the street"],
        ),
        ("A sentence of forty characters is here. Ok.", ["A sentence of forty characters is here. Ok."]),
        (
            "这是第一句话，它说明了很多很多的事情，很长很长很长很长。这是第二句，它也一样说明了很多很多的事情，还有更多更多。",
            [
                "这是第一句话，它说明了很多很多的事情，很长很长很长很长。",
                "这是第二句，它也一样说明了很多很多的事情，还有更多更多。",
            ],
        ),
    ],
)
def test_a_text_is_cut_after_sentences(text, groups):
    assert [text[start:end] for start, end in sentence_groups(text, 40)] == groups


def test_a_fact_said_by_the_way_has_a_vector_of_its_own(embedder):
    text = SENTENCE * 4 + "By the way, my cat Biscuit is allergic to chicken."
    stretches = embedder.windows(text)
    assert text[slice(*stretches[-1])].endswith("my cat Biscuit is allergic to chicken.")
    asked, *found = embedder.embed(
        ["What is my cat allergic to?", *(text[start:end] for start, end in stretches), text]
    )
    assert max(asked @ one for one in found[:-1]) > asked @ found[-1] + 0.1


def test_a_text_of_a_few_sentences_stays_whole(embedder):
    text = SENTENCE * 4 + "And more."
    assert embedder.windows(text) == [(0, len(text))]


def test_cuts_fall_between_sentences(embedder):
    text = SENTENCE * 60
    stretches = embedder.windows(text)
    assert len(stretches) > 2
    assert all(text[start:].startswith("The review") for start, _ in stretches)
    assert all(text[:end].endswith("for it. ") for _, end in stretches)


def test_lines_are_better_places_to_cut_than_sentences(embedder):
    text = (SENTENCE * 3).strip() + "\n"
    stretches = embedder.windows(text * 20)
    assert all((text * 20)[:end].endswith("\n") for _, end in stretches)


def test_stretches_overlap_by_about_a_sentence(embedder):
    text = "word " * 2000
    stretches = embedder.windows(text)
    overlaps = {before[1] - after[0] for before, after in pairwise(stretches)}
    assert overlaps == {32 * len("word ")}
    assert stretches[0] == (0, INNER_TOKENS * len("word "))
