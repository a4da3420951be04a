"""The store as of an earlier change: the same reader, over the versions that were valid then."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import apsw

from mnemic.model.access import EVERYTHING, Scope
from mnemic.model.change import Position
from mnemic.model.filter import Filter
from mnemic.model.time import Moment
from mnemic.storage.base import Progress, Reader, Traits
from mnemic.storage.engine_errors import past_unwritable, past_without_backup
from mnemic.storage.past_search import PastFrequencies, PastSearch
from mnemic.storage.scoped import scoped_reader
from mnemic.storage.sqlite import edges, memories, sessions
from mnemic.storage.sqlite.connection import in_our_words
from mnemic.storage.sqlite.database import OpenedStore
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.past_index import PastIndex
from mnemic.storage.sqlite.reader import ALL_LIVING, SqliteReader
from mnemic.storage.sqlite.rows import rows
from mnemic.storage.sqlite.search_reader import TRAITS

if TYPE_CHECKING:
    from mnemic.storage.index_port import Snapshot
    from mnemic.storage.sqlite.store import SqliteStore

# The moment is a value and no part of the views, so that a connection serves many moments.
MOMENT = """
CREATE TEMP TABLE moment (sequence INTEGER NOT NULL);
INSERT INTO moment VALUES (0);
"""
MOVE = """
UPDATE temp.moment SET sequence = ?
"""
_THEN = "(SELECT sequence FROM temp.moment)"
# Views hide the tables of the same names, so that every query of the present reads the past.
VERSIONED = f"""
CREATE TEMP VIEW {{table}} AS
SELECT {{columns}} FROM main.{{table}} WHERE since <= {_THEN}
UNION ALL
SELECT {{columns}} FROM main.{{table}}_past WHERE until > {_THEN} AND since <= {_THEN};
"""
# Statements in one part: of two, SQLite would read all for each memory whose body is asked for.
VIEWS = f"""
CREATE TEMP VIEW statement AS
SELECT id, memory_id, position, text, digest, since, NULL AS until, model_id FROM main.statement
WHERE since <= {_THEN} AND (until IS NULL OR until > {_THEN});

CREATE TEMP VIEW tag AS
SELECT t.name, t.memory_id FROM main.tag t CROSS JOIN main.memory m ON m.id = t.memory_id WHERE m.since <= {_THEN}
UNION ALL
SELECT j.value, p.id FROM main.memory_past p CROSS JOIN json_each(p.tags) j
WHERE p.until > {_THEN} AND p.since <= {_THEN} AND p.tags IS NOT NULL;

CREATE TEMP VIEW journal AS
SELECT sequence, batch, at, actor, operation, subject, subject_id, before, after FROM main.journal
WHERE sequence <= {_THEN};

-- The index of substrings is of the present: without its mark the past is looked through.
CREATE TEMP VIEW meta AS SELECT key, value FROM main.meta WHERE key != 'gram';
"""
COLUMNS = {"memory": memories.COLUMNS, "edge": edges.COLUMNS, "session": sessions.COLUMNS}
PURGED_SINCE = """
SELECT 1 FROM main.journal WHERE sequence > ? AND before IS NULL AND after IS NULL LIMIT 1
"""
# Each part by its own index.
ANY_PENDING = """
SELECT EXISTS (SELECT 1 FROM main.statement WHERE model_id IS NULL AND until IS NULL AND since <= :sequence)
  OR EXISTS (SELECT 1 FROM main.statement
    WHERE model_id IS NULL AND until IS NOT NULL AND until > :sequence AND since <= :sequence)
"""
_BEFORE = "session_id = m.session_id AND id < m.id AND state = 'living' AND since <= :sequence"
_AFTER = "session_id = m.session_id AND id > m.id AND state = 'living' AND since <= :sequence"
# Each part by its own index: joined to the views, whole sessions would be read for each memory.
SESSION_NEIGHBOURS = f"""
SELECT m.id,
  nullif(max(coalesce((SELECT max(id) FROM main.memory WHERE {_BEFORE}), 0), coalesce((
    SELECT max(id) FROM main.memory_past WHERE {_BEFORE} AND until > :sequence), 0)), 0),
  nullif(min(coalesce((SELECT min(id) FROM main.memory WHERE {_AFTER}), :last), coalesce((
    SELECT min(id) FROM main.memory_past WHERE {_AFTER} AND until > :sequence), :last)), :last)
