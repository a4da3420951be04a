"""The kinds of arrays that are kept in memory, and how memories are picked in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mnemic.numeric import np, npt

Numbers = npt.NDArray[np.signedinteger]
"""Of memories, in as many bytes as there are memories for."""
Times = npt.NDArray[np.floating]
Scores = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Int8 = npt.NDArray[np.int8]


def among(column: npt.NDArray[Any], numbers: Sequence[int]) -> Flags:
    """Where *column* has one of *numbers*. A comparison for each of a few takes a tenth of the time of a look-up."""
    if len(numbers) > 3:
        return np.isin(column, numbers)
    found: Flags = np.zeros(len(column), np.bool_)
    for number in numbers:
        found |= column == number
    return found


def flagged(numbers: Sequence[int], size: int) -> Flags:
    """True in the places of *numbers*, of *size* places; what lies beyond has none."""
    flags: Flags = np.zeros(size, np.bool_)
    places = np.array(numbers, np.int64)
    flags[places[(places >= 0) & (places < size)]] = True
    return flags


def resized(flags: Flags, size: int) -> Flags:
    """*flags* in *size* places: of what lies beyond them nothing is known, so it is not meant."""
    if len(flags) >= size:
        return flags[:size]
    larger: Flags = np.zeros(size, np.bool_)
    larger[: len(flags)] = flags
    return larger


def best(limit: int, values: npt.NDArray[Any], *further: npt.NDArray[Any]) -> Numbers:
    """The places of the *limit* largest *values*, largest first; of equal ones by *further* values, then the first."""
    places: Numbers = np.arange(len(values))
    if 0 < limit < len(values):
        # From the other end: numpy takes up to 40 times as long for the last places if nearly all values are equal.
        negated = -values
        negated.partition(limit - 1)
        least = -negated[limit - 1]
        above, level = np.flatnonzero(values > least), np.flatnonzero(values == least)
        left = limit - len(above)
        if further:
            level = level[best(left, *(more[level] for more in further))]
        places = np.concatenate([above, level[:left]])
    order = np.lexsort([-every[places] for every in (*further[::-1], values)])
    return places[order[: max(0, limit)]]
