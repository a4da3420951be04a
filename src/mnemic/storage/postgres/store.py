"""The store we keep in a PostgreSQL database, and itself in the past."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import psycopg

from mnemic.errors import Denied, StoreUnusable
from mnemic.model.access import EVERYTHING, Scope
from mnemic.model.change import Position
from mnemic.model.time import Moment
from mnemic.storage.base import Progress, Reader, Store, Writer
from mnemic.storage.engine_errors import closed
from mnemic.storage.index_port import OpenIndex
from mnemic.storage.postgres import integrity, journal, pgvector, upkeep
from mnemic.storage.postgres.as_of import PastStore
from mnemic.storage.postgres.capacity import INDEX_BYTES, Capacity
from mnemic.storage.postgres.connection import Held, Pool, Pooled, Row, location, our_errors, patiently
from mnemic.storage.postgres.database import OpenedStore
from mnemic.storage.postgres.index_source import BEGIN, PostgresSource
from mnemic.storage.postgres.migrations import migrate, refuse_unfinished_copy
from mnemic.storage.postgres.namespace_filter import ANYWHERE, NamespaceFilter
from mnemic.storage.postgres.namespace_locks import locked
from mnemic.storage.postgres.notifications import Announcer, Listener
from mnemic.storage.postgres.reader import PostgresReader
from mnemic.storage.postgres.row_security import OFF, is_active
from mnemic.storage.postgres.rows import row, value
from mnemic.storage.postgres.table_rows import rows_now
from mnemic.storage.postgres.writer import PostgresWriter
from mnemic.storage.scoped import scoped_reader, scoped_writer
from mnemic.storage.tables import RowSource

T = TypeVar("T")

WORTH_KEEPING = 3
"""A process that asks for words more often is no command that ends with its answer."""
POLL_SECONDS = 1.0
"""How often one who waits for a change looks for those that no notification told of."""

FOREIGN_VECTORS = """
SELECT 1 FROM model d
WHERE d.name != ALL(%(names)s::text[])
  AND EXISTS (SELECT 1 FROM statement s WHERE s.model_id = d.id AND s.until IS NULL)
