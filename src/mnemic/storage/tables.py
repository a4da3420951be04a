"""The tables that make up a store, described once for all engines, and the two ends of a copy of their rows.

Rows are tuples of plain values: numbers, texts, bytes, None. Indexes are not among them: each engine makes its own
from the rows. Nor are claims, which belong to running processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from mnemic.model.change import Position
from mnemic.model.memory import FIELDS
from mnemic.storage.base import Progress

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table: a row is its *placement*, then its *columns*."""

    name: str
    columns: tuple[str, ...]
    placement: tuple[str, ...] = ()
    """Where an engine that spreads namespaces keeps a row. It follows from other rows, so it is not compared."""


_EDGE = (
    "id", "source_id", "target_id", "type", "weight", "reason", "created_at", "valid_from", "valid_to", "state",
    "updated_at", "quality", "rating", "rating_count",
)  # fmt: skip
_SESSION = ("id", "namespace", "name", "started_at", "ended_at", "topic", "summary", "metadata")
_TIMES = ("version", "since", "until")
_CHANGE = ("sequence", "batch", "at", "actor", "operation", "subject", "subject_id", "before", "after")
_TOKEN = (
    "name", "hash", "namespaces", "can_write", "max_memories", "max_bytes", "max_requests", "created_at", "expires_at",
    "used_at",
)  # fmt: skip
_RECALL = (
    "id", "at", "actor", "query", "namespaces", "session_id", "hits", "relevance", "tokens", "milliseconds",
    "memory_ids",
)  # fmt: skip
_HOME = ("namespace",)

JOURNAL = Table("journal", _CHANGE, _HOME)
SETTING = Table("setting", ("key", "value"))
MEMORY = Table("memory", (*FIELDS, "since"))
CONTENT = (
    Table("model", ("id", "name", "dimension")),
    Table("session", (*_SESSION, "since")),
    MEMORY,
    Table("tag", ("memory_id", "name"), _HOME),
    Table(
        "statement", ("id", "memory_id", "position", "text", "digest", "since", "until", "model_id"), _HOME
    ),
    Table(
        "passage", ("id", "statement_id", "model_id", "start", "end", "vector"), ("namespace", "memory_id")
    ),
    Table("edge", (*_EDGE, "since"), _HOME),
    Table("companion", ("a", "b", "count", "last"), _HOME),
    Table("namespace", ("name", "standard_id", "parent")),
    Table("version", ("subject", "number", "stamps"), _HOME),
    Table("alias", ("uid", "memory_id")),
    Table("recall_log", _RECALL),
    Table("token", _TOKEN),
    Table("memory_past", (*_TIMES, "worded", *FIELDS)),
    Table("edge_past", (*_TIMES, *_EDGE), _HOME),
    Table("session_past", (*_TIMES, *_SESSION)),
)
"""What indexes are made from. The journal comes after these and their indexes: a follower finds both."""
TABLES = (*CONTENT, JOURNAL, SETTING)

COUNTERS = (
    "memory", "statement", "passage", "edge", "session", "recall_log", "journal", "memory_past",
)  # fmt: skip
"""What is numbered in a row: the last number that was given, which a purge may have left unused."""

COPYING = "unfinished copy of"
"""The setting by which an unfinished copy is known, with the place it is made from."""
OWN_SETTINGS = ("format", "gram", "sessions", COPYING)
"""Settings of an engine about its own database."""


class RowSource(Protocol):
    """The rows of a store at one moment."""

    def namespaces(self) -> list[str]:
        """The names of all namespaces."""

    def count(self, table: Table) -> int:
        """How many rows the table has."""

    def rows(self, table: Table) -> Iterator[Row]:
        """The rows of the table in any order, a few at a time."""

    def counters(self) -> dict[str, int]:
        """The last number given of each of COUNTERS."""

    def number_at(self, position: Position) -> int:
        """The greatest number of a change up to which *position* covers all changes."""


class RowTarget(Protocol):
    """A database that a copy is put into. No program opens it as a store before `finish`."""

    def count(self, table: Table) -> int:
        """How many rows the table has."""

    def rows(self, table: Table) -> Iterator[Row]:
        """The rows of the table in any order, a few at a time."""

    def origin(self) -> str | None:
        """The place of which this is an unfinished copy; None if it holds nothing. Conflict if it holds a store."""

    def begin(self, origin: str, namespaces: Iterable[str]) -> None:
        """Make the tables and the namespaces, and note what this is to be a copy of."""

    def replace(self, table: Table, rows: Iterable[Row]) -> None:
        """Put *rows* in place of those of the table, in one transaction."""

    def build_indexes(self, progress: Progress) -> None:
        """Make the indexes anew from the rows, in one transaction; *progress* is in memories."""

    def position_of(self, number: int) -> Position:
        """The position that the change with this number has here."""

    def finish(self, counters: Mapping[str, int]) -> None:
        """Go on numbering from *counters*, and let it be a store like any other."""


class Copyable(Protocol):
    """A store that can be copied."""

    def row_source(self) -> AbstractContextManager[RowSource]:
        """Its rows at this moment, for the block."""
