"""How alike two texts are, and which memories nearly say the same."""

from __future__ import annotations

import pytest

from mnemic.model.search import Filter
from mnemic.model.values import State
from mnemic.retrieval.similarity import NEAR, likeness, near_duplicates
from support import START, a_draft, change, put


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
    assert likeness(left, right) == pytest.approx(alike) == likeness(right, left)


def near(store, text, **wanted):
    with store.write(operation="look", actor="x", at=START) as tx:
        return [(memory.id, alike) for memory, alike in near_duplicates(tx, text, Filter(**wanted))]


def test_what_differs_in_a_word_is_nearly_the_same(store):
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
