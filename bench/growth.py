"""Growth: how the cost of a call follows the size of the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import log

from bench.bench import Bench
from bench.figures import Figure
from bench.finding import one_open, one_search
from bench.measuring import Spent
from bench.writing import one_write

FLAT_ENOUGH = 0.15
"""The logarithm itself grows with an exponent of 0.11 from a thousand to a hundred thousand."""


def growth(bench: Bench) -> Iterator[Figure]:
    """The exponent b of cost = a · size^b: 0 is flat, 1 is proportional."""
    measures: dict[str, Callable[[Bench, int], Spent]] = {
        "write": one_write,
        "open": one_open,
        "search": one_search,
    }
    for name, measure in measures.items():
        points = [(log(size), log(measure(bench, size).cpu)) for size in bench.sizes]
        what = f"growth of {name}, {bench.sizes[0]:,} to {bench.sizes[-1]:,}"
        yield Figure(what=what, ours=slope(points), unit="", budget=FLAT_ENOUGH)


def slope(points: list[tuple[float, float]]) -> float:
    """The slope of the straight line nearest to *points*."""
    x_mean = sum(x for x, _ in points) / len(points)
    y_mean = sum(y for _, y in points) / len(points)
    return sum((x - x_mean) * (y - y_mean) for x, y in points) / sum((x - x_mean) ** 2 for x, _ in points)
