"""Questions that several memories answer."""

from __future__ import annotations

import numpy as np
import pytest

from mnemic.retrieval.breadth import asks_for_several, likeness


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


def test_the_nearest_model_counts_by_its_weight_and_an_opposite_not_at_all():
    north, east = np.eye(2, dtype=np.float32)
    assert likeness([north, east, -north], [north, east], [1.0, 0.5]) == pytest.approx([1.0, 0.5, 0.0])
