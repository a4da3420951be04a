"""The table of the benchmark: verdicts, missing rows, percentiles."""

from __future__ import annotations

import pytest
from bench.__main__ import MEASUREMENTS
from bench.budgets import BUDGETS, RETRIEVAL, TRUST
from bench.figures import KEPT, MISSED, RARELY_OVER, Figure, report
from bench.growth import exponent
from bench.timer import percentile, spent


def line_of(table: str, text: str) -> str:
    (line,) = [line for line in table.splitlines() if text in line]
    return line


def test_a_budget_that_was_not_measured_is_listed_as_missing():
    table = report([Figure(what="recall over 10,000", measured=7.0, row="recall 10k")])
    assert "missing" not in line_of(table, "recall over 10,000")
    assert "missing" in line_of(table, "recall over 1,000,000 (million)")
    assert table.count("(million)") == sum(budget.measured_by == "million" for budget in BUDGETS.values())


@pytest.mark.parametrize(
    ("measured", "p99", "verdict"), [(8.0, 9.0, KEPT), (8.1, 9.0, MISSED), (7.0, 16.1, RARELY_OVER)]
)
def test_the_median_as_measured_is_judged_and_a_slow_p99_is_said(measured, p99, verdict):
    assert Figure(what="recall", measured=measured, p99=p99, row="recall 10k").verdict == verdict


def test_a_minimum_is_missed_from_below():
    assert Figure(what="bulk", measured=4_999, row="bulk").verdict == MISSED
    assert Figure(what="bulk", measured=5_000, row="bulk").verdict == KEPT


def test_every_budget_names_a_measurement_or_a_command():
    sources = {budget.measured_by for budget in BUDGETS.values()}
    assert sources <= {*MEASUREMENTS, RETRIEVAL, TRUST}


def test_percentile_is_the_smallest_value_that_covers_the_share():
    assert percentile(range(1, 101), 99) == 99
    assert percentile([3, 1, 2], 99) == 3
    assert percentile([3, 1, 2], 50) == 2


def test_exponent_of_proportional_cost_is_one_and_of_flat_cost_zero():
    assert exponent({1_000: 1.0, 10_000: 10.0, 100_000: 100.0}) == pytest.approx(1)
    assert exponent({1_000: 5.0, 100_000: 5.0}) == pytest.approx(0)


def test_a_series_of_calls_ends_after_its_time():
    calls = []
    spent((lambda: calls.append(1) for _ in range(1_000_000)), at_most_seconds=0.2)
    assert 0 < len(calls) < 1_000_000
