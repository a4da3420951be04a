"""The vectors of one model: an int8 matrix scanned exactly, followed from the journal, mapped from a file if large."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from mnemic.index.prefilter import Prefilter
from mnemic.index.table import Slots, grown
from mnemic.numeric import np, npt, numkong
from mnemic.storage.arrays import Flags, Int8, Numbers, among, best, flagged, taken
from mnemic.storage.base import Nearness
from mnemic.storage.quantisation import quantised
from mnemic.storage.source import ChangedMemory, Extent, PassageRow, Source

if TYPE_CHECKING:
    from mnemic.model.vectors import Vectors

Cosines = npt.NDArray[np.float32]

UNSEEN = -2.0
"""Less than any cosine."""
STRETCH = 4096
"""Rows read at once: 100,000 would take 300 MB for a moment."""
PICKING = 4
"""Picking rows copies them: one picked costs as much as so many compared where they lie."""
TELLING = 0.6
"""A cosine so high that signs alone tell it from unrelated vectors."""
PREFILTERED_FROM = 20_000
"""With fewer rows to see, all are compared: a prefilter would save nothing."""
LEAST_KEPT, KEPT_EACH = 1_000, 30
"""How many rows the prefilter leaves at least, and for each memory wanted; docs/retrieval.md tells what that misses."""
SIGNED_AT_ONCE = 1 << 17
"""Rows whose signs are packed in one search; until it is their turn they are compared exactly."""
COLUMNS = {
    "length": np.float32,
    "memory": np.int64,
    "statement": np.int64,
    "namespace": np.int32,
    "passage": np.int64,
}


class Matrix:
    """One version of the vectors of living memories. Rows are appended or marked dead, so versions share their arrays.

    The first rows may lie in a mapped file, the others in memory.
    """

    def __init__(self, model_id: int, dimension: int, position: Extent):
        self.model_id = model_id
        self.dimension = dimension
        self.position = position
        self._mapped: Int8 = np.zeros((0, dimension), np.int8)
        self._tail: Int8 = np.zeros((0, dimension), np.int8)
        self._columns: dict[str, npt.NDArray[Any]] = {
            name: np.zeros(0, kind) for name, kind in COLUMNS.items()
        }
        self._alive: Flags = np.zeros(0, np.bool_)
        self._count = 0
        self._dead = 0
        self._newest_memory = 0
        self._newest_statement = 0
        self._prefilter = Prefilter()
        self._is_fork = False

    @classmethod
    def load(cls, source: Source, model_id: int, dimension: int, position: Extent) -> Matrix:
        """All vectors of the model, read from the database."""
        matrix = cls(model_id, dimension, position)
        matrix._take_all(source.passages(model_id, 0, position.passage))
        return matrix

    @classmethod
    def of_rows(cls, model_id: int, dimension: int, rows: Iterable[PassageRow]) -> Matrix:
        """A matrix of these rows, which follows nothing."""
        matrix = cls(model_id, dimension, Extent())
        matrix.add(rows)
        return matrix

    def add(self, rows: Iterable[PassageRow]) -> None:
        """Append these rows to a matrix that follows nothing."""
        self._take_all(iter(rows))

    @classmethod
    def mapped(
        cls, model_id: int, position: Extent, vectors: Int8, columns: dict[str, npt.NDArray[Any]]
    ) -> Matrix:
        """A matrix whose rows lie in a file, as of the *position* at which it was written."""
        matrix = cls(model_id, vectors.shape[1], position)
        matrix._mapped = vectors
        matrix._count = len(vectors)
        matrix._columns = {name: columns[name] for name in COLUMNS}
        matrix._alive = np.ones(len(vectors), np.bool_)
        matrix._newest_memory = int(columns["memory"].max(initial=0))
        matrix._newest_statement = int(columns["statement"].max(initial=0))
        return matrix

    @property
    def unmapped(self) -> int:
        """How many rows are not in the file."""
        return self._count - len(self._mapped)

    @property
    def living(self) -> int:
        """How many rows can be found."""
        return self._count - self._dead

    def fork(self) -> Matrix:
        """A private copy of this version: its next versions share no memory with ours."""
        matrix = copy.copy(self)
        matrix._is_fork = True
        return matrix

    def updated(self, source: Source, changes: Sequence[ChangedMemory], position: Extent) -> Matrix:
        """The next version: new passages, and those of the memories that *changes* name as they are now."""
        changed = sorted({change.memory_id for change in changes if not change.is_use})
        matrix = copy.copy(self)
        if changed:
            matrix._drop("memory", changed, self._newest_memory)
            matrix._replace(source.passages_of(self.model_id, self.position.passage, changed))
        if position.passage != self.position.passage:
            matrix._take_in(source, self.position.passage, position.passage)
        matrix.position = position
        if matrix._dead > 4096 and matrix._dead * 2 > matrix._count:
            matrix._compact()
        return matrix

    def _drop(self, column: str, numbers: Sequence[int], newest: int) -> None:
        """Mark the rows dead that have one of *numbers* in *column*, where *newest* is the largest number ever used."""
        if min(numbers) > newest:
            return  # Nearly every time: what has just been written is looked for, and is not here yet.
        gone = np.isin(self._column(column), numbers) & self._alive[: self._count]
        if gone.any():
            self._alive = self._alive.copy()
            self._alive[: self._count][gone] = False
            self._dead += int(gone.sum())

    def _take_in(self, source: Source, after: int, to: int) -> None:
        if not self._count:
            self._take_all(source.passages(self.model_id, after, to))
            return
        self._replace(list(source.passages(self.model_id, after, to)))
        # Under a new title a text may be embedded by another model, whose matrix then has it.
        if elsewhere := source.statements_of_other_models(self.model_id, after, to):
            self._drop("statement", elsewhere, self._newest_statement)

    def _replace(self, fresh: list[PassageRow]) -> None:
        """Append *fresh*. Passages are put a statement at a time, so these are all that theirs have now."""
        if fresh:
            self._drop("statement", [one.statement_id for one in fresh], self._newest_statement)
            self._append(fresh)

    def _take_all(self, rows: Iterator[PassageRow]) -> None:
        while fresh := list(islice(rows, STRETCH)):
            self._append(fresh)

    def _append(self, fresh: list[PassageRow]) -> None:
        passages, memories, statements, namespaces, blobs = zip(*fresh, strict=True)
        start, end = self._count, self._count + len(fresh)
        self._reserve(end)
        vectors = np.frombuffer(b"".join(blobs), np.int8).reshape(len(fresh), -1)
        tail = start - len(self._mapped)
        self._tail[tail : tail + len(fresh)] = vectors
        told = {
            "length": np.linalg.norm(vectors.astype(np.float32), axis=1),
            "memory": memories,
            "statement": statements,
            "namespace": namespaces,
            "passage": passages,
        }
        for name, values in told.items():
            self._columns[name][start:end] = values
        self._alive[start:end] = True
        self._newest_memory = max(self._newest_memory, *memories)
        self._newest_statement = max(self._newest_statement, *statements)
        self._count = end

    def _reserve(self, end: int) -> None:
        """Reserve room for *end* rows that no other version writes to."""
        if self._is_fork:
            self._columns = {name: column[: self._count] for name, column in self._columns.items()}
            self._alive, self._tail = self._alive[: self._count], self._tail[: self.unmapped]
            self._is_fork = False
        self._columns = {name: grown(column, end, 0) for name, column in self._columns.items()}
        self._alive = grown(self._alive, end, False)
        if end - len(self._mapped) > len(self._tail):
            wanted = max(end - len(self._mapped), 2 * len(self._tail), 1024)
            larger = np.zeros((wanted, self.dimension), np.int8)
            larger[: self.unmapped] = self._tail[: self.unmapped]
            self._tail = larger

    def _compact(self) -> None:
        """Leave out the dead rows; those of the file come into memory until it is written anew."""
        vectors, columns = self.contents()
        self._mapped, self._tail = vectors[:0], vectors
        self._columns, self._alive = columns, np.ones(len(vectors), np.bool_)
        self._count, self._dead, self._is_fork = len(vectors), 0, False
        self._prefilter = Prefilter()

    def contents(self) -> tuple[Int8, dict[str, npt.NDArray[Any]]]:
        """The vectors of the living rows and their columns, copied."""
        living = np.flatnonzero(self._alive[: self._count])
        return self._picked(living), {name: self._column(name)[living] for name in COLUMNS}

    def parts(self) -> Iterator[Int8]:
        """The vectors of the living rows, some at a time, in the order of `living_column`."""
        for start in range(0, self._count, STRETCH):
            end = min(start + STRETCH, self._count)
            rows = self._rows(start, end)
            yield rows[self._alive[start:end]] if self._dead else rows

    def living_column(self, name: str) -> npt.NDArray[Any]:
        """The values of a column for the living rows."""
        column = self._column(name)
        return column[self._alive[: self._count]] if self._dead else column

    def _column(self, name: str) -> npt.NDArray[Any]:
        return self._columns[name][: self._count]

    def _rows(self, start: int, end: int) -> Int8:
        """The vectors of the rows from *start* to *end*."""
        mapped = len(self._mapped)
        if end <= mapped:
            return self._mapped[start:end]
        if start >= mapped:
            return self._tail[start - mapped : end - mapped]
        return np.concatenate([self._mapped[start:], self._tail[: end - mapped]])

    def _picked(self, rows: Numbers) -> Int8:
        """The vectors of these *rows*, which ascend."""
        mapped = len(self._mapped)
        if not mapped:
            return self._tail.take(rows, axis=0)
        split = int(np.searchsorted(rows, mapped))
        if split == len(rows):
            return self._mapped.take(rows, axis=0)
        picked = (self._mapped.take(rows[:split], axis=0), self._tail.take(rows[split:] - mapped, axis=0))
        return np.concatenate(picked)

    def nearest(
        self,
        vector: Vectors,
        limit: int,
        *,
        namespace_ids: Sequence[int] | None = None,
        only: Sequence[int] | None = None,
        passing: tuple[Slots, Flags] | None = None,
        without: Sequence[int] = (),
        among_rows: Flags | None = None,
        at_least: float = -math.inf,
    ) -> list[Nearness]:
        """The best memories by their best passage among those that may be seen and are *at_least* so near.

        *passing* says which may, by their slots; *among_rows* which rows, in the order they were added.
        """
        seen = self._seen(namespace_ids, self._allowed(only, passing), without)
        if among_rows is not None:
            seen = among_rows if seen is None else seen & among_rows
        likely = self._likely(vector, seen, limit, at_least)
        found = self._best(vector, likely, limit)
        if len(found) < limit and likely is not seen and at_least < TELLING:
            # Memories of many passages leave too few places for others.
            found = self._best(vector, seen, limit)
        return [near for near in found if near.similarity >= at_least]

    def has_any(self, namespace_ids: Sequence[int] | None) -> bool:
        """Whether there is a passage in these namespaces, or anywhere if none are given."""
        if namespace_ids is None:
            return self._count > self._dead
        return bool((among(self._column("namespace"), namespace_ids) & self._alive[: self._count]).any())

    def _best(self, vector: Vectors, seen: Flags | None, limit: int) -> list[Nearness]:
        rows, similarity = self._compared(vector, seen)
        return _best(rows, similarity, self._column("memory"), self._column("statement"), limit)

    def of(self, memory_ids: Sequence[int], *, among_rows: Flags | None = None) -> dict[int, Vectors]:
        """One unit vector for each statement of these memories, by its number; *among_rows*, if some are given."""
        rows = self._of(memory_ids) & self._alive[: self._count]
        chosen = np.flatnonzero(rows if among_rows is None else rows & among_rows)
        if not len(chosen):
            return {}
        statements = self._column("statement")[chosen]
        unit = self._picked(chosen) / self._column("length")[chosen, None]
        order = np.argsort(statements, kind="stable")
        numbers, starts = np.unique(statements[order], return_index=True)
        unit = unit[order]
        sums = unit if len(numbers) == len(unit) else np.add.reduceat(unit, starts, axis=0)
        sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        return dict(zip(numbers.tolist(), sums, strict=True))

    def _allowed(self, only: Sequence[int] | None, passing: tuple[Slots, Flags] | None) -> Flags | None:
        """Which rows belong to memories that are asked for; None when none is by its number."""
        if only is not None:
            return self._of(only)
        if passing is None:
            return None
        slots, flags = passing
        return taken(flags, slots.of(self._column("memory")))

    def _seen(
        self, namespace_ids: Sequence[int] | None, allowed: Flags | None, without: Sequence[int]
    ) -> Flags | None:
        """Which rows a search may see; None when that is all of them."""
        if namespace_ids is None and allowed is None and not without and not self._dead:
            return None
        seen = self._alive[: self._count].copy()
        if namespace_ids is not None:
            seen &= among(self._column("namespace"), namespace_ids)
        if allowed is not None:
            seen &= allowed
        if without:
            seen &= ~self._of(without)
        return seen

    def _of(self, memory_ids: Sequence[int]) -> Flags:
        """Which rows belong to one of these memories."""
        memories = self._column("memory")
        if self._newest_memory <= 8 * self._count + 4096:
            # A table by number, whatever the order of the rows: `isin` looks first how it might go about it.
            return flagged(np.array(memory_ids, np.int64), self._newest_memory + 1).take(memories)
        return np.isin(memories, memory_ids)

    def _likely(self, vector: Vectors, seen: Flags | None, limit: int, at_least: float) -> Flags | None:
        """The rows a search may see that may be among the best: all of them, unless a prefilter pays."""
        wanted = max(LEAST_KEPT, KEPT_EACH * limit)
        many = self._count if seen is None else np.count_nonzero(seen)
        # It looks at every row, seen or not, and what it keeps is picked.
        if many < max(PREFILTERED_FROM, PICKING * wanted, self._count // (2 * PICKING)):
            return seen
        signs = self._prefilter.signs(self._rows, self._count, SIGNED_AT_ONCE)
        if at_least >= TELLING:
            return signs.within(vector, seen, at_least, self._count)
        return signs.kept(vector, seen, wanted, self._count)

    def _compared(self, vector: Vectors, seen: Flags | None) -> tuple[Numbers | None, Cosines]:
        """The rows that were compared, None for all, and how near each is, UNSEEN if it may not be seen."""
        if seen is None:
            return None, self._cosines(vector, None)
        if PICKING * np.count_nonzero(seen) > self._count:
            similarity = self._cosines(vector, None)
            similarity[~seen] = UNSEEN
            return None, similarity
        rows = np.flatnonzero(seen)
        return rows, self._cosines(vector, rows)

    def _cosines(self, vector: Vectors, rows: Numbers | None) -> Cosines:
        query = quantised(vector.reshape(1, -1))
        lengths = self._column("length")
        if rows is None:
            parts = [self._mapped, self._tail[: self.unmapped]]
        else:
            parts, lengths = [self._picked(rows)], lengths[rows]
        dots = [np.asarray(numkong.cdist(query, part, "dot"), np.float32)[0] for part in parts if len(part)]
        if not dots:
            return np.zeros(0, np.float32)
        dot = dots[0] if len(dots) == 1 else np.concatenate(dots)
        norm = np.float32(np.linalg.norm(query.astype(np.float32)))
        cosines: Cosines = (dot / (lengths * norm)).astype(np.float32, copy=False)
        return cosines


def _best(
    rows: Numbers | None, similarity: Cosines, memories: Numbers, statements: Numbers, limit: int
) -> list[Nearness]:
    """The *limit* best memories: passages best first, the first of each memory counts."""
    wanted = limit + limit // 4
    while True:
        places = best(wanted, similarity)
        chosen = places if rows is None else rows[places]
        found: dict[int, Nearness] = {}
        # Whole columns become lists at once: a number of numpy's costs more than all else done with it here.
        for memory, statement, near in zip(
            memories[chosen].tolist(), statements[chosen].tolist(), similarity[places].tolist(), strict=True
        ):
            if near == UNSEEN:
                break
            if memory not in found:
                found[memory] = Nearness(memory, statement, near)
        if len(found) >= limit or wanted >= len(similarity):
            return list(found.values())[:limit]
        wanted *= 4
