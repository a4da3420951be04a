"""How long the living memories are and where they live, in columns: what BM25 has to know of each besides the words."""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import orjson

from mnemic.numeric import np
from mnemic.storage.sqlite.arrays import Flags, Numbers, Scores, Times, among
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.rows import rows
from mnemic.storage.sqlite.words import Scope

K1, B, LEAST_IDF = 1.2, 0.75, 1e-6
"""The constants of the index's own BM25."""
INDEXED = 7
"""So many columns the index has; the number of words in each stands in `sz`, in as many bytes as it needs."""
# In one row each: at each row others may take the interpreter.
SIZES = """
SELECT json_group_array(id), group_concat(hex(sz), '') FROM words_docsize WHERE {among}
"""
SPACES = """
SELECT n.id, json_group_array(m.id) FROM memory m JOIN namespace n ON n.name = m.namespace
WHERE m.state = 'living' AND m.{among} GROUP BY m.namespace
"""
EVERYONE, THESE = "id > 0", "id IN (SELECT value FROM json_each(?))"


class Census:
    """The length and the namespace of each living memory, in the place of its number; whoever holds it has a lock."""

    def __init__(self) -> None:
        self.edition = 0
        self._lengths: Scores = np.zeros(1024, np.float64)
        self._spaces = np.zeros(1024, np.int32)
        self._counts: Scores = np.zeros(0, np.float64)
        self._totals: Scores = np.zeros(0, np.float64)

    def take_in(self, connection: apsw.Connection, changed: Sequence[int] | None) -> None:
        """Look at the memories that have *changed*, or at all if that is not known."""
        if changed is None:
            self._counts[:] = self._totals[:] = 0
            self._note(connection, EVERYONE)
        elif changed:
            known = np.array([number for number in changed if number < len(self._lengths)], np.int64)
            self._sum_up(known[self._lengths[known] > 0], -1)
            self._lengths[known] = 0
            self._note(connection, THESE, as_json(list(changed)))

    def _note(self, connection: apsw.Connection, which: str, *values: str) -> None:
        [(numbers, sizes)] = rows(connection, SIZES.format(among=which), values)
        living = np.array(orjson.loads(numbers), np.int64)
        self._reserve(int(living.max(initial=0)) + 1)
        self._lengths[living] = lengths(bytes.fromhex(sizes or ""))
        for space, members in rows(connection, SPACES.format(among=which), values):
            places = np.array(orjson.loads(members), np.int64)
            self._reserve(int(places.max()) + 1)  # in a damaged database the index may not have them all
            self._spaces[places] = space
        self._sum_up(living[self._lengths[living] > 0], 1)
        self.edition += 1

    def _sum_up(self, memories: Numbers, sign: int) -> None:
        """Count these *memories* with their lengths to their namespaces, or take them out."""
        spaces = self._spaces[memories]
        size = max(len(self._counts), int(spaces.max(initial=0)) + 1)
        self._counts = _grown(self._counts, size) + sign * np.bincount(spaces, minlength=size)
        summed = np.bincount(spaces, self._lengths[memories], minlength=size)
        self._totals = _grown(self._totals, size) + sign * summed

    def _reserve(self, capacity: int) -> None:
        if missing := max(0, capacity - len(self._lengths)):
            room = max(missing, len(self._lengths))
            self._lengths = np.concatenate([self._lengths, np.zeros(room, np.float64)])
            self._spaces = np.concatenate([self._spaces, np.zeros(room, np.int32)])

    def count(self, scope: Scope = None) -> int:
        """How many memories live in *scope*."""
        return int(self._summed(self._counts, scope))

    def length(self, scope: Scope = None) -> float:
        """How many words they have together."""
        return self._summed(self._totals, scope)

    def _summed(self, of_each: Scores, scope: Scope) -> float:
        if scope is None:
            return float(of_each.sum())
        return float(sum(of_each[space] for space in scope if space < len(of_each)))

    def bm25(
        self, holders: int | Sequence[int], memories: Numbers, times: Times, scope: Scope = None
    ) -> Scores:
        """What a word adds to the rank of *memories*, which hold it so many *times*, of so many *holders* in *scope*.

        Of several words at once with as many *holders*, and as many rows of *times*.
        """
        count = self.count(scope)
        mean = self.length(scope) / max(1, count) or 1.0
        number, often = np.array(holders), times.astype(np.float64, copy=False)
        rarity = np.log((count - number + 0.5) / (number + 0.5))
        damping = K1 * (1 - B + B * self._lengths[memories] / mean)
        adds: Scores = np.where(rarity > 0, rarity, LEAST_IDF)[..., None] * (
            (often * (K1 + 1.0)) / (often + damping)
        )
        return adds

    def lives_in(self, memories: Numbers, scope: Sequence[int]) -> Flags:
        """Which of *memories* live in one of these namespaces."""
        return among(self._spaces[memories], scope)


def _grown(values: Scores, size: int) -> Scores:
    larger: Scores = np.zeros(size, np.float64)
    larger[: len(values)] = values
    return larger


def lengths(sizes: bytes) -> Numbers:
    """How many words each memory has: SQLite's variable-length numbers, one a column, all one after the other."""
    parts = np.frombuffer(sizes, np.uint8)
    is_last = parts < 0x80
    values = (parts & 0x7F).astype(np.int64)
    followed, by = np.flatnonzero(~is_last), 1
    while len(followed):  # a byte counts 128 times as much for each that follows in its number
        values[followed] <<= 7
        followed, by = followed[~is_last[followed + by]], by + 1
    ends = np.flatnonzero(is_last)[INDEXED - 1 :: INDEXED]
    starts = np.concatenate([np.zeros(1, np.int64), ends + 1])[: len(ends)]
    summed: Numbers = np.add.reduceat(values, starts)
    return summed
