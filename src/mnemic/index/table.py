"""Columns of values by slot, in versions that share their arrays and are never changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mnemic.numeric import np, npt
from mnemic.storage.arrays import Numbers

Array = npt.NDArray[Any]

SPARSE, SPARE = 8, 4096
"""Numbers up to so many times the count, and so many more, are looked up in a table; beyond that by halving."""


class Slots:
    """The slot of each memory: its place in every column. A number keeps its slot, so versions can share them.

    Only the index adds, under its lock. A reader of an older version may meet slots beyond its end.
    """

    def __init__(self) -> None:
        self.count = 0
        self.numbers: Numbers = np.zeros(0, np.int64)
        self._places: Numbers | None = np.zeros(0, np.int32)
        self._sorted: tuple[Numbers, Numbers] = (self.numbers, self.numbers)

    def of(self, numbers: Numbers) -> Numbers:
        """The slots of these memories, -1 for unknown ones."""
        if not self.count:
            return np.full(len(numbers), -1, np.int32)
        if self._places is not None:
            places = self._places
            found: Numbers = places.take(numbers, mode="clip")
            found[(numbers < 0) | (numbers >= len(places))] = -1
            return found
        known, slots = self._sorted
        at = np.searchsorted(known, numbers).clip(max=len(known) - 1)
        return np.where(known[at] == numbers, slots[at], -1)

    def add(self, numbers: Numbers) -> None:
        """Give each unknown one of *numbers*, which are distinct, the next slot."""
        fresh = numbers[self.of(numbers) < 0]
        if not len(fresh):
            return
        start, end = self.count, self.count + len(fresh)
        self.numbers = grown(self.numbers, end, 0)
        self.numbers[start:end] = fresh
        self._note(fresh, start, end)
        self.count = end

    def _note(self, fresh: Numbers, start: int, end: int) -> None:
        largest = int(fresh.max())
        if self._places is not None and largest < SPARSE * end + SPARE and int(fresh.min()) >= 0:
            self._places = grown(self._places, largest + 1, -1)
            self._places[fresh] = np.arange(start, end, dtype=np.int32)
            return
        order = np.argsort(self.numbers[:end], kind="stable")
        self._sorted = self.numbers[order], order
        self._places = None


class ColumnTable:
    """One version of some columns. `updated` gives the next, which copies only the columns in which old rows differ."""

    def __init__(self, slots: Slots, columns: Mapping[str, Array], count: int, defaults: Mapping[str, Any]):
        self.slots = slots
        self.count = count
        self._columns = columns
        self._defaults = defaults

    @classmethod
    def empty(cls, slots: Slots, kinds: Mapping[str, tuple[Any, Any]]) -> ColumnTable:
        """A table of these columns, each with its type and the value of rows that are not known."""
        columns = {name: np.zeros(0, kind) for name, (kind, _) in kinds.items()}
        return cls(slots, columns, 0, {name: default for name, (_, default) in kinds.items()})

    def __getitem__(self, name: str) -> Array:
        return self._columns[name][: self.count]

    def updated(self, numbers: Numbers, values: Mapping[str, Any]) -> ColumnTable:
        """The table with these *values* for these memories; columns that are not named stay."""
        self.slots.add(numbers)
        places, count = self.slots.of(numbers), self.slots.count
        columns = {}
        for name, column in self._columns.items():
            larger = grown(column, count, self._defaults[name])
            if name in values:
                larger = self._written(larger, column, places, _spread(values[name], column, places))
            columns[name] = larger
        return ColumnTable(self.slots, columns, count, self._defaults)

    def _written(self, column: Array, before: Array, places: Numbers, values: Array) -> Array:
        known = places < self.count
        if column is before and not np.array_equal(column[places[known]], values[known]):
            column = column.copy()
        column[places] = values
        return column


def _spread(values: Any, column: Array, places: Numbers) -> Array:
    """One value for each of *places*, of the type of *column*."""
    return np.broadcast_to(np.asarray(values, column.dtype), len(places))


def grown(column: Array, size: int, default: Any) -> Array:
    """*column* with room for *size* values: itself, or a copy with half as much room again."""
    if size <= len(column):
        return column
    larger = np.full(max(size, min(len(column) * 3 // 2, size + (1 << 17)), 1024), default, column.dtype)
    larger[: len(column)] = column
    return larger