LIMIT 1
"""
UNEMBED_FOREIGN = """
UPDATE statement SET model_id = NULL
WHERE until IS NULL AND model_id IN (SELECT id FROM model WHERE name != ALL(%(names)s::text[]))
"""
IS_STANDBY = """
SELECT pg_is_in_recovery()
"""
MAY_WRITE = """
SELECT has_table_privilege('journal', 'INSERT')
"""
STATUS = """
SELECT pg_xact_status(%s::text::xid8)
"""
WAS_WRITTEN = """
SELECT 1 FROM journal WHERE sequence = %s AND xid = %s::text::xid8
"""


class PostgresStore(OpenedStore):
    """The Store of the PostgreSQL engine."""

    def __init__(
        self, url: str, open_index: OpenIndex, *, durable: bool = True, index_bytes: int = INDEX_BYTES
    ):
        where = location(url)
        super().__init__(Pool(url), where, open_index)
        self._durable = durable
        self._past: PastStore | None = None
        self._words_asked = 0
        self._committed = threading.Condition()
        self._commits = 0
        self._announcer = Announcer(self._pool)
        self._listener = Listener(url, self._wake)
        try:
            with our_errors(where), self._pool.taken() as connection:
                migrate(connection, where)
                refuse_unfinished_copy(connection, where)
                self.capacity = Capacity(index_bytes, pgvector.probe(connection))
                self.has_row_security = is_active(connection)
        except BaseException:
            self.close()
            raise

    def read(self, scope: Scope = EVERYTHING) -> Reader:
        """A view of the newest committed state, limited to *scope*."""
        if self._pool.is_closed:
            raise closed()
        with our_errors(self.location):
            reader = self.read_all(self.row_scope(scope), self.here(scope.visible))
        return scoped_reader(reader, scope, self.read_all(self.row_scope(EVERYTHING), self.here(None)))

    def read_all(self, row_scope: str | None, here: NamespaceFilter = ANYWHERE) -> PostgresReader:
        """A reader of the newest committed state *here*, of all rows that *row_scope* lets it see."""
        return PostgresReader(self, Pooled(self._pool, row_scope, here))

    @contextmanager
    def snapshot(self, scope: Scope = EVERYTHING) -> Iterator[Reader]:
        """A reader that sees one moment."""
        with self._look_over(scope) as db:
            yield scoped_reader(PostgresReader(self, db), scope, PostgresReader(self, db.everywhere))

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
        """Run *work* in one transaction under the locks of the namespaces *scope* is about, again where that helps."""

        def change(scope: Scope) -> T:
            return self.change_under(scope, operation, actor, at, work, durable=durable, waits=waits)

        return locked(scope, change)

    def change_under(
        self,
        scope: Scope,
        operation: str,
        actor: str,
        at: Moment,
        work: Callable[[Writer], T],
        *,
        durable: bool,
        waits: bool,
    ) -> T:
        """Run *work* in one transaction under exactly these locks; NotLocked if it needs others."""

        def begun(db: Held, written: NamespaceFilter) -> T:
            writer = PostgresWriter(self, db, written, operation, actor, at)
            if not (durable and self._durable):
                db.later("SET LOCAL synchronous_commit = off")
            writer.lock(scope.asked, waits=waits)
            result = work(scoped_writer(writer, scope, PostgresReader(self, db.everywhere)))
            self._commit(db, writer)
            return result

        with our_errors(self.location):
            return patiently(self._pool, lambda: self._transaction(scope, begun))

    def _transaction(self, scope: Scope, begun: Callable[[Held, NamespaceFilter], T]) -> T:
        seen = self.here(scope.visible)
        written = self.here(scope.visible if scope.asked is None else scope.asked, "written")
        with self._pool.taken() as connection:
            db = Held(connection, self.row_scope(scope), seen)
            db.later("BEGIN")
            try:
                return begun(db, written)
            finally:
                _roll_back(connection)

    def _commit(self, db: Held, writer: PostgresWriter) -> None:
        """Commit, and find out whether it was if the connection is lost meanwhile."""
        xid = writer.transaction
        try:
            db.run("COMMIT")
        except psycopg.OperationalError:
            if not patiently(self._pool, lambda: self._was_committed(xid, writer)):
                raise
        self._spaces |= writer.made_spaces
        writer.know_terms()
        if writer.batches:
            self.latest = max(self.latest, writer.moment)
            self._wake()
            self._announcer.announce(writer.moment)

    def _was_committed(self, xid: str, writer: PostgresWriter) -> bool:
        """Whether the transaction that was lost at its end is there. What it wrote tells it from another server's."""
        db = self.whole
        if writer.batches:
            return row(db, WAS_WRITTEN, (writer.batches[0], xid)) is not None
        return bool(value(db, STATUS, (xid,)) == "committed")

    def newest(self) -> Position:
        """The position of the newest settled change."""

        def ask() -> Position:
            with self.held() as db:
                return journal.newest(db)

        with our_errors(self.location):
            return patiently(self._pool, ask)

    def wait(self, after: Position, seconds: float) -> Position:
        """Wait for a settled change after *after*, at most so long; notifications tell of what others commit."""
        until = time.monotonic() + seconds
        known, newest = self._commits, self.newest()
        while newest <= after and (left := until - time.monotonic()) > 0:
            self._listener.start()
            known = self._await_commit(known, min(left, POLL_SECONDS))
            if self._pool.is_closed:
                break
            newest = self.newest()
        return newest

    def _await_commit(self, known: int, seconds: float) -> int:
        """How many commits are known of by now, once that is another number than *known*; wait at most so long."""
        with self._committed:
            self._committed.wait_for(lambda: self._commits != known, seconds)
            return self._commits

    def _wake(self) -> None:
        """Wake those who wait for a change."""
        with self._committed:
            self._commits += 1
            self._committed.notify_all()

    def at(self, when: Position | Moment) -> Store:
        """The store as of a position or a moment: readable like any other, never writable."""
        past = self._past
        with our_errors(self.location):
            position = when if isinstance(when, Position) else journal.position_at(self.whole, when)
            if past is None or not past.still_shows(position, self._used):
                self._past = past = PastStore(self, self._pool, position)
        return past

    def note_question(self) -> None:
        """Have all words read in the background, once this process has asked often."""
        self._words_asked += 1
        if self._words_asked > WORTH_KEEPING and self.index.wants_postings:
            self.index.warm_up(self._read_ahead, psycopg.Error)

    def _read_ahead(self) -> Iterator[None]:
        index = self.index
        with our_errors(self.location), self.held() as db:
            yield from index.read_ahead(PostgresSource(db))

    def use_models(self, *names: str) -> None:
        """Compare vectors of these models only, each with its own; statements that have none become pending."""
        self._used = names
        values = {"names": list(names)}
        with our_errors(self.location):
            db = self.whole
            if row(db, FOREIGN_VECTORS, values) and not value(db, IS_STANDBY):
                db.changed(UNEMBED_FOREIGN, values)

    def backup(self, target: Path, progress: Progress | None = None) -> None:
        """Denied: a server has its own ways."""
        raise Denied(
            "A PostgreSQL database is backed up with `pg_dump`, or copied to a file with `mnemic copy`."
        )

    def probe(self) -> None:
        """Read the newest memory and find it by its words; StoreUnusable if that fails."""
        with self._look_over() as db:
            if not integrity.probe(db):
                raise StoreUnusable("The index of words is damaged. `mnemic doctor` says what to do.")

    def check(self) -> list[str]:
        """Faults between tables and indexes; empty if there are none."""
        with self._look_over() as db:
            return integrity.check(db)

    def lack(self) -> str | None:
        """What the server lacks, in a sentence or two; None if it lacks nothing."""
        lacks = [self.capacity.capability.lack, None if self.has_row_security else OFF, self._lacking_right()]
        return " ".join(lack for lack in lacks if lack) or None

    def _lacking_right(self) -> str | None:
        with our_errors(self.location):
            return None if value(self.whole, MAY_WRITE) else "This role may read, but not write."

    def upkeep(self) -> None:
        """Refresh the statistics and build the vector indexes that search by the server relies on."""
        with our_errors(self.location), self.held(None) as db:
            upkeep.run(db, self.capacity.capability.schema)
            if self.capacity.knn(db) is not None:
                self.index.close()  # what was loaded while the store was smaller is not used any more
                self.index = self.open_index(None)

    @contextmanager
    def row_source(self) -> Iterator[RowSource]:
        """Its rows at this moment, for a copy."""
        with self._pool.taken() as connection, rows_now(connection, self.location) as found:
            yield found

    @contextmanager
    def _look_over(self, scope: Scope = EVERYTHING) -> Iterator[Held]:
        """A connection that sees one moment."""
        here = self.here(scope.visible)
        with our_errors(self.location), self.held(self.row_scope(scope), here) as db:
            db.run(BEGIN)
            try:
                yield db
            finally:
                _roll_back(db.connection)

    def close(self) -> None:
        """Close the store. Safe to call twice."""
        self.index.close()
        self._announcer.close()
        self._listener.close()
        self._pool.close()
        self._wake()


def _roll_back(connection: psycopg.Connection[Row]) -> None:
    """End a transaction that was not committed; a connection that is lost has none."""
    if connection.info.transaction_status is not psycopg.pq.TransactionStatus.IDLE and not connection.broken:
        try:
            connection.execute("ROLLBACK")
        except psycopg.Error:
            connection.close()