FROM memory m WHERE m.id IN (SELECT value FROM json_each(:ids)) AND m.session_id IS NOT NULL
"""
LAST_ID = 1 << 62
MOST_FREE = 2
"""So many connections wait for the next moment. Each keeps up to 16 MB of pages."""


def show_past(connection: apsw.Connection) -> None:
    """Let *connection* see the rows as they were after the change that `moment` names."""
    connection.execute(MOMENT)
    for table, columns in COLUMNS.items():
        connection.execute(VERSIONED.format(table=table, columns=", ".join(columns)))
    connection.execute(VIEWS)


class PastConnections:
    """Connections that show the past, handed on from one moment to the next. Safe between threads.

    A new one reads its pages and prepares its queries anew, which takes longer than a recall.
    """

    def __init__(self, connect: Callable[[], apsw.Connection]):
        self._connect = connect
        self._free: list[apsw.Connection] = []
        self._lock = threading.Lock()
        self._is_closed = False

    def take(self, sequence: int) -> apsw.Connection:
        """A connection of the caller's own that shows the rows after the change with this number."""
        with self._lock:
            connection = self._free.pop() if self._free else None
        if connection is None:
            connection = self._connect()
            show_past(connection)
        connection.execute(MOVE, (sequence,))
        return connection

    def give_back(self, connections: list[apsw.Connection]) -> None:
        """Take these for the next moments; those beyond the limit are closed."""
        with self._lock:
            while connections:
                connection = connections.pop()
                if self._is_closed or len(self._free) == MOST_FREE:
                    connection.close()
                else:
                    self._free.append(connection)

    def close(self) -> None:
        """Close those that are free now, and the others when they are given back."""
        with self._lock:
            self._is_closed = True
            while self._free:
                self._free.pop().close()


def was_purged(connection: apsw.Connection, seen: Position) -> bool:
    """Whether something has been purged after *seen*."""
    return connection.execute(PURGED_SINCE, (seen.number,)).fetchone() is not None


@in_our_words(PastSearch)
class PastReader(PastSearch, SqliteReader):
    """A Reader of the past. Word statistics are those of the present."""

    _store: PastStore

    def __init__(self, store: PastStore, connection: apsw.Connection):
        super().__init__(store, connection)
        self._past = store.past_index
        self._present = store.present.read_all()

    def _columns(self, at: Snapshot, wanted: Filter, *, is_worth_loading: bool = False) -> None:
        """None: the columns are those of the present."""

    def _is_large(self, wanted: Filter) -> bool:
        return False

    def backlog(self, wanted: Filter = ALL_LIVING, *, looked_at: int | None = None) -> int:
        """How many statements had no vectors and have none today."""
        if not self._number(ANY_PENDING, {"sequence": self._past.sequence}):
            return 0
        return super().backlog(wanted, looked_at=looked_at)

    def _traits(self, memory_ids: Sequence[int]) -> dict[int, Traits]:
        """The traits these memories had; unknown numbers are left out."""
        found = rows(self._db, TRAITS, (as_json(list(memory_ids)),))
        return {one[0]: Traits._make(one[1:]) for one in found}

    def _neighbours(self, memory_ids: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """The memories right before and after each in its session."""
        values = {"ids": as_json(list(memory_ids)), "sequence": self._past.sequence, "last": LAST_ID}
        found = rows(self._db, SESSION_NEIGHBOURS, values)
        return {one[0]: tuple(number for number in one[1:] if number is not None) for one in found}


class PastStore(OpenedStore):
    """A Store that can only be read. Making one costs nothing; the first question reads what has changed since."""

    stands_still = True

    def __init__(self, present: SqliteStore, position: Position):
        self.present = present
        self.past_index = PastIndex(position.number, present.past_vectors())
        self._position = position
        self._seen = present.newest()
        self.past_frequencies = PastFrequencies(present.newest)
        self._taken: list[apsw.Connection] = []
        weakref.finalize(self, present.past_connections.give_back, self._taken).atexit = False
        connection = self._connect()
        super().__init__(present.path, connection, present.open_index(None))
        self._local.connection = connection
        self._used = present.used_models

    def still_shows(self, connection: apsw.Connection, position: Position, models: tuple[str, ...]) -> bool:
        """Whether this is the store at *position*, with nothing that has been purged."""
        if (position, models) != (self._position, self._used):
            return False
        return not was_purged(connection, self._seen)

    def _connect(self) -> apsw.Connection:
        connection = self.present.past_connections.take(self._position.number)
        self._taken.append(connection)
        return connection

    def read(self, scope: Scope = EVERYTHING) -> Reader:
        """A reader of what was in *scope*."""
        return scoped_reader(PastReader(self, self._connection()), scope)

    @contextmanager
    def snapshot(self, scope: Scope = EVERYTHING) -> Iterator[Reader]:
        """A reader of the past, which does not change."""
        yield self.read(scope)

    def newest(self) -> Position:
        """The position at which this is the store."""
        return self._position

    def check(self) -> list[str]:
        """Integrity check of the file: the past is part of it."""
        return self.present.check()

    def index_substrings(self) -> None:
        """Not done: substrings of the past are looked for in its texts."""

    def backup(self, target: Path, progress: Progress | None = None) -> NoReturn:
        """Denied."""
        raise past_without_backup()

    def write(
        self, *, operation: str, actor: str, at: Moment, durable: bool = True, waits: bool = True
    ) -> NoReturn:
        """Denied."""
        raise past_unwritable()
