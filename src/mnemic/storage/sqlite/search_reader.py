"""Search questions of the SQLite reader: answered by the index where it serves, else by FTS5 and SQL."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

import apsw

from mnemic.model.candidates import Ask, Statistics
from mnemic.model.filter import LIVING_ONLY, Filter
from mnemic.storage import index_answers
from mnemic.storage.base import Nearness, Traits
from mnemic.storage.candidate_reader import CandidateReader
from mnemic.storage.indexed_words import forms
from mnemic.storage.sqlite import fts, memories
from mnemic.storage.sqlite.connection import in_our_words, our_errors
from mnemic.storage.sqlite.index_source import SqliteSource
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.rows import column, rows, value

if TYPE_CHECKING:
    from mnemic.model.vectors import Embedding, Reading
    from mnemic.storage.arrays import Flags
    from mnemic.storage.index_port import Columns, Matrix, Ranked, Slots, Snapshot
    from mnemic.storage.source import Group, Scope
    from mnemic.storage.sqlite.database import OpenedStore

NAMESPACE_COUNT = """
SELECT count(*) FROM namespace
"""
ALL_IDS = """
SELECT m.id FROM memory m WHERE {conditions}
"""
TRAITS = """
SELECT id, confidence, session_id, coalesce(valid_from, created_at)
FROM memory WHERE id IN (SELECT value FROM json_each(?))
"""
USES = """
SELECT id, access_count FROM memory WHERE id IN (SELECT value FROM json_each(?))
"""
SESSION_NEIGHBOURS = """
SELECT m.id,
    (SELECT max(b.id) FROM memory b WHERE b.session_id = m.session_id AND b.id < m.id AND b.state = 'living'),
    (SELECT min(a.id) FROM memory a WHERE a.session_id = m.session_id AND a.id > m.id AND a.state = 'living')
