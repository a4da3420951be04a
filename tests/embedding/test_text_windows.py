"""Long texts are cut so that nothing is lost and a model can read each stretch."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.embedding.local import ENGLISH, MULTILINGUAL, SLACK, LocalEmbedder, readable
from mnemic.embedding.text_windows import character_windows

SENTENCE = "The review moved to Thursday because the auditors asked for it. "


@pytest.fixture(scope="module")
def embedder():
    return LocalEmbedder()


@pytest.fixture(scope="module", params=[ENGLISH, MULTILINGUAL], ids=["english", "multilingual"])
def files(request):
    return request.param


def tokenizer_of(files):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(files.folder / "tokenizer.json"))
    tokenizer.encode_special_tokens = True
    return tokenizer


@pytest.fixture(scope="module")
def reader(files):
    """A model and its tokenizer."""
    return LocalEmbedder(files), tokenizer_of(files)


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
def test_every_character_is_covered_and_every_stretch_can_be_read(reader, files, text):
    embedder, tokenizer = reader
    stretches = embedder.windows(text)
    assert not uncovered(text, stretches)
    for start, end in stretches:
        assert len(tokenizer.encode(readable(text[start:end])).ids) <= files.tokens


@pytest.mark.parametrize("text", ["这台新的打印机放在二楼的厨房旁边" * 60, "x" * 4000, "a1B2" * 1500])
def test_a_text_without_blanks_is_cut_too(reader, files, text):
    embedder, tokenizer = reader
    stretches = embedder.windows(text)
    assert len(stretches) > 2 and not uncovered(text, stretches)
    for start, end in stretches:
        assert len(tokenizer.encode(text[start:end]).ids) <= files.tokens


@given(texts, st.integers(120, 1200))
def test_stretches_of_characters_cover_everything_too(text, size):
    stretches = character_windows(text, size, overlap=20)
    assert not uncovered(text, stretches)
    assert all(end - start <= size for start, end in stretches)
    assert stretches == sorted(stretches)


@pytest.mark.parametrize("text", ["", "short", " ", "é" * 127, SENTENCE])
def test_a_short_text_is_one_stretch_and_needs_no_model(tmp_path, text):
    assert LocalEmbedder(replace(ENGLISH, folder=tmp_path)).windows(text) == [(0, len(text))]


def test_a_token_stands_for_a_byte_at_least():
    tokenizer = tokenizer_of(ENGLISH)
    for first in range(0, sys.maxunicode, 97):
        text = (
            "".join(map(chr, range(first, min(first + 97, sys.maxunicode)))).encode(errors="replace").decode()
        )
        assert len(tokenizer.encode(text, add_special_tokens=False).ids) <= len(text.encode())


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
    assert overlaps == {31 * len("word ")}
    assert stretches[0] == (0, (ENGLISH.inner_tokens - SLACK) * len("word "))
