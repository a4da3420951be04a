"""An open database: one file, one writer at a time, a connection for each reading thread."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from mnemic.errors import Busy, Denied, Invalid, StoreUnusable
from mnemic.model.values import Moment
from mnemic.storage.base import Asked, Progress, Scratch, Store
from mnemic.storage.sqlite import checking, journal, substrings, words
from mnemic.storage.sqlite.connection import (
    WRITING_CACHE,
    close_in_time,
    closed,
    connect,
    our_errors,
    prepare_file,
)
from mnemic.storage.sqlite.kept import KnownTraits, Openings, Sizes
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.migrating import back_up, migrate
from mnemic.storage.sqlite.reader import SqliteReader
from mnemic.storage.sqlite.rows import row as first
from mnemic.storage.sqlite.rows import rows
from mnemic.storage.sqlite.turns import Turns
from mnemic.storage.sqlite.writer import SqliteWriter

if TYPE_CHECKING:
    from mnemic.storage.sqlite.lexicon import Lexicon
    from mnemic.storage.sqlite.vectors import Matrix

NAMESPACE_ID = """
SELECT id FROM namespace WHERE name = ?
"""
ADD_NAMESPACE = """
INSERT INTO namespace (name) VALUES (?)
"""
MODEL = """
SELECT id, dimension FROM model WHERE name = ?
"""
MODELS = """
SELECT name FROM model ORDER BY id
"""
ADD_MODEL = """
INSERT INTO model (name, dimension) VALUES (?, ?)
"""
# By model: as long as there has been but one, no statement need be looked at.
FOREIGN_VECTORS = """
SELECT 1 FROM model d
WHERE d.id NOT IN (SELECT value FROM json_each(?))
  AND EXISTS (SELECT 1 FROM statement s WHERE s.model_id = d.id AND s.until IS NULL)