FROM memory m WHERE m.id IN (SELECT value FROM json_each(?)) AND m.session_id IS NOT NULL
"""


@in_our_words(CandidateReader)
class SearchReader(CandidateReader):
    """What a Reader answers by words, vectors and attributes, over one connection."""

    def __init__(self, store: OpenedStore, db: apsw.Connection):
        self._store = store
        self._db = db
        self._snapshot: Snapshot | None = None
        self._spelled: dict[tuple[str, int, tuple[str, ...] | None], list[str]] = {}
        """Near spellings found by this reader: the ranking and the relevance of one question ask for the same."""

    @contextmanager
    def at_one_moment(self) -> Iterator[None]:
        """Everything this reader answers in the block comes from one moment, index and rows alike."""
        if self._store.stands_still or self._db.in_transaction:
            yield
            return
        with our_errors(self._store.location), self._moment():
            yield

    @contextmanager
    def _moment(self) -> Iterator[Snapshot]:
        """The index as of now, or as of the moment this reader is at."""
        source = SqliteSource(self._db)
        if self._snapshot is not None:
            yield self._snapshot
        elif self._db.in_transaction:
            yield self._store.index.inside(source)
        else:
            with self._store.index.moment(source) as self._snapshot:
                try:
                    yield self._snapshot
                finally:
                    self._snapshot = None

    @property
    def _is_private(self) -> bool:
        """Whether this is a transaction of somebody's own: what it sees may be taken back, or be old."""
        return self._snapshot is None and self._db.in_transaction

    def statistics(self, terms: Sequence[str], namespaces: Sequence[str] | None) -> Statistics:
        """How many memories are living in these namespaces (or in all), and how many of them hold each term."""
        scope = self._namespace_scope(namespaces)
        groups = dict(zip(terms, self._groups(terms), strict=True))
        counts = self._frequencies(groups.values(), scope) if groups else {}
        total = self._store.frequencies.total(self._db, scope)
        return Statistics(total, {term: counts[group] for term, group in groups.items()})

    def best_words(self, ask: Ask, limit: int) -> dict[int, float]:
        """The BM25 of the *limit* best that hold every term (or any), best first."""
        scope, groups = self._namespace_scope(ask.filter.namespaces), self._groups(ask.terms)
        if scope == ():
            return {}
        with self._moment() as at:
            found = self._ranked(at, groups, scope, ask.filter, every=ask.every)
            if found is not None:
                return index_answers.best(at, found, ask.weights, limit, self._uses)
            by_word = self._searched_by_word(scope, ask.filter, every=ask.every)
            most = limit if ask.weights is None else max(limit, fts.WEIGHED)
            found_there = fts.search(self._db, groups, ask.filter, by_word, every=ask.every, limit=most)
            return dict(found_there)

    def _uses(self, memory_ids: Sequence[int]) -> dict[int, int]:
        """How often these memories were used."""
        return dict(rows(self._db, USES, (as_json(memory_ids),)))

    def shares_of(
        self, terms: Sequence[str], wanted: Filter, memory_ids: Sequence[int]
    ) -> list[dict[int, float]]:
        """For each term, what it adds to the BM25 of those of these memories that hold it."""
        scope, groups = self._namespace_scope(wanted.namespaces), self._groups(terms)
        if not memory_ids or scope == ():
            return [{} for _ in terms]
        if not self._keeps_words(is_question=False, is_needed=_needs_index(groups, scope)):
            return fts.each(self._db, groups, memory_ids)
        with self._moment() as at:
            return at.words.each(at.source, groups, scope, memory_ids)

    def _number(self, sql: str, values: dict[str, Any] | None = None) -> int:
        return int(value(self._db, sql, values or {}))

    def _namespace_scope(self, namespaces: Sequence[str] | None) -> Scope:
        """The ids of these *namespaces*; None if there are no others."""
        if namespaces is None:
            return None
        numbers = {self._store.namespace_id(self._db, name) for name in namespaces} - {None}
        if len(numbers) == self._number(NAMESPACE_COUNT):
            return None
        return tuple(sorted(number for number in numbers if number is not None))

    def _groups(self, terms: Sequence[str]) -> list[Group]:
        """The forms of each term; stems are left out as long as no text has any."""
        has_stems = any(getattr(term, "stems", ()) for term in terms) and self._store.has_stems(self._db)
        return [forms(term, has_stems=has_stems) for term in terms]

    def _searched_by_word(self, scope: Scope, wanted: Filter, *, every: bool) -> Scope:
        """These namespaces, if they should be searched for by their own word in FTS5.

        BM25 would count all memories of a large one. Those that hold every word are few, and their rows soon read.
        """
        if scope is None or (wanted.is_plain and not every):
            return scope
        return None if self._is_large(wanted) else scope

    def _is_large(self, wanted: Filter) -> bool:
        """Whether it is about namespaces that hold much."""
        spaces = wanted.namespaces
        return spaces is not None and not self._store.sizes.is_small(self._db, spaces)

    def _where(self, wanted: Filter) -> tuple[str, dict[str, Any]]:
        """The condition for *wanted* over all there are, and its parameters."""
        return memories.where(wanted, is_large=self._is_large(wanted))

    def _keeps_words(self, *, is_question: bool, is_needed: bool = False) -> bool:
        """Whether the index serves words; never in a private transaction, whose words are not shared."""
        return not self._is_private and self._store.keeps_words(is_question=is_question, is_needed=is_needed)

    def _may_rank(self, wanted: Filter, *, every: bool, is_question: bool) -> bool:
        """Whether the index ranks this.

        Those that hold *every* word are few: to read their rows takes less than to filter all memories.
        """
        if wanted.states != LIVING_ONLY or (every and not wanted.is_plain):
            return False
        return self._keeps_words(is_question=is_question)

    def _columns(self, at: Snapshot, wanted: Filter, *, is_worth_loading: bool = False) -> Columns | None:
        """The columns, if they can tell which memories pass: they do not hold metadata."""
        is_unheld = wanted.metadata is not None or (
            wanted.without is not None and wanted.states != LIVING_ONLY
        )
        if self._is_private or is_unheld:
            return None
        is_there = at.has_columns or is_worth_loading or self._keeps_words(is_question=False)
        return at.columns if is_there else None

    def _ranked(
        self, at: Snapshot, groups: Sequence[Group], scope: Scope, wanted: Filter, *, every: bool
    ) -> Ranked | None:
        """The memories that hold these words and pass, by the index; None if FTS5 should be asked.

        FTS5 ranks by the statistics of the whole store, and adds up the forms of a word. So it is asked only where the
        whole store is searched for words of one form, and in a private transaction.
        """
        if needs_index := _needs_index(groups, scope):
            is_served = self._keeps_words(is_question=True, is_needed=True)
            wanted = index_answers.among_living(wanted)
        else:
            is_served = self._may_rank(wanted, every=every, is_question=True)
        if not is_served:
            return None
        found = at.words.ranked(at.source, groups, scope, every=every, can_read=needs_index)
        if found is None:
            return None
        return index_answers.passing(at, found, wanted, self._left_out(wanted))

    def _frequencies(self, groups: Iterable[Group], scope: Scope) -> dict[Group, int]:
        holders = self._holders if self._keeps_words(is_question=False) else None
        return self._store.frequencies.of(self._db, groups, scope, holders, is_private=self._is_private)

    def _holders(self, groups: Iterable[Group], scope: Scope) -> dict[Group, int]:
        with self._moment() as at:
            return at.words.holders(at.source, groups, scope)

    def spellings(self, term: str, limit: int, namespaces: Sequence[str] | None) -> list[str]:
        """Words that differ from *term* by one letter and stand in these namespaces (or any), the likeliest first."""
        asked = term, limit, None if namespaces is None else tuple(namespaces)
        if asked not in self._spelled:
            self._spelled[asked] = self._spellings(term, limit, namespaces)
        return self._spelled[asked]

    def _spellings(self, term: str, limit: int, namespaces: Sequence[str] | None) -> list[str]:
        scope = self._namespace_scope(namespaces)

        def counted(spelled: list[str]) -> dict[str, int]:
            counts = self._frequencies(((word,) for word in spelled), scope)
            return {word: counts[(word,)] for word in spelled}

        return list(islice(fts.spellings(self._db, term, scope, counted), limit))

    def models(self, wanted: Filter) -> list[str]:
        """The current models that have vectors in the namespaces of *wanted*."""
        namespaces = self._namespace_ids(wanted)
        with self._moment() as at:
            return [name for name, matrix in self._matrices(at).items() if matrix.has_any(namespaces)]

    def nearest(
        self, text: Embedding, wanted: Filter, *, limit: int, at_least: float = -math.inf
    ) -> list[Nearness]:
        """The *limit* memories nearest to *text* by their best passage, of those that pass."""
        if limit < 1:
            return []
        with self._moment() as at:
            compared = index_answers.compared(text, self._matrices(at))
            scope = self._matrix_scope(at, wanted) if compared else {}
        return index_answers.nearest(compared, limit, at_least, **scope)

    def _matrices(self, at: Snapshot) -> dict[str, Matrix]:
        """The vectors of each current model that has any, by the model's name."""
        models = self._store.known_models(self._db)
        return {name: at.matrix(*model, name) for name, model in models.items()}

    def _matrix_scope(self, at: Snapshot, wanted: Filter) -> dict[str, Any]:
        """Which memories pass *wanted*, as a mask for a matrix."""
        passing: tuple[Slots, Flags] | None = None
        if not wanted.is_plain:
            if not self._may_rank(wanted, every=False, is_question=False):
                conditions, values = self._where(wanted)
                return {"only": column(self._db, ALL_IDS.format(conditions=conditions), values)}
            passing = at.columns.slots, at.columns.passing(at.source, wanted)
        return {
            "namespace_ids": self._namespace_ids(wanted),
            "passing": passing,
            "without": self._left_out(wanted),
        }

    def similarities(self, text: Embedding, memory_ids: Sequence[int]) -> dict[int, Nearness]:
        """How near each of these memories is, for those that have vectors."""
        if not memory_ids:
            return {}
        with self._moment() as at:
            compared = index_answers.compared(text, self._matrices(at))
        found = index_answers.nearest(compared, len(memory_ids), only=memory_ids)
        return index_answers.by_memory(found)

    def _left_similarities(self, text: Embedding, memory_ids: Sequence[int]) -> dict[int, Nearness]:
        """The same for memories that have left the index, by the vectors they left it with."""
        if not memory_ids:
            return {}
        source, count = SqliteSource(self._db), len(memory_ids)
        left = {
            name: self._store.index.matrix_of(*model, source.passages_left(model[0], memory_ids))
            for name, model in self._store.known_models(self._db).items()
        }
        return index_answers.by_memory(index_answers.nearest(index_answers.compared(text, left), count))

    def vectors(self, memory_ids: Sequence[int]) -> dict[int, Reading]:
        """The unit vector of each statement of these living memories that has one, by the statement's number."""
        with self._moment() as at:
            matrices = self._matrices(at)
        return index_answers.vectors(matrices, memory_ids)

    def _left_out(self, wanted: Filter) -> list[int]:
        queries, values = memories.left_out(wanted)
        return [number for query in queries for number in column(self._db, query, values)]

    def _namespace_ids(self, wanted: Filter) -> list[int] | None:
        """The ids of the namespaces asked for; unknown ones hold nothing and fall away."""
        if wanted.namespaces is None:
            return None
        numbers = (self._store.namespace_id(self._db, name) for name in wanted.namespaces)
        return [number for number in numbers if number is not None]

    def _traits(self, memory_ids: Sequence[int]) -> dict[int, Traits]:
        """The traits of these memories; unknown numbers are left out."""
        with self._moment() as at:
            if at.has_columns:
                return at.columns.traits(memory_ids)
            found = rows(self._db, TRAITS, (as_json(list(memory_ids)),))
            return {one[0]: Traits._make(one[1:]) for one in found}

    def _neighbours(self, memory_ids: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """For each of these memories that belongs to a session: the living ones right before and after it."""
        found = rows(self._db, SESSION_NEIGHBOURS, (as_json(list(memory_ids)),))
        return {one[0]: tuple(number for number in one[1:] if number is not None) for one in found}

    def _openings(self, statement_ids: Sequence[int], characters: int) -> dict[int, str]:
        """The first *characters* of these statements."""
        openings = self._store.openings(characters)
        return openings.of(self._db, statement_ids, is_private=self._is_private)


def _needs_index(groups: Iterable[Group], scope: Scope) -> bool:
    """Whether FTS5 cannot rank this itself: not by the statistics of a part, nor words of several forms."""
    return scope is not None or any(len(group) > 1 for group in groups)
