"""The store as of an earlier change: the same reader, over the versions that were valid then."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from mnemic.errors import Denied
from mnemic.model.access import EVERYTHING, Scope
from mnemic.model.candidates import Ask, Statistics
from mnemic.model.change import Position
from mnemic.model.filter import Filter
from mnemic.model.time import Moment
from mnemic.storage.base import Nearness, Progress, Reader, Store, Traits
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
from mnemic.storage.postgres.past_index import PastIndex, present_idf
from mnemic.storage.postgres.reader import PostgresReader
from mnemic.storage.postgres.row_security import EVERYWHERE
from mnemic.storage.postgres.rows import row, rows
from mnemic.storage.postgres.search_reader import TRAITS
from mnemic.storage.scale import best_of, scaled
from mnemic.storage.scoped import scoped_reader

if TYPE_CHECKING:
    from mnemic.model.vectors import Embedding, Reading
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
COUNTED_EXACTLY = 1_000
"""A word that fewer memories hold today is counted as it stood; of others the count of today is near enough."""


class PastPooled:
    """Statements that see the rows as they were after the change with this number."""

    def __init__(self, pool: Pool, sequence: int, row_scope: str | None):
        self._pool = pool
        self._sequence = sequence
        self.row_scope = row_scope

    @property
    def everywhere(self) -> PastPooled:
        """The same for statements that must see the rows of every namespace."""
        return self if self.row_scope is None else PastPooled(self._pool, self._sequence, EVERYWHERE)

    def run(self, sql: str, values: Values = ()) -> list[Row]:
        """The rows of the answer."""

        def ask() -> list[Row]:
            with self._pool.taken() as connection, connection.transaction():
                connection.execute(SHOW_PAST.format(sequence=int(self._sequence)))
                return Held(connection, self.row_scope).run(sql, values)

        return patiently(self._pool, ask)

    def changed(self, sql: str, values: Values = ()) -> int:
        """Denied."""
        raise denied()


@in_our_words
class PastReader(PostgresReader):
    """A Reader of the past. Word statistics are those of the present."""

    _store: PastStore

    def __init__(self, store: PastStore, db: Executor):
        super().__init__(store, db)
        self._past = store.past_index
        self._present = store.present.read_all(db.row_scope)

    def _unchanged(self, wanted: Filter) -> Filter:
        """*wanted* among the memories that are today what they were."""
        return replace(wanted, unchanged_since=Position(number=self._past.sequence))

    def _same_words(self, wanted: Filter) -> Filter | None:
        """Those that have changed, but not in their words, and passed *wanted*; None if there are none."""
        numbers = self._past.unreworded(self._db, wanted)
        return Filter(ids=numbers, namespaces=wanted.namespaces) if numbers else None

    @contextmanager
    def at_one_moment(self) -> Iterator[None]:
        """One snapshot of the present for the block; the past does not change."""
        with self._present.at_one_moment():
            yield

    def best_words(self, ask: Ask, limit: int) -> dict[int, float]:
        """The BM25 of the *limit* best among memories that held every term (or any)."""
        unchanged = replace(ask, filter=self._unchanged(ask.filter))
        found = self._present.best_words(unchanged, limit)
        if same := self._same_words(ask.filter):
            most = limit if ask.weights is None else len(same.ids or ())
            found |= self._present.best_words(replace(ask, filter=same, weights=None), most)
        found |= self._past_words(ask.terms, ask.filter, every=ask.every)
        if ask.weights is not None:
            return found
        return dict(sorted(found.items(), key=lambda one: (-one[1], one[0]))[:limit])

    def _past_words(self, terms: Sequence[str], wanted: Filter, *, every: bool) -> dict[int, float]:
        """The BM25 of memories that have other words now and held every term (or any)."""
        passing = self._past.passing(self._db, wanted)
        if not passing or not terms:
            return {}
        each = self._past_each(terms, wanted.namespaces)
        held = set.intersection(*map(set, each)) if every else set().union(*each)
        return {number: sum(adds.get(number, 0.0) for adds in each) for number in held & passing}

    def _past_each(self, terms: Sequence[str], namespaces: Sequence[str] | None) -> list[dict[int, float]]:
        """For each term, what it adds to the BM25 of memories that have other words now."""
        today = self._present.statistics(terms, namespaces)
        return [
            self._past.holding(self._db, group, present_idf(today.total, today.holders, term))
            for term, group in zip(terms, self._groups(terms), strict=True)
        ]

    def shares_of(
        self, terms: Sequence[str], wanted: Filter, memory_ids: Sequence[int]
    ) -> list[dict[int, float]]:
        """For each term, what it adds to the BM25 of those of these memories that held it."""
        reworded = set(self._past.reworded(self._db, memory_ids))
        others = [number for number in memory_ids if number not in reworded]
        found = self._present.shares_of(terms, wanted, others)
        if not reworded:
            return found
        past = self._past_each(terms, wanted.namespaces)
        return [
            {**adds, **{number: one for number, one in then.items() if number in reworded}}
            for adds, then in zip(found, past, strict=True)
        ]

    def statistics(self, terms: Sequence[str], namespaces: Sequence[str] | None) -> Statistics:
        """Document frequency of each term then; of frequent words, and of all memories, the current figure."""
        today = self._present.statistics(terms, namespaces)
        holders = {term: self._frequency(term, namespaces, count) for term, count in today.holders.items()}
        return Statistics(today.total, holders)

    def _frequency(self, term: str, namespaces: Sequence[str] | None, today: int) -> int:
        if today >= COUNTED_EXACTLY:
            return today
        wanted = Filter(namespaces=None if namespaces is None else tuple(namespaces))
        return self._store.frequency(self, term, wanted)

    def spellings(self, term: str, limit: int, namespaces: Sequence[str] | None) -> list[str]:
        """Current words that differ from *term* by one letter and occurred in memories then, likeliest first."""
        near = self._present.spellings(term, 4 * limit, namespaces)
        counts = self.statistics(near, namespaces).holders
        return [word for word in near if counts[word]][:limit]

    def models(self, wanted: Filter) -> list[str]:
        """The current models that have vectors, in the namespaces of *wanted* today or among changed versions."""
        return self._present.models(wanted) or [name for name, _ in self._models()]

    def _models(self) -> list[tuple[str, tuple[int, int]]]:
        known = ((name, self._store.known_model(self._db, name)) for name in self._store.used_models)
        return [(name, model) for name, model in known if model]

    def nearest(
        self, text: Embedding, wanted: Filter, *, limit: int, at_least: float = -math.inf
    ) -> list[Nearness]:
        """The *limit* memories that were nearest to *text*, of those that passed."""
        found = self._present.nearest(text, self._unchanged(wanted), limit=limit, at_least=at_least)
        then = self._past_nearest(text, self._past.passing(self._db, wanted), limit, at_least)
        return best_of([found, then], limit) if then else found

    def _past_nearest(
        self, text: Embedding, among: set[int], limit: int, at_least: float = -math.inf
    ) -> list[Nearness]:
        """The nearest of memories that have changed since."""
        if not among or limit < 1:
            return []
        models = dict(self._models())
        found = [
            scaled(
                one.scale,
                self._past.nearest(
                    self._db, models[one.model], one.vector, among, limit, one.scale.cosine(at_least)
                ),
            )
            for one in text.readings
            if one.model in models
        ]
        return best_of(found, limit) if found else []

    def similarities(self, text: Embedding, memory_ids: Sequence[int]) -> dict[int, Nearness]:
        """How near each of these memories was, for those that had vectors."""
        changed = set(self._past.changed(self._db, memory_ids))
        found = self._present.similarities(text, [number for number in memory_ids if number not in changed])
        then = self._past_nearest(text, self._living(changed), len(changed))
        return found | {near.memory_id: near for near in then}

    def _living(self, changed: set[int]) -> set[int]:
        """Those of these memories, which have changed since, that were living."""
        return changed & self._past.passing(self._db, Filter())

    def vectors(self, memory_ids: Sequence[int]) -> dict[int, Reading]:
        """The unit vector of each statement these memories had, by the statement's number."""
        from mnemic.model.vectors import Reading

        changed = set(self._past.changed(self._db, memory_ids))
        found = self._present.vectors([number for number in memory_ids if number not in changed])
        for name, model in self._models() if changed else ():
            then = self._past.vectors(self._db, model, sorted(self._living(changed)))
            found |= {number: Reading(name, vector) for number, vector in then.items()}
        return found

    def _traits(self, memory_ids: Sequence[int]) -> dict[int, Traits]:
        """The traits these memories had; unknown numbers are left out."""
        found = rows(self._db, TRAITS, (list(memory_ids),))
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
        self._frequencies: dict[tuple[str, Filter], tuple[Position, int]] = {}
        self._used = present.used_models

    def still_shows(self, position: Position, models: tuple[str, ...]) -> bool:
        """Whether this is the store at *position*, with nothing that has been purged."""
        if (position, models) != (self._position, self._used):
            return False
        return row(self.present.whole, PURGED_SINCE, (self._seen.number,)) is None

    def read(self, scope: Scope = EVERYTHING) -> Reader:
        """A reader of what was in *scope*."""
        past = PastPooled(self._pool, self._position.number, self.row_scope(scope))
        return scoped_reader(PastReader(self, past), scope, PastReader(self, past.everywhere))

    @contextmanager
    def snapshot(self, scope: Scope = EVERYTHING) -> Iterator[Reader]:
        """A reader of the past, which does not change."""
        yield self.read(scope)

    def frequency(self, reader: PastReader, term: str, wanted: Filter) -> int:
        """Document frequency of a rare word among memories that passed *wanted*."""
        newest = self.present.newest()
        counted_at, count = self._frequencies.get((term, wanted), (None, 0))
        if counted_at != newest:
            count = len(reader.best_words(Ask(terms=(term,), filter=wanted, every=True), 2 * COUNTED_EXACTLY))
            self._frequencies[term, wanted] = newest, count
        return count

    def newest(self) -> Position:
        """The position at which this is the store."""
        return self._position

    def wait(self, after: Position, seconds: float) -> Position:
        """The position at which this is the store: nothing comes after it."""
        return self._position

    def position_at(self, moment: Moment) -> Position:
        """The position of the newest change made at or before *moment*."""
        return min(self._position, self.present.position_at(moment), key=lambda one: one.number)

    def at(self, position: Position) -> Store:
        """Denied."""
        raise Denied("This store cannot be read as of an earlier moment.")

    def use_models(self, *names: str) -> None:
        """Compare vectors of these models only."""
        self._used = names

    def change(
        self, scope: Scope, operation: str, actor: str, at: Moment, work: object, **how: bool
    ) -> NoReturn:
        """Denied."""
        raise denied()

    def backup(self, target: Path, progress: Progress | None = None) -> NoReturn:
        """Denied."""
        raise Denied("The past cannot be backed up: leave as_of out.")

    def probe(self) -> None:
        """Read the newest memory of the present and find it by its words."""
        self.present.probe()

    def check(self) -> list[str]:
        """What is wrong with the store: the past is part of it."""
        return self.present.check()

    def lack(self) -> str | None:
        """What the server lacks, in a sentence; None if it lacks nothing."""
        return self.present.lack()

    def upkeep(self) -> None:
        """Nothing: the past is searched through the present."""

    def close(self) -> None:
        """Nothing: the connections belong to the present."""


def denied() -> Denied:
    """The refusal to change the past."""
    return Denied("The past cannot be changed: leave as_of out to write.")
