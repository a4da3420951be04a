"""Stores beside the one we keep: a database of someone else's, and one that lives in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple, NoReturn, TypeVar

import apsw

from mnemic.errors import Denied, MnemicError, StoreUnusable
from mnemic.model.access import EVERYTHING, Scope
from mnemic.model.filter import Filter
from mnemic.model.time import Moment
from mnemic.storage.base import Progress, Reader
from mnemic.storage.engine_errors import closed
from mnemic.storage.index_port import Index, OpenIndex
from mnemic.storage.sqlite import fts, integrity
from mnemic.storage.sqlite.connection import connect_to_read, examine, has_log, newer, our_errors
from mnemic.storage.sqlite.database import OpenedStore
from mnemic.storage.sqlite.migrations import empty_database, version_of
from mnemic.storage.sqlite.schema import MIGRATIONS

T = TypeVar("T")

TRIES = 3


class _State(NamedTuple):
    """What tells that a file has changed."""

    inode: int
    size: int
    changed_at: int
    has_log: bool


class OtherStore:
    """A database that others may write at any time, and we never.

    One without other users is read as immutable, since SQLite would leave files beside it otherwise;
    if it has changed by the time there is an answer, it is read again. One with other users is opened for
    each question anew: as long as we had it open, its last user could not tidy up.
    """

    def __init__(self, path: Path, open_index: OpenIndex):
        self._path = path
        self._open_index = open_index
        self._lock = threading.Lock()
        self._still: tuple[_State, _OpenStore] | None = None
        self._frequencies = fts.Frequencies()
        self.asked(lambda reader: reader.select(Filter(), limit=1))

    @property
    def location(self) -> str:
        """Its name."""
        return self._path.name

    def asked(self, question: Callable[[Reader], T]) -> T:
        """What *question* makes of the newest committed state, all of it from the same moment."""
        with self._lock, our_errors(self.location):
            for _ in range(TRIES):
                seen = self._look()
                if seen.has_log:
                    break
                try:
                    answer = question(self._standing(seen).read())
                except (MnemicError, apsw.Error):
                    if self._look() == seen:
                        raise
                    continue
                if self._look() == seen:
                    return answer
            return self._asked_in_use(question)

    def _look(self) -> _State:
        """How the file is now. One that is as it was has been examined already."""
        try:
            status = self._path.stat()
        except OSError as error:
            raise StoreUnusable(f"{self.location} cannot be opened: {error.strerror}.") from None
        state = _State(status.st_ino, status.st_size, status.st_mtime_ns, has_log(self._path))
        if self._still is None or self._still[0] != state:
            examine(self._path)
        return state

    def _standing(self, seen: _State) -> _OpenStore:
        if self._still is None or self._still[0] != seen:
            self._still = seen, self._opened(connect_to_read(self._path, is_still=True))
        return self._still[1]

    def _opened(self, connection: apsw.Connection) -> _OpenStore:
        store = _OpenStore(self._path, connection, self._open_index(None))
        store.frequencies = self._frequencies  # to count them again would take longer than most questions
        return store

    def _asked_in_use(self, question: Callable[[Reader], T]) -> T:
        self._still = None
        with closing(connect_to_read(self._path, is_still=False)) as connection:
            connection.execute("BEGIN")
            return question(self._opened(connection).read())


class _OneConnection(OpenedStore):
    """A store whose readers share one connection, because another would not show the same."""

    @contextmanager
    def snapshot(self, scope: Scope = EVERYTHING) -> Iterator[Reader]:
        """A reader that sees one moment."""
        with self.writing.threads:
            yield self.read(scope)

    def asked(self, question: Callable[[Reader], T]) -> T:
        """What *question* makes of the newest committed state, all of it from the same moment."""
        with self.snapshot() as reader:
            return question(reader)

    def _connection(self) -> apsw.Connection:
        if self._closed:
            raise closed()
        return self._writer

    def backup(self, target: Path, progress: Progress | None = None) -> NoReturn:
        """Refused: a store that is only read has no backup."""
        raise Denied("This cannot be backed up.")

    def check(self) -> list[str]:
        """Faults in the file and between its tables and indexes; empty if there are none."""
        return integrity.check(self._writer)


class _OpenStore(_OneConnection):
    """Someone else's database through a connection that cannot write."""

    def __init__(self, path: Path, connection: apsw.Connection, index: Index):
        _refuse_other_format(path, version_of(connection))
        super().__init__(path, connection, index)

    def index_substrings(self) -> None:
        """Not available: unindexed texts are scanned."""

    def write(
        self, *, operation: str, actor: str, at: Moment, durable: bool = True, waits: bool = True
    ) -> NoReturn:
        """Refused: this store is read-only."""
        raise Denied("A foreign database is read-only.")


def _refuse_other_format(path: Path, version: int) -> None:
    if version > len(MIGRATIONS):
        raise newer(path, version)
    if version < len(MIGRATIONS):
        raise StoreUnusable(
            f"{path.name} was written by an older Mnemic (format {version}, this one reads {len(MIGRATIONS)}), "
            "or holds nothing. It was not changed. Open it once with `mnemic --db FILE stats` to bring it up to date."
        )


class MemoryStore(_OneConnection):
    """A store that lives in memory."""

    def __init__(self, open_index: OpenIndex) -> None:
        super().__init__(Path(":memory:"), empty_database(), open_index(None))
