"""The store as of an earlier change: the same reader, over the versions that were valid then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from mnemic.errors import Denied
from mnemic.model.access import EVERYTHING, Scope
from mnemic.model.change import Position
from mnemic.model.time import Moment
from mnemic.storage.base import Progress, Reader, Store, Traits
from mnemic.storage.engine_errors import past_unwritable, past_without_backup
from mnemic.storage.past_search import PastFrequencies, PastSearch
from mnemic.storage.postgres.connection import (
    Executor,
    Held,
    Pool,
    Row,
    Values,
    in_our_words,
    patiently,
)
from mnemic.storage.postgres.database import OpenedStore
from mnemic.storage.postgres.namespace_filter import NamespaceFilter
from mnemic.storage.postgres.past_index import PastIndex
from mnemic.storage.postgres.reader import PostgresReader
from mnemic.storage.postgres.row_security import EVERYWHERE
from mnemic.storage.postgres.rows import routed, row, rows
from mnemic.storage.postgres.search_reader import TRAITS
from mnemic.storage.scoped import scoped_reader

if TYPE_CHECKING:
    from mnemic.storage.postgres.store import PostgresStore

SHOW_PAST = """
SET LOCAL search_path = mnemic_past, mnemic;
SET LOCAL mnemic.sequence = {sequence}
"""
PURGED_SINCE = """
SELECT 1 FROM mnemic.journal WHERE sequence > %s AND before IS NULL AND after IS NULL LIMIT 1
"""
_BEFORE = "session_id = m.session_id AND id < m.id AND state = 'living' AND since <= %(sequence)s"
_AFTER = "session_id = m.session_id AND id > m.id AND state = 'living' AND since <= %(sequence)s"
# Each part by its own index: joined to the views, whole sessions would be read for each memory.
SESSION_NEIGHBOURS = f"""
SELECT m.id,
  nullif(greatest(coalesce((SELECT max(id) FROM mnemic.memory WHERE {_BEFORE}), 0), coalesce((
    SELECT max(id) FROM mnemic.memory_past WHERE {_BEFORE} AND until > %(sequence)s), 0)), 0),
  nullif(least(coalesce((SELECT min(id) FROM mnemic.memory WHERE {_AFTER}), %(last)s::bigint), coalesce((
    SELECT min(id) FROM mnemic.memory_past WHERE {_AFTER} AND until > %(sequence)s), %(last)s::bigint)),
    %(last)s::bigint)
FROM memory m WHERE m.id = ANY(%(ids)s::bigint[]) AND m.session_id IS NOT NULL
"""
LAST_ID = 1 << 62


class PastPooled:
    """Statements that see the rows as they were after the change with this number."""

    def __init__(self, pool: Pool, sequence: int, row_scope: str | None, here: NamespaceFilter):
        self._pool = pool
        self._sequence = sequence
        self.row_scope = row_scope
        self.here = here

    @property
    def everywhere(self) -> PastPooled:
        """The same for statements that must see the rows of every namespace."""
        row_scope = self.row_scope and EVERYWHERE
        return PastPooled(self._pool, self._sequence, row_scope, self.here.everywhere)

    def run(self, sql: str, values: Values = ()) -> list[Row]:
        """The rows of the answer."""
        return self.run_all([(sql, values)])[0]

    def run_all(self, statements: Sequence[tuple[str, Values]]) -> list[list[Row]]:
        """The rows of each answer."""

        def ask() -> list[list[Row]]:
            with self._pool.taken() as connection, connection.transaction():
                connection.execute(SHOW_PAST.format(sequence=int(self._sequence)))
                return Held(connection, self.row_scope, self.here).run_all(statements)

        return patiently(self._pool, ask)

    def changed(self, sql: str, values: Values = ()) -> int:
        """Denied."""
        raise past_unwritable()


@in_our_words(PastSearch)
class PastReader(PastSearch, PostgresReader):
    """A Reader of the past. Word statistics are those of the present."""

    _store: PastStore

    def __init__(self, store: PastStore, db: Executor):
        super().__init__(store, db)
        self._past = store.past_index
        self._present = store.present.read_all(db.row_scope, db.here)

    def _traits(self, memory_ids: Sequence[int]) -> dict[int, Traits]:
        """The traits these memories had; unknown numbers are left out."""
        found = rows(self._db, *routed(self._db, TRAITS, {"ids": list(memory_ids)}))
        return {one[0]: Traits._make(one[1:]) for one in found}

    def _neighbours(self, memory_ids: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """The memories right before and after each in its session."""
        values = {"ids": list(memory_ids), "sequence": self._past.sequence, "last": LAST_ID}
        found = rows(self._db, SESSION_NEIGHBOURS, values)
        return {one[0]: tuple(number for number in one[1:] if number is not None) for one in found}


class PastStore(OpenedStore):
    """A Store that can only be read. Making one costs nothing."""

    def __init__(self, present: PostgresStore, pool: Pool, position: Position):
        super().__init__(pool, present.location, present.open_index)
        self.present = present
        self.has_row_security = present.has_row_security
        self.capacity = present.capacity
        self.past_index = PastIndex(position.number, self.index)
        self._position = position
        self._seen = present.newest()
        self.past_frequencies = PastFrequencies(present.newest)
        self._used = present.used_models

    def still_shows(self, position: Position, models: tuple[str, ...]) -> bool:
        """Whether this is the store at *position*, with nothing that has been purged."""
        if (position, models) != (self._position, self._used):
            return False
        return row(self.present.whole, PURGED_SINCE, (self._seen.number,)) is None

    def read(self, scope: Scope = EVERYTHING) -> Reader:
        """A reader of what was in *scope*."""
        here = self.present.here(scope.visible)
        past = PastPooled(self._pool, self._position.number, self.row_scope(scope), here)
        return scoped_reader(PastReader(self, past), scope, PastReader(self, past.everywhere))

    @contextmanager
    def snapshot(self, scope: Scope = EVERYTHING) -> Iterator[Reader]:
        """A reader of the past, which does not change."""
        yield self.read(scope)

    def newest(self) -> Position:
        """The position at which this is the store."""
        return self._position

    def wait(self, after: Position, seconds: float) -> Position:
        """The position at which this is the store: nothing comes after it."""
        return self._position

    def at(self, when: Position | Moment) -> Store:
        """Denied."""
        raise Denied("This store cannot be read as of an earlier moment.")

    def use_models(self, *names: str) -> None:
        """Compare vectors of these models only."""
        self._used = names

    def change(
        self, scope: Scope, operation: str, actor: str, at: Moment, work: object, **how: bool
    ) -> NoReturn:
        """Denied."""
        raise past_unwritable()

    def backup(self, target: Path, progress: Progress | None = None) -> NoReturn:
        """Denied."""
        raise past_without_backup()

    def probe(self) -> None:
        """Read the newest memory of the present and find it by its words."""
        self.present.probe()

    def check(self) -> list[str]:
        """Integrity check of the store: the past is part of it."""
        return self.present.check()

    def lack(self) -> str | None:
        """What the server lacks, in a sentence; None if it lacks nothing."""
        return self.present.lack()

    def upkeep(self) -> None:
        """Nothing: the past is searched through the present."""

    def close(self) -> None:
        """Nothing: the connections belong to the present."""
