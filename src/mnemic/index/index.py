"""One index of a store: it follows the journal once a request, and answers come from one moment."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self, TypeVar, cast

from mnemic.index.warmup import Warmup

if TYPE_CHECKING:
    from mnemic.index.bm25 import Words
    from mnemic.index.columns import Columns
    from mnemic.index.matrix_file import Model
    from mnemic.index.postings import Postings
    from mnemic.index.table import Slots
    from mnemic.index.vectors import Matrix
    from mnemic.storage.source import ChangedMemory, Extent, PassageRow, Source

COLUMNS, WORDS, VECTORS = "columns", "words", "vectors"
FOLDER = "-index"
"""What the folder of its files is called after the name of the database."""
MAPPED_FROM = 5_000
"""With fewer vectors there is no file: they are read in some milliseconds."""
UNMAPPED, UNMAPPED_SHARE = 2_000, 0.02
"""Vectors, and share of all, that may be missing in the file before it is written anew."""
OVERDUE = 4
"""At so many times that share the file is written at once, not in the background."""


class Part(Protocol):
    """What the index consists of: a version that is never changed, as of one position."""

    position: Extent

    def updated(self, source: Source, changes: Sequence[ChangedMemory], position: Extent) -> Self:
        """The version as of *position*, which is *changes* later."""


def can_map() -> bool:
    """Whether this system has the locks that files of the index are written under."""
    return sys.platform != "win32"


def open_index(database: Path | None) -> Index:
    """The index of the store at *database*, with its files beside it; without one, all in memory."""
    return Index(None if database is None else database.with_name(database.name + FOLDER))


P = TypeVar("P", bound=Part)
Key = tuple[str, int]


class Index:
    """The index of one store: its parts are loaded on first use and refreshed together. Thread-safe.

    Loading is lazy: a command that ends with its answer needs none of it, nor numpy.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._files = folder
        """Where files of the index may lie."""
        self._folder = folder if can_map() else None
        """Where this process writes them; None if it cannot."""
        self._warmup: Warmup | None = None
        self._models: dict[int, Model] = {}
        self._lock = threading.RLock()
        self._loading = {kind: threading.Lock() for kind in (COLUMNS, WORDS, VECTORS)}
        self._parts: dict[Key, Part] = {}
        self._is_saving = False
        self._slots: Slots | None = None
        self._postings: Postings | None = None

    @contextmanager
    def moment(self, source: Source) -> Iterator[Snapshot]:
        """The index as of the newest change; everything read from *source* in the block is as of then, too."""
        snapshot = self._begin(source)
        try:
            yield snapshot
        finally:
            source.end()
        if self._models and any(self._is_overdue(matrix) for matrix in self._matrices()):
            self.save(source)

    def _begin(self, source: Source) -> Snapshot:
        source.prepare()
        # The lock comes first: so the moment is never older than what others have brought the parts to.
        with self._lock:
            position = source.begin()
            try:
                self._bring_up(source, position)
            except BaseException:
                source.end()
                raise
            return Snapshot(self, source, position, dict(self._parts))

    def inside(self, source: Source) -> Snapshot:
        """The index as a transaction of somebody else's sees it; what it reads is not kept for others."""
        return Snapshot(self, source, source.extent(), {}, is_private=True)

    @property
    def wants_upkeep(self) -> bool:
        """Whether there is something for `read_ahead` to do."""
        return self.wants_postings or any(self._is_unsaved(matrix) for matrix in self._matrices())

    @property
    def has_words(self) -> bool:
        """Whether the words are loaded."""
        return (WORDS, 0) in self._parts

    @property
    def wants_postings(self) -> bool:
        """Whether the postings of all words should be read ahead."""
        # No lock is taken: who asks may be in a transaction that one who has the lock waits for.
        return self.has_words and (self._postings is None or self._postings.wants_all)

    def read_ahead(self, source: Source) -> Iterator[None]:
        """Read what will be asked for, in short steps; it ends early when postings are dropped because much changed."""
        from mnemic.index.bm25 import steps_ahead

        self.save(source)
        with self.moment(source) as snapshot:
            _ = snapshot.columns
            runs = list(steps_ahead(snapshot.words, source))
        yield
        for first, last in runs:
            with self.moment(source) as snapshot:
                if not snapshot.words.read_ahead(source, first, last):
                    return
            yield

    def save(self, source: Source) -> None:
        """Write the vectors that are not in their file, unless another process is at it or it cannot be written."""
        from mnemic.index.matrix_file import locked, write

        if self._folder is None or self._is_saving:
            return
        self._is_saving = True
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            with locked(self._folder, waits=False) as is_mine:
                if is_mine:
                    # The moment begins inside the lock: whoever purges meanwhile comes after us, and erases it there.
                    with self.moment(source) as snapshot:
                        for model in list(self._models.values()):
                            matrix = snapshot.matrix(*model)
                            if self._is_unsaved(matrix):
                                write(self._folder, model, matrix, source)
                                self._remap(model, source, snapshot.position)
        except OSError:
            self._folder = None
        finally:
            self._is_saving = False

    def _remap(self, model: Model, source: Source, position: Extent) -> None:
        """Release the rows in memory that are in the file now."""
        from mnemic.index.matrix_file import opened

        assert self._folder
        if mapped := opened(self._folder, model, source, position):
            with self._lock:  # whoever is next brings it up to what others have seen meanwhile
                self._parts[VECTORS, model.id] = mapped

    def matrix_of(self, model_id: int, dimension: int, rows: Iterable[PassageRow]) -> Matrix:
        """Vectors that are not part of the index, to be compared in the same way."""
        from mnemic.index.vectors import Matrix

        return Matrix.of_rows(model_id, dimension, rows)

    def warm_up(self, steps: Callable[[], Iterator[None]], errors: type[Exception]) -> None:
        """Take the *steps* of `read_ahead` in a thread of its own, unless that is under way; *errors* end it."""
        if self._warmup is None:
            self._warmup = Warmup(steps, errors)
        self._warmup.start()

    def erase(self, memory_ids: Sequence[int]) -> None:
        """Overwrite the vectors of these memories in the files, those that other processes wrote included."""
        if self._files is not None and self._files.is_dir():
            from mnemic.index.matrix_file import erase

            erase(self._files, memory_ids)

    def close(self) -> None:
        """End the reading ahead."""
        if self._warmup is not None:
            self._warmup.stop()

    def _matrices(self) -> list[Matrix]:
        with self._lock:
            return [cast("Matrix", part) for (kind, _), part in self._parts.items() if kind == VECTORS]

    def _is_unsaved(self, matrix: Matrix) -> bool:
        """Whether enough rows are missing in the file to write it."""
        if self._folder is None or matrix.living < MAPPED_FROM:
            return False
        return matrix.unmapped > max(UNMAPPED, int(UNMAPPED_SHARE * matrix.living))

    def _is_overdue(self, matrix: Matrix) -> bool:
        """Whether enough rows are missing that even a short command should write the file."""
        return self._is_unsaved(matrix) and matrix.unmapped > OVERDUE * UNMAPPED_SHARE * matrix.living

    def load_matrix(self, source: Source, model: Model, position: Extent) -> Matrix:
        """The vectors by a model: from their file and what came since, or from the database."""
        from mnemic.index.vectors import Matrix

        if self._folder is not None:
            from mnemic.index.matrix_file import opened

            self._models[model.id] = model
            if found := opened(self._folder, model, source, position):
                return _brought_up(found, source, source.changes(found.position.change), position)
        return Matrix.load(source, model.id, model.dimension, position)

    def _bring_up(self, source: Source, position: Extent) -> None:
        """Bring every part to *position*; the journal is read once for all of them."""
        late = [part for part in self._parts.values() if part.position != position]
        if not late:
            return
        changes = source.changes(min(part.position.change for part in late))
        for key, part in self._parts.items():
            if part.position != position:
                self._parts[key] = _brought_up(part, source, changes, position)

    def part(self, key: Key, source: Source, position: Extent, load: Callable[[bool], P]) -> P:
        """A part as of *position*, loaded on first use.

        *load* gets whether the part will be cached. Callers of other parts do not wait while one is loaded.
        """
        with self._loading[key[0]]:
            known = self._part_at(key, source, position)
            if known is not None and known.position == position:
                return cast("P", known)
            # Ahead of this moment: others saw later changes while it began. What is loaded then is not kept.
            fresh = load(known is None)
            if known is None:
                with self._lock:
                    self._parts[key] = fresh
            return fresh

    def _part_at(self, key: Key, source: Source, position: Extent) -> Part | None:
        """A loaded part, refreshed to *position* if it is behind."""
        with self._lock:
            known = self._parts.get(key)
            if known is not None and known.position < position:
                changes = source.changes(known.position.change)
                known = self._parts[key] = _brought_up(known, source, changes, position)
            return known

    def private_matrix(
        self, key: Key, source: Source, position: Extent, load: Callable[[bool], Matrix]
    ) -> Matrix:
        """The vectors as a transaction sees them, whose changes may be taken back."""
        with self._lock:
            known = cast("Matrix | None", self._parts.get(key))
        if known is None or known.position > position:
            return load(False)
        return _brought_up(known.fork(), source, source.changes(known.position.change), position)

    def _kept_postings(self) -> Postings:
        from mnemic.index.postings import Postings

        with self._lock:
            self._postings = self._postings or Postings()
            return self._postings

    def load_columns(self, source: Source, position: Extent, own: Slots | None) -> Columns:
        """The attributes as of *position*. Reading takes long at a million, so only placing holds the lock."""
        from mnemic.index.columns import Columns

        placed = Columns.read(source, position)
        with self._lock:
            return placed(self._kept_slots() if own is None else own)

    def load_words(self, source: Source, position: Extent, own: Slots | None) -> Words:
        """The words as of *position*, in the slots that all share or in one's *own*."""
        from mnemic.index.bm25 import Words
        from mnemic.index.postings import Postings

        placed = Words.read(source, position)
        with self._lock:
            if own is None:
                return placed(self._kept_slots(), self._kept_postings())
            return placed(own, Postings())

    def _kept_slots(self) -> Slots:
        """The slots that all parts share."""
        from mnemic.index.table import Slots

        self._slots = self._slots or Slots()
        return self._slots


