"""An open database: one file, one writer at a time, a connection for each reading thread."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import apsw

from mnemic.errors import Busy, Denied, Invalid, StoreUnusable
from mnemic.model.access import EVERYTHING, Scope
from mnemic.model.change import Position
from mnemic.model.time import Moment
from mnemic.storage.base import Progress, Reader, Store, Writer
from mnemic.storage.engine_errors import closed
from mnemic.storage.index_port import Index
from mnemic.storage.scoped import scoped_reader, scoped_writer
from mnemic.storage.sqlite import fts, integrity, journal, trigram
from mnemic.storage.sqlite.connection import close_in_time, connect, our_errors
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.migrations import back_up
from mnemic.storage.sqlite.reader import SqliteReader
from mnemic.storage.sqlite.row_cache import Openings, Sizes
from mnemic.storage.sqlite.rows import row as first
from mnemic.storage.sqlite.rows import rows
from mnemic.storage.sqlite.write_lock import Turns
from mnemic.storage.sqlite.writer import SqliteWriter
from mnemic.storage.tables import RowSource

T = TypeVar("T")

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
"""A process that asks for words more often is no command that ends with its answer."""
POLL_SECONDS = 0.25
"""How often one who waits for a change looks for those of other processes; that takes some 20 µs."""
BREATH_SECONDS = 0.005
"""How long the write lock is left to others between two steps of a long piece of work."""


class OpenedStore:
    """What every kind of store of the SQLite engine does: the one we keep, a look back, someone else's."""

    stands_still = False
    """Nothing ever changes, so that a moment need not be held."""

    def __init__(
        self,
        path: Path,
        writer: apsw.Connection,
        index: Index,
        *,
        durable: bool = False,
        turns: Path | None = None,
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
        self.frequencies = fts.Frequencies()
        self.rarity = trigram.Rarity()
        self.sizes = Sizes()
        self._openings: dict[int, Openings] = {}
        self._words_asked = 0
        self._has_stems = False
        self._keeps_words = False
        self.index = index
        self._lock = threading.Lock()
        self._committed = threading.Condition()
        self.writing = Turns(turns)

    @property
    def location(self) -> str:
        """Where it lives, as a person would name it."""
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

    def read(self, scope: Scope = EVERYTHING) -> Reader:
        """A view of the newest committed state, limited to *scope*."""
        return scoped_reader(SqliteReader(self, self._connection()), scope)

    @contextmanager
    def snapshot(self, scope: Scope = EVERYTHING) -> Iterator[Reader]:
        """A reader that sees one moment."""
        connection = self._connect()
        try:
            connection.execute("BEGIN")
            yield scoped_reader(SqliteReader(self, connection), scope)
        finally:
            connection.close()

    def change(
        self,
        scope: Scope,
        operation: str,
        actor: str,
        at: Moment,
        work: Callable[[Writer], T],
        *,
        durable: bool = True,
        waits: bool = True,
    ) -> T:
        """Run *work* in one transaction under the write lock of the file, for any *scope*."""
        with self.write(operation=operation, actor=actor, at=at, durable=durable, waits=waits) as tx:
            return work(scoped_writer(tx, scope))

    def write(
        self, *, operation: str, actor: str, at: Moment, durable: bool = True, waits: bool = True
    ) -> SqliteWriter:
        """A write transaction, for a `with` block; Busy at once without *waits* while another writes."""
        if self._closed:
            raise closed()
        is_durable = durable and self._durable
        return SqliteWriter(self, self._writer, operation, actor, at, durable=is_durable, waits=waits)

    def wait_for_disk(self, is_wanted: bool) -> None:
        """Let transactions end when the disk has them, or before that. Of many alike in a row, the first switches."""
        if is_wanted != self._waits_for_disk:
            self._writer.execute(f"PRAGMA synchronous = {'FULL' if is_wanted else 'NORMAL'}")
            self._waits_for_disk = is_wanted

    def newest(self) -> Position:
        """The position of the newest change."""
        with our_errors(self.location):
            return Position(number=journal.last(self._connection())[0])

    def wait(self, after: Position, seconds: float) -> Position:
        """Wait for a change after *after*, at most so long; the newest position. What other processes commit is
        noticed by polling.
        """
        until = time.monotonic() + seconds
        newest = self.newest()
        with self._committed:
            while newest <= after and (left := until - time.monotonic()) > 0:
                self._committed.wait(min(left, POLL_SECONDS))
                if self._closed:
                    break
                newest = self.newest()
        return newest

    def wake(self) -> None:
        """Wake those who wait for a change."""
        with self._committed:
            self._committed.notify_all()

    def at(self, when: Position | Moment) -> Store:
        """The store as of a position or a moment: readable like any other, never writable."""
        raise Denied("This store cannot be read as of an earlier moment.")

    def use_models(self, *names: str) -> None:
        """Compare vectors of these models only, each with its own; statements that have none become pending."""
        self._used = names
        with our_errors(self.location):
            current = as_json([row[0] for name in names if (row := first(self._writer, MODEL, (name,)))])
            if self._writer.execute(FOREIGN_VECTORS, (current,)).fetchone():
                with self.write(operation="model", actor="mnemic", at=0):
                    self._writer.execute(UNEMBED_FOREIGN, (current,))

    def backup(self, target: Path, progress: Progress | None = None) -> None:
        """Copy the whole database to *target* while others read and write."""
        if target.exists() and target.samefile(self._path):
            raise Invalid("target: is the database itself", "target")
        with our_errors(target.name):
            source = self._connect()
            try:
                with our_errors(self.location):
                    integrity.refuse_damage(source, self.location)
                back_up(source, target, progress)
            except OSError as error:
                raise Invalid(
                    f"target: {target.name} cannot be written: {error.strerror}", "target"
                ) from None
            finally:
                source.close()

    @contextmanager
    def row_source(self) -> Iterator[RowSource]:
        """Its rows at this moment, for a copy."""
        from mnemic.storage.sqlite.table_rows import SqliteRows

        with closing(self._connect()) as connection:
            connection.execute("BEGIN")
            yield SqliteRows(connection, self.location)

    def probe(self) -> None:
        """Read the newest memory and find it by its words; StoreUnusable if that fails."""
        with our_errors(self.location), closing(self._connect()) as connection:
            connection.execute("BEGIN")
            if not integrity.probe(connection):
                raise StoreUnusable("The index of words is damaged. `mnemic doctor` says what to do.")

    def lack(self) -> str | None:
        """None: there is no server."""
        return None

    def upkeep(self) -> None:
        """Nothing: writes keep the words index, and the index in memory follows the journal."""

    def check(self) -> list[str]:
        """Faults in the file and between its tables and indexes; empty if there are none."""
        # In one transaction, since others write meanwhile. On a connection of its own, since one that has
        # read the words index before takes another connection's writes to it for damage.
        with our_errors(self.location), closing(self._connect()) as connection:
            connection.execute("BEGIN")
            return integrity.check(connection)

    def close(self) -> None:
        """Close the database. Safe to call twice."""
        with self.writing.threads:
            self._closed = True
            self.wake()
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
            for _ in range(trigram.BATCHES):
                if not trigram.is_behind(self._connection()) or not self.writing.try_acquire():
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
                trigram.catch_up(self._writer)

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
        """The id and dimension of a current model; None while it has no vectors."""
        return self._numbered_model(connection, name) if name in self._used else None

    def _numbered_model(self, connection: apsw.Connection, name: str) -> tuple[int, int] | None:
        known = self._models.get(name)
        if known is None and (row := first(connection, MODEL, (name,))):
            known = self._models[name] = (row[0], row[1])
        return known

    def known_models(self, connection: apsw.Connection) -> dict[str, tuple[int, int]]:
        """The id and dimension of each current model with vectors, by its name."""
        named = (name for (name,) in rows(connection, MODELS) if name in self._used)
        found = {name: self.known_model(connection, name) for name in named}
        return {name: model for name, model in found.items() if model}

    @property
    def is_asked_often(self) -> bool:
        """Whether this process answers many questions and is no short command."""
        return self._words_asked > WORTH_KEEPING

    def has_stems(self, connection: apsw.Connection) -> bool:
        """Whether there was ever a text in the index whose words have stems of their own."""
        self._has_stems = self._has_stems or fts.holds_stems(connection)
        return self._has_stems

    def keeps_words(self, *, is_question: bool, is_needed: bool = False) -> bool:
        """Whether the index serves words, from now on if it *is_needed* or this is asked often.

        Follow-up reads belong to an earlier question.
        """
        with self._lock:
            self._words_asked += is_question
            self._keeps_words = self._keeps_words or is_needed or self.is_asked_often
            return self._keeps_words

    def openings(self, characters: int) -> Openings:
        """The cache of the first *characters* of statements."""
        known = self._openings.get(characters)
        return known or self._openings.setdefault(characters, Openings(characters))