LIMIT 1
"""
UNEMBED_FOREIGN = """
UPDATE statement SET model_id = NULL
WHERE model_id IS NOT NULL AND model_id NOT IN (SELECT value FROM json_each(?)) AND until IS NULL
"""
WORTH_KEEPING = 3
"""Whoever asks for words more often than this is no command that ends with its answer."""
BREATH_SECONDS = 0.005
"""How long the write lock is left to others between two steps of a long piece of work."""


def to_write(path: Path, *, durable: bool) -> apsw.Connection:
    """The database at *path*, made if it is not there and brought up to date, through a connection that writes."""
    prepare_file(path)
    connection = connect(path, durable=durable, cache=WRITING_CACHE)
    try:
        migrate(connection, path)
        journal.last(connection)  # reads the tables' definitions, so that damage there is noticed now
    except BaseException:
        connection.close()
        raise
    return connection


def empty_database() -> apsw.Connection:
    """A database in memory with nothing in it."""
    connection = connect(None, durable=False)
    migrate(connection, None)
    return connection


class OpenedStore:
    """What every kind of store of the SQLite engine does: the one we keep, a look back, someone else's."""

    def __init__(
        self, path: Path, writer: apsw.Connection, *, durable: bool = False, turns: Path | None = None
    ):
        self._path = path
        self._writer = writer
        self._durable = self._waits_for_disk = durable
        self._used: tuple[str, ...] = ()
        self._closed = False
        self._local = threading.local()
        self._open: weakref.WeakSet[apsw.Connection] = weakref.WeakSet([writer])
        self._namespaces: dict[str, int] = {}
        self._models: dict[str, tuple[int, int]] = {}
        self.frequencies = words.Frequencies()
        self.rarity = substrings.Rarity()
        self.traits = KnownTraits()
        self.sizes = Sizes()
        self._openings: dict[tuple[int, Callable[[str], bool]], Openings] = {}
        self._words_asked = 0
        self._has_stems = False
        self._lexicon: Lexicon | None = None
        self._matrices: dict[int, Matrix] = {}
        self._lock = threading.Lock()
        self.writing = Turns(turns)

    @property
    def location(self) -> str:
        """See Store."""
        return self._path.name

    @property
    def path(self) -> Path:
        """The database file."""
        return self._path

    @property
    def used_models(self) -> tuple[str, ...]:
        """The names of the models whose vectors are compared."""
        return self._used

    def _connect(self) -> apsw.Connection:
        """A new connection to the database."""
        return connect(self._path, durable=self._durable)

    def _connection(self) -> apsw.Connection:
        """This thread's own connection for reading."""
        if self._closed:
            raise closed()
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._connect()
            self._local.connection = connection
            with self._lock:
                self._open.add(connection)
        return connection

    def read(self) -> SqliteReader:
        """See Store."""
        return SqliteReader(self, self._connection())

    @contextmanager
    def snapshot(self) -> Iterator[SqliteReader]:
        """See Store."""
        connection = self._connect()
        try:
            connection.execute("BEGIN")
            yield SqliteReader(self, connection)
        finally:
            connection.close()

    def write(
        self, *, operation: str, actor: str, at: Moment, durable: bool = True, waits: bool = True
    ) -> SqliteWriter:
        """See Store."""
        if self._closed:
            raise closed()
        is_durable = durable and self._durable
        return SqliteWriter(self, self._writer, operation, actor, at, durable=is_durable, waits=waits)

    def wait_for_disk(self, is_wanted: bool) -> None:
        """Let transactions end when the disk has them, or before that. Of many alike in a row, the first switches."""
        if is_wanted != self._waits_for_disk:
            self._writer.execute(f"PRAGMA synchronous = {'FULL' if is_wanted else 'NORMAL'}")
            self._waits_for_disk = is_wanted

    def sequence(self) -> int:
        """See Store."""
        with our_errors(self.location):
            return journal.last(self._connection())[0]

    def sequence_at(self, moment: Moment) -> int:
        """See Store."""
        with our_errors(self.location):
            return journal.sequence_at(self._connection(), moment)

    def at(self, sequence: int) -> Store:
        """See Store."""
        raise Denied("There is no looking back here.")

    def elsewhere(self, path: Path) -> Asked:
        """See Store."""
        raise Denied("Other stores cannot be asked from here.")

    def in_memory(self) -> Scratch:
        """See Store."""
        raise Denied("Other stores cannot be asked from here.")

    def use_models(self, *names: str) -> None:
        """See Store."""
        self._used = names
        with our_errors(self.location):
            current = as_json([row[0] for name in names if (row := first(self._writer, MODEL, (name,)))])
            if self._writer.execute(FOREIGN_VECTORS, (current,)).fetchone():
                with self.write(operation="model", actor="mnemic", at=0):
                    self._writer.execute(UNEMBED_FOREIGN, (current,))

    def backup(self, target: Path, progress: Progress | None = None) -> None:
        """See Store."""
        if target.exists() and target.samefile(self._path):
            raise Invalid("target: is the database itself", "target")
        with our_errors(target.name):
            source = self._connect()
            try:
                back_up(source, target, progress)
            except OSError as error:
                raise Invalid(
                    f"target: {target.name} cannot be written: {error.strerror}", "target"
                ) from None
            finally:
                source.close()

    def probe(self) -> None:
        """See Store."""
        with our_errors(self.location), closing(self._connect()) as connection:
            connection.execute("BEGIN")
            if not checking.probe(connection):
                raise StoreUnusable("The index of words is damaged. `mnemic doctor` says what to do.")

    def check(self) -> list[str]:
        """See Store."""
        # In one transaction, since others write meanwhile. On a connection of its own, since one that has
        # read the words index before takes another connection's writes to it for damage.
        with our_errors(self.location), closing(self._connect()) as connection:
            connection.execute("BEGIN")
            return checking.check(connection)

    def close(self) -> None:
        """See Store."""
        with self.writing.threads:
            self._closed = True
            with self._lock:
                opened = list(self._open)
            for connection in opened:
                close_in_time(connection)
            self.writing.close()

    # -- what readers and writers share

    def namespace_id(self, connection: apsw.Connection, name: str, *, create: bool = False) -> int | None:
        """The number a namespace has in the indexes."""
        known = self._namespaces.get(name)
        if known is not None:
            return known
        row = first(connection, NAMESPACE_ID, (name,))
        if row is None and not create:
            return None
        if row is None:
            connection.execute(ADD_NAMESPACE, (name,))
            row = (connection.last_insert_rowid(),)
        self._namespaces[name] = int(row[0])
        return int(row[0])

    def index_substrings(self) -> None:
        """Bring the index of substrings nearer to the newest change; while others write, it stays behind."""
        with suppress(Busy, StoreUnusable):
            for _ in range(substrings.BATCHES):
                if not substrings.is_behind(self._connection()) or not self.writing.try_acquire():
                    return
                try:
                    self._index_some_substrings()
                finally:
                    self.writing.release()
                time.sleep(BREATH_SECONDS)

    def _index_some_substrings(self) -> None:
        """One step of the index, in a transaction of its own so that others come between."""
        # Whoever searches inside a transaction of theirs has it open on this connection.
        if not self._writer.in_transaction:
            with self.write(operation="index", actor="mnemic", at=0, durable=False, waits=False):
                substrings.catch_up(self._writer)

    def forget_names(self) -> None:
        """Drop what was learnt inside a transaction that did not commit."""
        self._namespaces.clear()
        self._models.clear()

    def model_id(self, connection: apsw.Connection, name: str, dimension: int) -> int:
        """The number of a model, known from now on if it was not."""
        known = self._numbered_model(connection, name)
        if known:
            return known[0]
        connection.execute(ADD_MODEL, (name, dimension))
        return connection.last_insert_rowid()

    def known_model(self, connection: apsw.Connection, name: str) -> tuple[int, int] | None:
        """The number and the dimension of a model in use; None while no vector was made by it."""
        return self._numbered_model(connection, name) if name in self._used else None

    def _numbered_model(self, connection: apsw.Connection, name: str) -> tuple[int, int] | None:
        known = self._models.get(name)
        if known is None and (row := first(connection, MODEL, (name,))):
            known = self._models[name] = (row[0], row[1])
        return known

    def matrices(self, connection: apsw.Connection) -> dict[str, Matrix]:
        """The vectors of every model in use that has any, up to date, by the model's name."""
        known = [name for (name,) in rows(connection, MODELS) if name in self._used]
        found = ((name, self.matrix(connection, name)) for name in known)
        return {name: matrix for name, matrix in found if matrix is not None}

    @property
    def is_asked_often(self) -> bool:
        """Whether so many questions came that this is no command that ends with its answer."""
        return self._words_asked > WORTH_KEEPING

    def has_stems(self, connection: apsw.Connection) -> bool:
        """Whether there was ever a text in the index whose words have stems of their own."""
        self._has_stems = self._has_stems or words.holds_stems(connection)
        return self._has_stems

    def lexicon(
        self, connection: apsw.Connection, *, is_question: bool, is_needed: bool = False
    ) -> Lexicon | None:
        """What is kept in memory of the words; None in a transaction, whose words nobody else may see.

        And None at first, unless it *is_needed*. What is no question belongs to one that was asked before.
        """
        if connection.in_transaction:
            return None
        with self._lock:
            self._words_asked += is_question
            if self._lexicon is None and (is_needed or self.is_asked_often):
                from mnemic.storage.sqlite.lexicon import Lexicon

                self._lexicon = Lexicon()
            return self._lexicon

    def openings(self, characters: int, holds: Callable[[str], bool]) -> Openings:
        """What is known of the first *characters* of statements: whether they pass *holds*."""
        known = self._openings.get((characters, holds))
        return known or self._openings.setdefault((characters, holds), Openings(characters, holds))

    def matrix(self, connection: apsw.Connection, name: str) -> Matrix | None:
        """The vectors of a model in use, up to date; None while it has none."""
        model = self.known_model(connection, name)
        if model is None:
            return None
        matrix = self._matrix_for(connection, *model)
        matrix.refresh(connection)
        return matrix

    def _matrix_for(self, connection: apsw.Connection, model_id: int, dimension: int) -> Matrix:
        from mnemic.storage.sqlite.vectors import Matrix

        # What a transaction sees may be taken back, or be older than what others see: it gets its own.
        if connection.in_transaction:
            return Matrix(model_id, dimension)
        with self._lock:
            if model_id not in self._matrices:
                self._matrices[model_id] = Matrix(model_id, dimension)
            return self._matrices[model_id]
