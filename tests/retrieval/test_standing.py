"""Rules and preferences are known by how they are told."""

from __future__ import annotations

import pytest

from mnemic.retrieval.standing import is_standing


@pytest.mark.parametrize(
    "text",
    [
        "Always answer in metric units.",
        "Thanks. Please never deploy on a Friday.",
        "Anna: Whenever I ask for a recipe, leave out nuts",
        "From now on, write dates as 2026-01-31",
        "I'd prefer a window seat",
        "I would strongly prefer tea",
        "My favourite colour is green",
        "that is my favorite song",
        "As to tests, my preference is pytest",
    ],
)
def test_a_rule_or_a_preference_is_known(text):
    assert is_standing(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "We deploy on Friday",
        "It was never clear to me",
        "The shop has always been there",
        "They know it by now on the whole",
        "Which of them do you prefer?",
        "It is a favourite of the crowd",
    ],
)
def test_what_merely_uses_such_words_is_not(text):
    assert not is_standing(text)
