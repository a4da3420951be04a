"""Rules, preferences and questions for several memories are recognised by their wording."""

from __future__ import annotations

import pytest

from mnemic.search.query_signals import asks_for_several, states_rule


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
    assert states_rule(text)


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
    assert not states_rule(text)


@pytest.mark.parametrize(
    "question",
    [
        "How many museums did I visit?",
        "How much did I spend on workshops?",
        "What is the order of the three trips?",
        "What did I pay in TOTAL?",
        "List the instruments I play",
    ],
)
def test_who_counts_or_orders_asks_for_several(question):
    assert asks_for_several(question)


@pytest.mark.parametrize("question", ["", "Where does Anna live?", "What did I call the bicycle?"])
def test_any_other_question_may_have_one_answer(question):
    assert not asks_for_several(question)
