"""Growth: how the cost of a call follows the size of the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import log

from bench.bench import Bench
from bench.figures import Figure
from bench.finding import first_search, floor_search, one_open, one_search
from bench.measuring import Spent
from bench.writing import one_write

Measure = Callable[[Bench, int], Spent]

FLAT_ENOUGH = 0.15
"""The logarithm itself grows with an exponent of 0.11 from a thousand to a hundred thousand."""


def growth(bench: Bench) -> Iterator[Figure]:
    """The exponent b of cost = a · size^b: 0 is flat, 1 is proportional."""
    measures: dict[str, tuple[Measure, Measure | None]] = {
        "write": (one_write, None),
        "open": (one_open, None),
        "search": (one_search, partial(floor_search, every=True)),
    }
    at_once = exponent(bench, first_search)
    yield Figure(
        what=f"growth of search at once, {bench.sizes[0]:,} to {bench.sizes[-1]:,}", ours=at_once, unit=""
    )
    for name, (ours, floor) in measures.items():
        yield Figure(
            what=f"growth of {name}, {bench.sizes[0]:,} to {bench.sizes[-1]:,}",
            ours=exponent(bench, ours),
            unit="",
            budget=FLAT_ENOUGH,
            floor=exponent(bench, floor) if floor else None,
        )


def exponent(bench: Bench, measure: Measure) -> float:
    """How fast the cost of *measure* grows over the sizes of the run."""
    return slope([(log(size), log(measure(bench, size).cpu)) for size in bench.sizes])


def slope(points: list[tuple[float, float]]) -> float:
    """The slope of the straight line nearest to *points*."""
    x_mean = sum(x for x, _ in points) / len(points)
    y_mean = sum(y for _, y in points) / len(points)
    return sum((x - x_mean) * (y - y_mean) for x, y in points) / sum((x - x_mean) ** 2 for x, _ in points)
