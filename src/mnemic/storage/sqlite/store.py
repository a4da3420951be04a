"""The SQLite store with its index, its past states and other stores."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from mnemic.errors import StoreUnusable
from mnemic.model.change import Position
from mnemic.model.time import Moment
from mnemic.storage.base import Store
from mnemic.storage.files import HELD, Inode
from mnemic.storage.index_port import OpenIndex
from mnemic.storage.sqlite import journal, memories, read_only
from mnemic.storage.sqlite.connection import our_errors
from mnemic.storage.sqlite.database import OpenedStore
from mnemic.storage.sqlite.index_source import SqliteSource
from mnemic.storage.sqlite.migrations import to_write
from mnemic.storage.sqlite.reader import SqliteReader
from mnemic.storage.sqlite.rows import value
from mnemic.storage.sqlite.writer import SqliteWriter

if TYPE_CHECKING:
    from mnemic.storage.sqlite.as_of import PastConnections, PastStore
    from mnemic.storage.sqlite.past_index import PastVectors


LOADED_AT_ONCE = 200_000
"""Up to this many memories, a question loads the words itself; of more, the background does."""


class SqliteStore(OpenedStore):
    """The Store of the SQLite engine. A file that cannot be written, as on a read-only mount, can still be read."""

    def __init__(self, path: Path, open_index: OpenIndex, *, durable: bool = True):
        self._is_read_only = read_only.is_read_only(path)
        self._why = read_only.reason(path) if self._is_read_only else ""
        self.open_index = open_index
        with our_errors(path.name):
            writer = self._opened(path, durable)
            index = open_index(None if self._is_read_only else path)
            turns = None if self._is_read_only else path
            super().__init__(path, writer, index, durable=durable, turns=turns)
        self._past: PastStore | None = None
        self._past_vectors: PastVectors | None = None
        self._held: Inode | None = HELD.take(path)

    def _opened(self, path: Path, durable: bool) -> apsw.Connection:
        """A connection that writes, or that reads where nothing can be written: on a full disk SQLite cannot even make
        the files that it needs to write.
        """
        if self._is_read_only:
            return read_only.opened(path)
        try:
            return to_write(path, durable=durable)
        except (apsw.FullError, apsw.IOError):
            if not path.is_file() or not path.stat().st_size:
                raise
            connection = read_only.opened(path)
            self._is_read_only, self._why = True, read_only.NO_ROOM
            return connection

    def close(self) -> None:
        """Close the store. Safe to call twice."""
        self.index.close()
        if "past_connections" in self.__dict__:
            self.past_connections.close()
        if self._past:
            self._past.close()
        super().close()
        if self._held:
            HELD.let_go(self._held)
            self._held = None

    def write(
        self, *, operation: str, actor: str, at: Moment, durable: bool = True, waits: bool = True
    ) -> SqliteWriter:
        """A write transaction, for a `with` block; refused where the file cannot be written."""
        if self._is_read_only:
            raise read_only.refusal(self.location, self._why)
        return super().write(operation=operation, actor=actor, at=at, durable=durable, waits=waits)

    def use_models(self, *names: str) -> None:
        """Compare vectors of these models only, each with its own; statements that have none become pending. Where
        nothing can be written, vectors of other models stay; they are not compared.
        """
        try:
            super().use_models(*names)
        except StoreUnusable:
            if not self._is_read_only:
                raise

    def index_substrings(self) -> None:
        """Update the substring index; while others write, it stays behind. Where
        nothing can be written, unindexed texts are scanned.
        """
        if not self._is_read_only:
            super().index_substrings()

    def read_all(self) -> SqliteReader:
        """A reader of the newest committed state, for any scope."""
        return SqliteReader(self, self._connection())

    def _connect(self) -> apsw.Connection:
        return read_only.opened(self._path) if self._is_read_only else super()._connect()

    def keeps_words(self, *, is_question: bool, is_needed: bool = False) -> bool:
        """Whether the index serves words; in a process that stays all of them are read in the background."""
        are_kept = super().keeps_words(is_question=is_question, is_needed=is_needed)
        has_words = self.index.has_words
        if are_kept and self.is_asked_often and (self.index.wants_upkeep or not has_words):
            self.index.warm_up(lambda: self.index.read_ahead(self._source()), apsw.Error)
        # Where it takes a second to load them, FTS5 serves until that is done in the background.
        return are_kept and (has_words or is_needed or not self._is_huge)

    @functools.cached_property
    def _is_huge(self) -> bool:
        return int(value(self._connection(), memories.NEWEST)) > LOADED_AT_ONCE

    def _source(self) -> SqliteSource:
        return SqliteSource(self._connection())

    def at(self, when: Position | Moment) -> Store:
        """The store as of a position or a moment: readable like any other, never writable.

        The last one asked for is kept, since a client that looks back tends to look again.
        """
        from mnemic.storage.sqlite.as_of import PastStore

        past = self._past
        with our_errors(self.location):
            position = self._position_of(when)
            if past is None or not past.still_shows(self._connection(), position, self._used):
                self._past = past = PastStore(self, position)
        return past

    def _position_of(self, when: Position | Moment) -> Position:
        """A moment as the position of the newest change at or before it."""
        if isinstance(when, Position):
            return when
        return Position(number=journal.sequence_at(self._connection(), when))

    @functools.cached_property
    def past_connections(self) -> PastConnections:
        """The connections that show the past."""
        from mnemic.storage.sqlite.as_of import PastConnections

        return PastConnections(self._connect)

    def past_vectors(self) -> PastVectors:
        """The vectors of memories that have changed, kept for all moments until something is purged."""
        from mnemic.storage.sqlite.as_of import was_purged
        from mnemic.storage.sqlite.past_index import PastVectors

        kept = self._past_vectors
        if kept is None or was_purged(self._connection(), kept.seen):
            self._past_vectors = kept = PastVectors(self.index, self.newest())
        return kept