class Snapshot:
    """The index as of one moment of one database connection. Scans run on it without a lock."""

    def __init__(
        self,
        index: Index,
        source: Source,
        position: Extent,
        parts: dict[Key, Part],
        *,
        is_private: bool = False,
    ):
        self.source = source
        self.position = position
        self.is_private = is_private
        self._index = index
        self._parts = parts

    @property
    def columns(self) -> Columns:
        """The attributes of all memories."""
        return self._part((COLUMNS, 0), self._load_columns)

    @property
    def has_columns(self) -> bool:
        """Whether the attributes are in memory already."""
        return (COLUMNS, 0) in self._parts

    @property
    def words(self) -> Words:
        """The words of the living memories."""
        return self._part((WORDS, 0), self._load_words)

    def matrix(self, model_id: int, dimension: int, name: str) -> Matrix:
        """The vectors by one model."""
        from mnemic.index.matrix_file import Model

        def load(is_kept: bool) -> Matrix:
            return self._index.load_matrix(self.source, Model(model_id, dimension, name), self.position)

        key = (VECTORS, model_id)
        if self.is_private and key not in self._parts:
            self._parts[key] = self._index.private_matrix(key, self.source, self.position, load)
        return self._part(key, load)

    def _part(self, key: Key, load: Callable[[bool], P]) -> P:
        if key not in self._parts:
            is_shared = not self.is_private
            part = self._index.part(key, self.source, self.position, load) if is_shared else load(False)
            self._parts[key] = part
        return cast("P", self._parts[key])

    @cached_property
    def _own_slots(self) -> Slots:
        """The slots of parts that are loaded for this snapshot alone."""
        from mnemic.index.table import Slots

        return Slots()

    def _load_columns(self, is_kept: bool) -> Columns:
        return self._index.load_columns(self.source, self.position, None if is_kept else self._own_slots)

    def _load_words(self, is_kept: bool) -> Words:
        return self._index.load_words(self.source, self.position, None if is_kept else self._own_slots)


def _brought_up(part: P, source: Source, changes: Sequence[ChangedMemory], position: Extent) -> P:
    """*part* as of *position*, by those of *changes* that it has not seen."""
    later = [change for change in changes if change.position > part.position.change]
    return part.updated(source, later, position)
