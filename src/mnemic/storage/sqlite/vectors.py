"""The vectors of one model in memory: a matrix that is searched, kept up to date from the database."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import apsw

from mnemic.numeric import np, npt, numkong
from mnemic.storage.base import Nearness
from mnemic.storage.sqlite import journal
from mnemic.storage.sqlite.arrays import Flags, Int8, Numbers, among, best, flagged, resized
from mnemic.storage.sqlite.connection import one_moment
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.rows import Row, column, row, rows
from mnemic.storage.sqlite.sieve import Sieve

if TYPE_CHECKING:
    from mnemic.embedding.base import Vectors

UNSEEN = -2.0
"""Less than any cosine."""
STRETCH = 4096
PICKING = 4
"""To pick rows is to copy them: one picked costs as much as so many compared where they lie."""
TELLING = 0.6
"""So near that the signs alone tell it from what is not related."""
SIFTED_FROM = 20_000
"""With fewer rows to see, all are compared: a sieve would save nothing."""
LEAST_KEPT, KEPT_EACH = 1_000, 30
"""How many rows a sieve leaves at least, and for each memory wanted; docs/retrieval.md tells what that misses."""

_ROWS = """
SELECT p.id, s.memory_id, s.id, n.id, p.vector
FROM passage p
JOIN statement s ON s.id = p.statement_id
JOIN memory m ON m.id = s.memory_id
JOIN namespace n ON n.name = m.namespace
WHERE p.model_id = :model AND s.until IS NULL AND m.state = 'living' AND
"""
NEW_ROWS = _ROWS + "p.id > :known AND p.id <= :newest ORDER BY p.id"
ROWS_OF = _ROWS + "p.id <= :newest AND s.memory_id IN (SELECT value FROM json_each(:ids)) ORDER BY p.id"
# Under a new title a text may be read by another model, whose matrix then has it.
NOW_OF_OTHERS = """
SELECT statement_id FROM passage WHERE id > :known AND id <= :newest AND model_id != :model
"""
LEFT_ROWS = """
SELECT s.memory_id, s.id, p.vector FROM statement s JOIN passage p ON p.statement_id = s.id
WHERE p.model_id = :model AND s.until IS NULL AND s.memory_id IN (SELECT value FROM json_each(:ids))
"""
NEWEST = """
SELECT coalesce((SELECT max(sequence) FROM journal), 0), coalesce((SELECT max(id) FROM passage), 0)
"""


def quantised(vectors: Vectors) -> Int8:
    """Each vector stretched so that its largest number is 127, and rounded. Cosines do not mind the stretch."""
    largest = np.abs(vectors).max(axis=-1, keepdims=True)
    stretched: Int8 = np.rint(vectors * (127.0 / np.maximum(largest, 1e-12))).astype(np.int8)
    return stretched


class Matrix:
    """Every passage of the living memories. One instance a store, safe between threads.

    Rows are only ever appended or marked dead, so a search can go on while the next refresh works.
    """

    def __init__(self, model_id: int, dimension: int):
        self.model_id = model_id
        self._lock = threading.Lock()
        self._sequence = 0
        self._passage = 0
        self._count = 0
        self._dead = 0
        self._newest_memory = 0
        self._newest_statement = 0
        self._sieve = Sieve()
        self._reserve(1024, dimension)

    def _reserve(self, capacity: int, dimension: int) -> None:
        self._vectors: Int8 = np.zeros((capacity, dimension), np.int8)
        self._lengths = np.ones(capacity, np.float32)
        self._memories: Numbers = np.zeros(capacity, np.int64)
        self._statements: Numbers = np.zeros(capacity, np.int64)
        self._namespaces = np.zeros(capacity, np.int32)
        self._alive = np.zeros(capacity, np.bool_)

    def refresh(self, connection: apsw.Connection) -> None:
        """Take in what has changed since the last time: new passages, and memories the journal names."""
        with self._lock:
            if row(connection, NEWEST) == (self._sequence, self._passage):
                return
            # One moment for all that is read: between two, passages may be replaced by newer ones.
            with one_moment(connection):
                [(sequence, newest)] = rows(connection, NEWEST)
                self._follow(connection, newest)
            self._sequence = sequence
            if self._dead > 4096 and self._dead * 2 > self._count:
                self._compact()

    def _follow(self, connection: apsw.Connection, newest: int) -> None:
        changed = [] if self._sequence == 0 else journal.reworded(connection, self._sequence)
        if changed:
            self._drop(self._memories, changed, self._newest_memory)
            values = {"model": self.model_id, "newest": self._passage, "ids": as_json(changed)}
            self._replace(rows(connection, ROWS_OF, values))
        self._take_in(connection, {"model": self.model_id, "known": self._passage, "newest": newest})
        self._passage = newest

    def _drop(self, column: Numbers, numbers: Sequence[int], newest: int) -> None:
        """Mark the rows dead that have one of *numbers* in *column*, where *newest* is the largest that ever stood."""
        if min(numbers) > newest:
            return  # Nearly every time: what has just been written is looked for, and is not here yet.
        count = self._count
        gone = np.isin(column[:count], numbers) & self._alive[:count]
        self._alive[:count][gone] = False
        self._dead += int(gone.sum())

    def _take_in(self, connection: apsw.Connection, span: dict[str, int]) -> None:
        if self._count:
            self._replace(rows(connection, NEW_ROWS, span))
            if elsewhere := column(connection, NOW_OF_OTHERS, span):
                self._drop(self._statements, elsewhere, self._newest_statement)
            return
        # At first everything comes, a stretch at a time: at once, 100,000 would take 300 MB for a moment.
        cursor = connection.execute(NEW_ROWS, span)
        while fresh := list(islice(cursor, STRETCH)):
            self._append(fresh)

    def _replace(self, fresh: list[Row]) -> None:
        """Append *fresh*. Passages are put a statement at a time, so these are all that theirs have now."""
        if fresh:
            self._drop(self._statements, [one[2] for one in fresh], self._newest_statement)
            self._append(fresh)

    def hold(self, some: list[Row]) -> None:
        """Take these rows in as they are, for a matrix that is asked once and follows nothing."""
        if some:
            self._append(some)

    def _append(self, fresh: list[Row]) -> None:
        _, memories, statements, namespaces, blobs = zip(*fresh, strict=True)
        start, end = self._count, self._count + len(fresh)
        if end > len(self._vectors):
            self._grow(max(end, 2 * len(self._vectors)))
        vectors = np.frombuffer(b"".join(blobs), np.int8).reshape(len(fresh), -1)
        self._vectors[start:end] = vectors
        self._lengths[start:end] = np.linalg.norm(vectors.astype(np.float32), axis=1)
        self._memories[start:end] = memories
        self._statements[start:end] = statements
        self._namespaces[start:end] = namespaces
        self._alive[start:end] = True
        self._newest_memory = max(self._newest_memory, *memories)
        self._newest_statement = max(self._newest_statement, *statements)
        self._count = end

    def _columns(self) -> tuple[npt.NDArray[Any], ...]:
        return (self._vectors, self._lengths, self._memories, self._statements, self._namespaces, self._alive)

    def _grow(self, capacity: int) -> None:
        kept = self._columns()
        self._reserve(capacity, self._vectors.shape[1])
        for old, new in zip(kept, self._columns(), strict=True):
            new[: self._count] = old[: self._count]

    def _compact(self) -> None:
        living = np.flatnonzero(self._alive[: self._count])
        picked = [kept[living] for kept in self._columns()]
        self._reserve(max(1024, len(living)), self._vectors.shape[1])
        for old, new in zip(picked, self._columns(), strict=True):
            new[: len(living)] = old
        self._count, self._dead = len(living), 0
        self._sieve = Sieve()

    def nearest(
        self,
        vector: Vectors,
        limit: int,
        *,
        namespace_ids: Sequence[int] | None = None,
        only: Sequence[int] | None = None,
        passing: Flags | None = None,
        without: Sequence[int] = (),
        at_least: float = -math.inf,
    ) -> list[Nearness]:
        """The best memories by their best passage among those that may be seen and are *at_least* so near.

        *passing* says which may, in the places of their numbers.
        """
        with self._lock:
            seen = self._seen(namespace_ids, self._allowed(only, passing), without)
            likely = self._likely(vector, seen, limit, at_least)
            found = self._best(vector, likely, limit)
            if len(found) < limit and likely is not seen and at_least < TELLING:
                # Memories of many passages leave too few places for others.
                found = self._best(vector, seen, limit)
        return [near for near in found if near.similarity >= at_least]

    def has_any(self, namespace_ids: Sequence[int] | None) -> bool:
        """Whether there is a passage in these namespaces, or anywhere if none are given."""
        with self._lock:
            if namespace_ids is None:
                return self._count > self._dead
            return bool(
                (among(self._namespaces[: self._count], namespace_ids) & self._alive[: self._count]).any()
            )

    def _best(self, vector: Vectors, seen: Flags | None, limit: int) -> list[Nearness]:
        rows, similarity = self._compared(vector, seen)
        return _best(rows, similarity, self._memories, self._statements, limit)

    def of(self, memory_ids: Sequence[int]) -> dict[int, Vectors]:
        """One unit vector for each statement of these memories, by its number."""
        with self._lock:
            count = self._count
            chosen = np.flatnonzero(self._of(memory_ids) & self._alive[:count])
            if not len(chosen):
                return {}
            chosen = chosen[np.argsort(self._statements[chosen], kind="stable")]
            unit = self._vectors[chosen] / self._lengths[chosen, None]
            numbers, starts = np.unique(self._statements[chosen], return_index=True)
        sums = unit if len(numbers) == len(unit) else np.add.reduceat(unit, starts, axis=0)
        sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        return dict(zip(numbers.tolist(), sums, strict=True))

    def _allowed(self, only: Sequence[int] | None, passing: Flags | None) -> Flags | None:
        """Which rows belong to memories that are asked for; None when none is by its number."""
        if only is not None:
            return self._of(only)
        return None if passing is None else self._rows(resized(passing, self._newest_memory + 1))

    def _seen(
        self, namespace_ids: Sequence[int] | None, allowed: Flags | None, without: Sequence[int]
    ) -> Flags | None:
        """Which rows a search may see; None when that is all of them."""
        count = self._count
        if namespace_ids is None and allowed is None and not without and not self._dead:
            return None
        seen = self._alive[:count].copy()
        if namespace_ids is not None:
            seen &= among(self._namespaces[:count], namespace_ids)
        if allowed is not None:
            seen &= allowed
        if without:
            seen &= ~self._of(without)
        return seen

    def _of(self, memory_ids: Sequence[int]) -> Flags:
        """Which rows belong to one of these memories."""
        # By a place for each memory, whatever the order of the rows: `isin` looks first how it might go about it.
        return self._rows(flagged(memory_ids, self._newest_memory + 1))

    def _rows(self, wanted: Flags) -> Flags:
        """Which rows belong to a memory that is *wanted*, by the place of its number."""
        flags: Flags = wanted.take(self._memories[: self._count])
        return flags

    def _likely(self, vector: Vectors, seen: Flags | None, limit: int, at_least: float) -> Flags | None:
        """Of the rows a search may see those that may be among the best: all of them, unless a sieve pays."""
        wanted = max(LEAST_KEPT, KEPT_EACH * limit)
        many = self._count if seen is None else np.count_nonzero(seen)
        # It looks at every row, seen or not, and what it keeps is picked.
        if many < max(SIFTED_FROM, PICKING * wanted, self._count // (2 * PICKING)):
            return seen
        self._sieve.follow(self._vectors[: self._count])
        if at_least >= TELLING:
            return self._sieve.within(vector, seen, at_least, self._count)
        return self._sieve.kept(vector, seen, wanted, self._count)

    def _compared(
        self, vector: Vectors, seen: Flags | None
    ) -> tuple[Numbers | slice, npt.NDArray[np.float32]]:
        """The rows that were compared and how near each is, UNSEEN if it may not be seen."""
        everything = slice(0, self._count)
        if seen is None:
            return everything, self._cosines(vector, everything)
        if PICKING * np.count_nonzero(seen) > self._count:
            similarity = self._cosines(vector, everything)
            similarity[~seen] = UNSEEN
            return everything, similarity
        rows = np.flatnonzero(seen)
        return rows, self._cosines(vector, rows)

    def _cosines(self, vector: Vectors, rows: Numbers | slice) -> npt.NDArray[np.float32]:
        vectors = self._vectors[rows] if isinstance(rows, slice) else self._vectors.take(rows, axis=0)
        if not len(vectors):
            return np.zeros(0, np.float32)
        query = quantised(vector.reshape(1, -1))
        dots = np.asarray(numkong.cdist(query, vectors, "dot"), np.float32)[0]
        cosines: npt.NDArray[np.float32] = dots / (
            self._lengths[rows] * np.float32(np.linalg.norm(query.astype(np.float32)))
        )
        return cosines


def left(
    connection: apsw.Connection, model: tuple[int, int], vector: Vectors, memory_ids: Sequence[int]
) -> list[Nearness]:
    """How near memories that are not in the matrix are, by their stored passages."""
    found = rows(connection, LEFT_ROWS, {"model": model[0], "ids": as_json(list(memory_ids))})
    matrix = Matrix(*model)
    matrix.hold([(0, memory, statement, 0, blob) for memory, statement, blob in found])
    return matrix.nearest(vector, len(memory_ids))


def _best(
    rows: Numbers | slice,
    similarity: npt.NDArray[np.float32],
    memories: Numbers,
    statements: Numbers,
    limit: int,
) -> list[Nearness]:
    """The *limit* best memories: passages best first, the first of each memory counts."""
    wanted = limit + limit // 4
    while True:
        places = best(wanted, similarity)
        chosen = places if isinstance(rows, slice) else rows[places]
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
