"""1-bit quantised prefilter of the vector scan; rows that survive it are compared exactly."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from mnemic.numeric import np, npt, numkong
from mnemic.storage.arrays import Flags, Int8

if TYPE_CHECKING:
    from mnemic.model.vectors import Vectors

Bits = npt.NDArray[np.uint8]
Distances = npt.NDArray[np.uint16]
Rows = Callable[[int, int], Int8]
"""The vectors of the rows from one place up to another."""

BLOCK, PART = 8192, 512
CERTAIN = 6.0
"""Standard deviations by which differing signs may exceed their expected number; 44,000 real pairs stayed below 3.2."""


class Signs(NamedTuple):
    """The signs of the first *rows* vectors, one bit each, as of one moment.

    A query is quantised to -3, -1, 1 or 3: twice a sign plus another sign. So two Hamming distances measure how near it
    is to the signs of a row. With its own signs alone, three times as many rows would have to be kept.
    """

    packed: tuple[numkong.PackedMatrix, ...] = ()
    rows: int = 0

    def kept(self, vector: Vectors, seen: Flags | None, wanted: int, count: int) -> Flags:
        """Which of *count* rows are among the *wanted* nearest of those *seen*, ties and unsigned rows included."""
        distances = self._distances(vector)
        kept = np.ones(count, np.bool_) if seen is None else seen.copy()
        known = kept[: self.rows]
        known &= distances <= _bound(distances if seen is None else distances[known], wanted)
        return kept

    def within(self, vector: Vectors, seen: Flags | None, cosine: float, count: int) -> Flags:
        """Which of *count* rows, of those *seen*, may reach this *cosine*; unsigned rows all may.

        The larger the angle between two vectors, the more of their signs differ: at a half turn all do.
        """
        share = math.acos(min(1.0, cosine)) / math.pi
        expected, spread = len(vector) * share, math.sqrt(len(vector) * share * (1 - share))
        [differing] = self._differing(_planes(vector)[:1])
        kept = np.ones(count, np.bool_) if seen is None else seen.copy()
        kept[: self.rows] &= differing <= expected + CERTAIN * spread
        return kept

    def _distances(self, vector: Vectors) -> Distances:
        coarse, fine = self._differing(_planes(vector))
        distances: Distances = coarse + coarse + fine
        return distances

    def _differing(self, planes: Bits) -> Distances:
        """For each of *planes*, in how many bits each row differs from it."""
        if not self.packed:
            return np.zeros((len(planes), 0), np.uint16)
        counts = [np.asarray(numkong.hammings_packed(planes, packed)) for packed in self.packed]
        return np.concatenate(counts, axis=1, dtype=np.uint16, casting="unsafe")


class Prefilter:
    """Packs the signs of rows that are only ever appended. Safe between threads."""

    def __init__(self) -> None:
        # A packed matrix cannot grow: whole blocks come first, then parts, which become a block when there are enough.
        self._lock = threading.Lock()
        self._signs = Signs()

    def signs(self, rows: Rows, count: int, at_most: int) -> Signs:
        """The signs of the first *count* rows, but for the last few; at most *at_most* more than before."""
        with self._lock:
            if self._signs.rows < count - PART + 1:
                self._signs = self._followed(rows, min(count, self._signs.rows + at_most))
            return self._signs

    def _followed(self, rows: Rows, count: int) -> Signs:
        packed, done = list(self._signs.packed), self._signs.rows
        whole = done // BLOCK
        if count >= (whole + 1) * BLOCK:
            del packed[whole:]
            done = whole * BLOCK
        for size in (BLOCK, PART):
            while done + size <= count:
                bits = np.packbits(rows(done, done + size) > 0, axis=1)
                packed.append(numkong.hammings_pack(bits, dtype="uint1"))
                done += size
        return Signs(tuple(packed), done)


def _planes(vector: Vectors) -> Bits:
    """The two signs of each number: its own, and that of the rest after one quantisation step."""
    step = math.sqrt(np.dot(vector, vector) / len(vector))
    own = vector > 0
    return np.packbits([own, vector > np.where(own, step, -step)], axis=1)


def _bound(distances: Distances, wanted: int) -> int:
    """The distance of the *wanted*-th nearest. Distances are small integers, so counting them beats sorting."""
    return int(np.searchsorted(np.bincount(distances).cumsum(), wanted))
