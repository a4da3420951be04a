"""How much of a question a memory repeats."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.dialects.ai_memory.overlap import overlap


@pytest.mark.parametrize(
    "question, title, body, score",
    [
        ("sourdough bread", "Sourdough bread", "sourdough bread", 1.0),
        ("sourdough bread", "Car tyres", "in the cellar", 0.0),
        ("", "Car tyres", "in the cellar", 0.0),
        ("?!", "Car tyres", "", 0.0),
        # All of the words, half of the union, no title, the pair in the body.
        ("sourdough bread", "Food", "the sourdough bread and butter", 0.3 * 2 / 4 + 0.3 + 0.2),
        # One of two words, in the title, which stands alone: no pair.
        ("sourdough bread", "Bread", "", 0.3 / 2 + 0.3 / 2 + 0.2 / 2),
        # The words, but not side by side.
        ("sourdough bread", "", "bread of sourdough", 0.3 + 0.3),
        # Stop words count neither as words nor between neighbours.
        ("what is the bread of sourdough", "", "the bread is sourdough", 0.3 + 0.3 + 0.2),
        # A single word is its own pair.
        ("bread", "", "bread", 0.3 + 0.3 + 0.2),
        # A question of nothing but stop words has nothing to repeat.
        ("who", "Who", "", 0.0),
    ],
)
def test_the_score_is_the_sum_of_four_shares(question, title, body, score):
    assert overlap(question, title, body) == pytest.approx(score)


def test_a_rare_word_counts_for_more():
    weights = {"sourdough": 9.0, "bread": 1.0}
    rare = overlap("sourdough bread", "", "sourdough", weights)
    assert rare == pytest.approx(0.3 / 2 + 0.3 * 0.9)
    assert rare > overlap("sourdough bread", "", "bread", weights) == pytest.approx(0.3 / 2 + 0.3 * 0.1)


def test_a_word_without_a_weight_counts_as_one():
    assert overlap("sourdough bread", "", "bread", {"sourdough": 3.0}) == pytest.approx(0.3 / 2 + 0.3 / 4)
    assert overlap("bread", "", "bread", {"bread": 0.0}) == pytest.approx(0.5)


def test_the_title_tells_apart_what_says_the_same():
    ours = overlap("winter tyres", "Winter tyres", "They are stored in the cellar.")
    assert ours > overlap("winter tyres", "Cellar", "They store winter tyres in the cellar.")


@given(st.text(max_size=60), st.text(max_size=30), st.text(max_size=80))
def test_it_stays_between_nothing_and_all(question, title, body):
    assert 0 <= overlap(question, title, body) <= 1 + 1e-9
