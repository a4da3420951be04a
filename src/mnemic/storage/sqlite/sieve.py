"""A coarse look at many vectors, which tells the few that are worth an exact one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mnemic.numeric import np, npt, numkong
from mnemic.storage.sqlite.arrays import Flags, Int8

if TYPE_CHECKING:
    from mnemic.embedding.base import Vectors

Bits = npt.NDArray[np.uint8]
Distances = npt.NDArray[np.uint16]

BLOCK, PART = 8192, 512
CERTAIN = 6.0
"""So many times their usual spread signs may differ more than expected. Of 44,000 real pairs none went beyond 3.2."""


class Sieve:
    """The signs of vectors that are only ever appended, one bit each.

    A question is rounded to -3, -1, 1 or 3: twice a sign, and another sign. So two counts of differing bits tell how
    near it comes to the signs of a row. With its own signs alone, three times as many rows would have to be kept.
    """

    def __init__(self) -> None:
        # What is packed cannot grow: first whole blocks, then parts, which become a block when there are enough.
        self._packed: list[numkong.PackedMatrix] = []
        self._count = 0

    def follow(self, vectors: Int8) -> None:
        """Take in what is new of *vectors*, but for the last few, which fill no part yet."""
        whole = self._count // BLOCK
        if len(vectors) >= (whole + 1) * BLOCK:
            del self._packed[whole:]
            self._count = whole * BLOCK
        for size in (BLOCK, PART):
            while self._count + size <= len(vectors):
                signs = np.packbits(vectors[self._count : self._count + size] > 0, axis=1)
                self._packed.append(numkong.hammings_pack(signs, dtype="uint1"))
                self._count += size

    def kept(self, vector: Vectors, seen: Flags | None, wanted: int, count: int) -> Flags:
        """Which of *count* rows are among the *wanted* nearest of those *seen*, or as far as these, or the last few."""
        distances = self._distances(vector)
        kept = np.ones(count, np.bool_) if seen is None else seen.copy()
        known = kept[: self._count]
        known &= distances <= _bound(distances if seen is None else distances[known], wanted)
        return kept

    def within(self, vector: Vectors, seen: Flags | None, cosine: float, count: int) -> Flags:
        """Which of *count* rows may come as near as *cosine*, of those *seen*; the last few all do.

        The larger the angle between two vectors, the more of their numbers differ in sign: at a half turn all do.
        """
        share = math.acos(min(1.0, cosine)) / math.pi
        expected, spread = len(vector) * share, math.sqrt(len(vector) * share * (1 - share))
        [differing] = self._differing(_planes(vector)[:1])
        kept = np.ones(count, np.bool_) if seen is None else seen.copy()
        kept[: self._count] &= differing <= expected + CERTAIN * spread
        return kept

    def _distances(self, vector: Vectors) -> Distances:
        coarse, fine = self._differing(_planes(vector))
        distances: Distances = coarse + coarse + fine
        return distances

    def _differing(self, planes: Bits) -> Distances:
        """For each of *planes*, in how many bits each row differs from it."""
        counts = [np.asarray(numkong.hammings_packed(planes, packed)) for packed in self._packed]
        return np.concatenate(counts, axis=1, dtype=np.uint16, casting="unsafe")


def _planes(vector: Vectors) -> Bits:
    """The two signs of each number: its own, and that of what is left of it without a step that way."""
    step = math.sqrt(np.dot(vector, vector) / len(vector))
    own = vector > 0
    return np.packbits([own, vector > np.where(own, step, -step)], axis=1)


def _bound(distances: Distances, wanted: int) -> int:
    """How far the *wanted* nearest are at most. Distances are small numbers, so counting them beats sorting them."""
    return int(np.searchsorted(np.bincount(distances).cumsum(), wanted))
