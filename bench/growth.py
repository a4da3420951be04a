"""Growth: the exponent by which the cost of a call follows the size of the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import log

from bench.figures import Figure
from bench.run import Bench
from bench.search import first_search, one_open, one_search
from bench.timer import Spent
from bench.writes import one_write


def growth(bench: Bench) -> Iterator[Figure]:
    """Writes, opening by name and keyword search from the smallest to the largest store of the run."""
    measures: dict[str, Callable[[Bench, int], tuple[Spent, Spent]]] = {
        "write": one_write,
        "open": one_open,
        "search": one_search,
    }
    for name, measure in measures.items():
        both = {size: measure(bench, size) for size in bench.sizes}
        ours = {size: spent for size, (spent, _) in both.items()}
        floor = {size: floor for size, (_, floor) in both.items()}
        yield exponent_figure(name, f"growth {name}", ours, floor)
    fresh = {size: first_search(bench, size) for size in bench.sizes}
    yield exponent_figure("search in a fresh process", None, fresh)


def exponent_figure(
    name: str, row: str | None, ours: Mapping[int, Spent], floor: Mapping[int, Spent] | None = None
) -> Figure:
    """The exponent b of cost = a · size^b: 0 is flat, 1 is proportional."""
    return Figure(
        what=f"growth of {name}, {min(ours):,} to {max(ours):,}",
        measured=exponent({size: spent.p50 for size, spent in ours.items()}),
        unit="",
        row=row,
        at_rest=exponent({size: spent.at_rest for size, spent in ours.items()}),
        floor=exponent({size: spent.p50 for size, spent in floor.items()}) if floor else None,
    )


def exponent(costs: Mapping[int, float]) -> float:
    """The slope of the straight line nearest to the logarithms of *costs* over those of the sizes."""
    points = [(log(size), log(cost)) for size, cost in costs.items()]
    x_mean = sum(x for x, _ in points) / len(points)
    y_mean = sum(y for _, y in points) / len(points)
    return sum((x - x_mean) * (y - y_mean) for x, y in points) / sum((x - x_mean) ** 2 for x, _ in points)
