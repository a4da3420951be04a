"""Stores beside the one we keep: a database of someone else's, and one that lives in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple, NoReturn, TypeVar

import apsw

from mnemic.errors import Denied, MnemicError, StoreUnusable
from mnemic.model.values import Moment
from mnemic.storage.base import Progress, Reader
from mnemic.storage.sqlite import checking, words
from mnemic.storage.sqlite.connection import (
    closed,
    connect_to_read,
    examine,
    has_log,
    newer,
    our_errors,
)
from mnemic.storage.sqlite.migrating import version_of
from mnemic.storage.sqlite.opened import OpenedStore, empty_database
from mnemic.storage.sqlite.reader import SqliteReader
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

    One that nobody has open is read as if it could not change, since SQLite would leave files beside it otherwise;
    if it has changed all the same by the time there is an answer, it is asked again. One that is in use is opened for
    each question anew: as long as we had it open, its last user could not tidy up.
    """

    def __init__(self, path: Path):
        self._path = path
        self._lock = threading.Lock()
        self._still: tuple[_State, _OpenStore] | None = None
        self._frequencies = words.Frequencies()
        self.asked(lambda reader: reader.count())

    @property
    def location(self) -> str:
        """Its name."""
        return self._path.name

    def asked(self, question: Callable[[Reader], T]) -> T:
        """See Asked."""
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
            told = self._path.stat()
        except OSError as error:
            raise StoreUnusable(f"{self.location} cannot be opened: {error.strerror}.") from None
        state = _State(told.st_ino, told.st_size, told.st_mtime_ns, has_log(self._path))
        if self._still is None or self._still[0] != state:
            examine(self._path)
        return state

    def _standing(self, seen: _State) -> _OpenStore:
        if self._still is None or self._still[0] != seen:
            self._still = seen, self._opened(connect_to_read(self._path, is_still=True))
        return self._still[1]

    def _opened(self, connection: apsw.Connection) -> _OpenStore:
        store = _OpenStore(self._path, connection)
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
    def snapshot(self) -> Iterator[SqliteReader]:
        """See Store."""
        with self.writing.threads:
            yield self.read()

    def asked(self, question: Callable[[Reader], T]) -> T:
        """See Asked."""
        with self.snapshot() as reader:
            return question(reader)

    def _connection(self) -> apsw.Connection:
        if self._closed:
            raise closed()
        return self._writer

    def backup(self, target: Path, progress: Progress | None = None) -> NoReturn:
        """See Store."""
        raise Denied("This cannot be backed up.")

    def check(self) -> list[str]:
        """See Store."""
        return checking.check(self._writer)


class _OpenStore(_OneConnection):
    """Someone else's database through a connection that cannot write."""

    def __init__(self, path: Path, connection: apsw.Connection):
        _refuse_other_format(path, version_of(connection))
        super().__init__(path, connection)

    def index_substrings(self) -> None:
        """Not done: what is not indexed is looked through."""

    def write(
        self, *, operation: str, actor: str, at: Moment, durable: bool = True, waits: bool = True
    ) -> NoReturn:
        """See Store."""
        raise Denied("A database of someone else's is only read.")


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

    def __init__(self) -> None:
        super().__init__(Path(":memory:"), empty_database())
