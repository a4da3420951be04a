"""How alike two texts are, and which memories nearly say the same."""

from __future__ import annotations

import numpy as np
import pytest
from support import START, a_draft, change, put, write

from mnemic.model.enums import State
from mnemic.model.filter import Filter
from mnemic.search.similarity import NEAR, jaccard, near_duplicates, nearest_cosines


@pytest.mark.parametrize(
    "left, right, alike",
    [
        ("a b c d", "a b c d", 1.0),
        ("A, b. C!", "a b c", 1.0),
        ("a b c d", "a b c x", 3 / 5),
        ("a b", "c d", 0.0),
        ("", "", 1.0),
        ("a", "", 0.0),
    ],
)
def test_likeness_is_the_share_of_common_words(left, right, alike):
    assert jaccard(left, right) == pytest.approx(alike) == jaccard(right, left)


def near(store, text, **wanted):
    return write(
        store,
        lambda tx: [(memory.id, alike) for memory, alike in near_duplicates(tx, text, Filter(**wanted))],
        operation="look",
    )


def test_texts_that_differ_in_one_word_are_near_duplicates(store):
    text = "the quarterly review meeting takes place every second thursday afternoon in room neptune"
    known, other = put(store, a_draft(text), a_draft("bananas are yellow when they are ripe"))
    put(store, *(a_draft(f"filler number {number} of the store") for number in range(30)))
    [(number, alike)] = near(store, text.replace("thursday", "friday"))
    assert number == known.id and NEAR <= alike < 1
    assert near(store, text) == [(known.id, 1.0)]
    assert near(store, "something else entirely about rivers") == []
    assert near(store, text, namespaces=("work",)) == []
    change(store, known, state=State.FORGOTTEN, at=START + 1)
    assert near(store, text) == []
    assert near(store, "bananas are yellow when they are ripe")[0][0] == other.id


def test_the_most_alike_come_first_and_a_changed_text_counts_as_it_is(store):
    base = "one two three four five six seven eight nine ten"
    far, close = put(store, a_draft(f"{base} alpha beta gamma"), a_draft(f"{base} alpha"))
    assert [number for number, _ in near(store, base)] == [close.id, far.id]
    change(store, close, texts=("a different sentence altogether",), at=START + 1)
    assert [number for number, _ in near(store, base)] == [far.id]


def test_nearest_cosine_is_weighted_and_never_negative():
    north, east = np.eye(2, dtype=np.float32)
    assert nearest_cosines([north, east, -north], [north, east], [1.0, 0.5]) == pytest.approx([1.0, 0.5, 0.0])
