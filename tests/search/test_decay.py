"""What is left of a memory's weight."""

from __future__ import annotations

from math import exp

import pytest
from support import START

from mnemic.model.shapes import Standing
from mnemic.model.time import DAY
from mnemic.search.decay import decay


def standing(kind="fact", used=None, times=0):
    return Standing(1, kind, 1.0, True, START, used, times)


@pytest.mark.parametrize(
    "kind, weight",
    [("fact", 1), ("decision", 1), ("note", 1), ("skill", 0.8), ("turn", 0.8), ("episode", 0.6)],
)
def test_a_fresh_memory_has_the_weight_of_its_kind(kind, weight):
    assert decay(standing(kind), START) == weight == decay(standing(kind), START - DAY)


def test_weight_is_lost_by_the_day_since_the_last_use():
    assert decay(standing(), START + 100 * DAY) == pytest.approx(exp(-1))
    assert decay(standing(used=START + 99 * DAY), START + 100 * DAY) == pytest.approx(exp(-0.01))


def test_use_slows_the_loss_to_half_the_rate_at_most():
    day = START + 100 * DAY
    weights = [decay(standing(used=START, times=times), day) for times in (0, 1, 31, 1023, 10**9)]
    assert weights == sorted(weights)
    assert weights[1] == pytest.approx(exp(-0.95))
    assert weights[-2:] == [pytest.approx(exp(-0.5))] * 2
