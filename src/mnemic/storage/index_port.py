"""The port of the in-memory index: what an engine may ask of it. `mnemic.index` implements it, `app.py` brings both
together.

The index reads from an engine through `storage.source`. An engine without an index answers by queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from mnemic.model.candidates import Weights
    from mnemic.model.filter import Filter, Order
    from mnemic.model.time import Moment
    from mnemic.model.vectors import Vectors
    from mnemic.storage.arrays import Flags, Numbers, Scores
    from mnemic.storage.base import Nearness, Traits
    from mnemic.storage.source import Group, PassageRow, Scope, Source


K1, B = 1.2, 0.75
"""The constants of BM25, which are those of SQLite."""


class Slots(Protocol):
    """Where memories stand in the arrays of the index."""

    @property
    def numbers(self) -> Numbers:
        """The number of the memory in each slot."""


class Ranked(NamedTuple):
    """The memories that hold any word of a question, or every one, by slot, and the BM25 of each."""

    slots: Numbers
    bm25: Scores


class Columns(Protocol):
    """Attributes of all memories, for filtering, sorting and counting without SQL."""

    @property
    def slots(self) -> Slots:
        """Where the memories stand."""

    def traits(self, memory_ids: Sequence[int]) -> dict[int, Traits]:
        """The traits of these memories; unknown numbers are left out."""

    def merits(self, slots: Numbers, weights: Weights) -> Scores:
        """What attributes add to the score of the memories in these slots."""

    def note_uses(self, uses: Mapping[int, int]) -> None:
        """Update how often memories were used, which the journal does not record."""

    def passing(self, source: Source, wanted: Filter) -> Flags:
        """Which slots hold memories that pass *wanted*."""

    def select(
        self,
        source: Source,
        wanted: Filter,
        order: Order,
        *,
        without: Sequence[int],
        limit: int,
        offset: int,
    ) -> list[int]:
        """The numbers of the memories that pass, in this order."""

    def tally(self, source: Source, wanted: Filter, by: str, *, without: Sequence[int]) -> dict[str, int]:
        """How many of the memories that pass have each value of *by*."""

    def groups(
        self, source: Source, namespaces: tuple[str, ...] | None, now: Moment
    ) -> list[tuple[str, str, str, str, int]]:
        """How many memories have each combination of state, namespace, kind and tier."""


class Words(Protocol):
    """The words of the living memories."""

    @property
    def slots(self) -> Slots:
        """Where the memories stand."""

    def ranked(
        self, source: Source, groups: Sequence[Group], scope: Scope, *, every: bool, can_read: bool
    ) -> Ranked | None:
        """The memories of *scope* that hold any of these words, or every one; None if another source is quicker."""

    def each(
        self, source: Source, groups: Sequence[Group], scope: Scope, memory_ids: Sequence[int]
    ) -> list[dict[int, float]]:
        """For each word, what it adds to the BM25 of those of these memories that hold it."""

    def count(self, scope: Scope) -> int:
        """How many living memories *scope* has."""

    def holders(self, source: Source, groups: Iterable[Group], scope: Scope) -> dict[Group, int]:
        """How many memories of *scope* hold each word."""


class Matrix(Protocol):
    """The vectors by one model."""

    def add(self, rows: Iterable[PassageRow]) -> None:
        """Add vectors."""

    def has_any(self, namespace_ids: Sequence[int] | None) -> bool:
        """Whether it has a vector in these namespaces, or in any."""

    def nearest(
        self,
        vector: Vectors,
        limit: int,
        *,
        only: Sequence[int] | None = None,
        namespace_ids: Sequence[int] | None = None,
        passing: tuple[Any, Flags] | None = None,
        without: Sequence[int] = (),
        among_rows: Flags | None = None,
        at_least: float = ...,
    ) -> list[Nearness]:
        """The *limit* memories nearest to *vector*, by their best passage; of these rows, in the order of `add`."""

    def of(self, memory_ids: Sequence[int], *, among_rows: Flags | None = None) -> dict[int, Vectors]:
        """The vector of each statement of these memories, by the statement's number."""


class Snapshot(Protocol):
    """The index as of one moment of one database connection. Scans run on it without a lock."""

    @property
    def source(self) -> Source:
        """Where it reads."""

    @property
    def columns(self) -> Columns:
        """The attributes of all memories."""

    @property
    def has_columns(self) -> bool:
        """Whether the attributes are in memory already."""

    @property
    def words(self) -> Words:
        """The words of the living memories."""

    def matrix(self, model_id: int, dimension: int, name: str) -> Matrix:
        """The vectors by one model."""


class Index(Protocol):
    """The index of one store. Safe between threads."""

    def moment(self, source: Source) -> AbstractContextManager[Snapshot]:
        """The index as of the newest change; everything read from *source* in the block is as of then, too."""

    def inside(self, source: Source) -> Snapshot:
        """The index as a transaction of somebody else's sees it; what it reads is not kept for others."""

    @property
    def has_words(self) -> bool:
        """Whether the words are loaded."""

    @property
    def wants_upkeep(self) -> bool:
        """Whether there is something to read ahead."""

    def matrix_of(self, model_id: int, dimension: int, rows: Iterable[PassageRow]) -> Matrix:
        """Vectors that are not part of the index, to be compared in the same way."""

    @property
    def wants_postings(self) -> bool:
        """Whether the postings of all words should be read ahead."""

    def read_ahead(self, source: Source) -> Iterator[None]:
        """Read what will be asked for, in short steps."""

    def warm_up(self, steps: Callable[[], Iterator[None]], errors: type[Exception]) -> None:
        """Take the *steps* of `read_ahead` in a thread of its own, unless that is under way; *errors* end it."""

    def erase(self, memory_ids: Sequence[int]) -> None:
        """Overwrite the vectors of these memories in the files of the index."""

    def close(self) -> None:
        """End the reading ahead."""


class OpenIndex(Protocol):
    """Makes the index of a store."""

    def __call__(self, database: Path | None) -> Index:
        """An index, with its files beside *database* if one is named."""
