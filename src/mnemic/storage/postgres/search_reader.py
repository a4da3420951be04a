"""Search questions of the PostgreSQL reader: answered by the index that follows the journal, or by the server.

The server answers if the store is too large for the index (`capacity.py`). Without pgvector it knows words only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg

from mnemic.model.candidates import Ask, Statistics
from mnemic.model.filter import Filter
from mnemic.storage import index_answers
from mnemic.storage.base import Nearness, Traits
from mnemic.storage.candidate_reader import CandidateReader
from mnemic.storage.indexed_words import forms
from mnemic.storage.postgres import bm25, memories, spelling, words
from mnemic.storage.postgres.bm25 import Bm25, Choice, Passing
from mnemic.storage.postgres.connection import Executor, Held, in_our_words, our_errors
from mnemic.storage.postgres.index_source import PostgresSource
from mnemic.storage.postgres.namespace_filter import numbered
from mnemic.storage.postgres.row_security import EVERYWHERE
from mnemic.storage.postgres.rows import column, routed, rows, value
from mnemic.storage.scale import best_of, scaled

if TYPE_CHECKING:
    from mnemic.model.vectors import Embedding, Reading
    from mnemic.storage.arrays import Flags
    from mnemic.storage.index_port import Matrix, Slots, Snapshot
    from mnemic.storage.postgres.database import OpenedStore
    from mnemic.storage.postgres.knn import Knn
    from mnemic.storage.source import Group, Scope

T = TypeVar("T")

NAMESPACE_COUNT = """
SELECT count(*) FROM namespace
"""
TRAITS = """
SELECT m.id, m.confidence, m.session_id, coalesce(m.valid_from, m.created_at) FROM memory m
WHERE {here[m]} AND m.id = ANY(%(ids)s::bigint[])
"""
USES = """
SELECT m.id, m.access_count FROM memory m WHERE {here[m]} AND m.id = ANY(%(ids)s::bigint[])
"""
SESSION_NEIGHBOURS = """
SELECT m.id,
    (SELECT max(b.id) FROM memory b
     WHERE {here[b]} AND b.session_id = m.session_id AND b.id < m.id AND b.state = 'living'),
    (SELECT min(a.id) FROM memory a
     WHERE {here[a]} AND a.session_id = m.session_id AND a.id > m.id AND a.state = 'living')
FROM memory m WHERE {here[m]} AND m.id = ANY(%(ids)s::bigint[]) AND m.session_id IS NOT NULL
"""
OPENINGS = """
SELECT s.id, left(s.text, %(characters)s) FROM statement s WHERE {here[s]} AND s.id = ANY(%(ids)s::bigint[])
"""
HOLDERS = """
SELECT count(*) FROM words w WHERE {here[w]} AND tokens && %(tokens)s::text[]
"""


@in_our_words(CandidateReader)
class SearchReader(CandidateReader):
    """What a Reader answers by words, vectors and attributes."""

    def __init__(self, store: OpenedStore, db: Executor):
        self._store = store
        self._db = db
        self._snapshot: Snapshot | None = None
        self._answers: dict[Hashable, Any] = {}
        """What was asked already at this moment."""

    def may_retry(self, error: psycopg.Error) -> bool:
        """Whether somebody above tries again after *error*; for a reader nobody does."""
        return False

    @property
    def needs_rows(self) -> bool:
        """An index knows no policy: what it finds for a limited caller is looked up in `memory`, which does."""
        return self._db.row_scope not in (None, EVERYWHERE)

    @property
    def _is_held(self) -> bool:
        """Whether all is read through one connection, in one transaction."""
        return isinstance(self._db, Held)

    @contextmanager
    def at_one_moment(self) -> Iterator[None]:
        """Everything this reader answers in the block comes from one moment, index and rows alike."""
        if self._is_held:
            yield
            return
        with our_errors(self._store.location), self._moment():
            yield

    @contextmanager
    def _moment(self) -> Iterator[Snapshot]:
        """The index as of now, or as of the moment this reader is at."""
        if self._snapshot is not None:
            yield self._snapshot
        elif self._is_held:
            yield self._store.index.inside(PostgresSource(self._db.everywhere))
        else:
            pooled = self._db
            with self._store.held(pooled.row_scope, pooled.here) as self._db:
                try:
                    source = PostgresSource(self._db.everywhere)
                    with self._store.index.moment(source) as self._snapshot:
                        yield self._snapshot
                finally:
                    self._snapshot, self._db = None, pooled
                    self._answers.clear()

    def _once(self, key: Hashable, ask: Callable[[], T]) -> T:
        """What *ask* gives, asked once while this reader is at one moment."""
        if self._snapshot is None:
            return ask()
        if key not in self._answers:
            self._answers[key] = ask()
        answer: T = self._answers[key]
        return answer

    def _served_words(self, scope: Scope) -> Bm25 | None:
        """BM25 by the server; None if the index in memory has the words."""
        if not self._store.capacity.is_exceeded(self._db):
            return None
        spaces = self._store.namespace_ids(self._db, None) if scope is None else scope
        return self._once(("words", scope), lambda: bm25.scope(self._db, spaces))

    def _served_vectors(self) -> Knn | None:
        """Vector search by the server; None if vectors are compared in memory."""
        return self._store.capacity.knn(self._db)

    def _passing(self, wanted: Filter) -> Passing:
        """Which memories *wanted* lets pass, for a search by the server."""
        if wanted.is_plain:
            return Passing(self._left_out(wanted), None, {})
        living = replace(index_answers.among_living(wanted), namespaces=None)
        return Passing((), *memories.where(living, self._db.here))

    def statistics(self, terms: Sequence[str], namespaces: Sequence[str] | None) -> Statistics:
        """How many memories are living in these namespaces (or in all), and how many of them hold each term."""
        scope = self._namespace_scope(namespaces)
        groups = dict(zip(terms, self._groups(terms), strict=True))
        with self._moment() as at:
            counts = self._frequencies(at, list(groups.values()), scope)
            total = 0 if scope == () else self._count(at, scope)
        return Statistics(total, {term: counts[group] for term, group in groups.items()})

    def _count(self, at: Snapshot, scope: Scope) -> int:
        served = self._served_words(scope)
        return at.words.count(scope) if served is None else served.count

    def best_words(self, ask: Ask, limit: int) -> dict[int, float]:
        """The BM25 of the *limit* best that hold every term (or any), best first."""
        scope, groups = self._namespace_scope(ask.filter.namespaces), self._groups(ask.terms)
        if scope == ():
            return {}
        with self._moment() as at:
            if served := self._served_words(scope):
                return served.best(groups, Choice(self._passing(ask.filter), ask.every, ask.weights, limit))
            self._store.note_question()
            found = at.words.ranked(at.source, groups, scope, every=ask.every, can_read=True)
            assert found is not None, "postings can be read"
            wanted = index_answers.among_living(ask.filter)
            found = index_answers.passing(at, found, wanted, self._left_out(wanted))
            return index_answers.best(at, found, ask.weights, limit, self._uses)

    def _uses(self, memory_ids: Sequence[int]) -> dict[int, int]:
        """How often these memories were used."""
        return dict(rows(self._db, *routed(self._db, USES, {"ids": memory_ids})))

    def shares_of(
        self, terms: Sequence[str], wanted: Filter, memory_ids: Sequence[int]
    ) -> list[dict[int, float]]:
        """For each term, what it adds to the BM25 of those of these memories that hold it."""
        scope, groups = self._namespace_scope(wanted.namespaces), self._groups(terms)
        if not memory_ids or scope == ():
            return [{} for _ in terms]
        with self._moment() as at:
            if served := self._served_words(scope):
                return served.each(groups, memory_ids)
            return at.words.each(at.source, groups, scope, memory_ids)

    def _number(self, sql: str, values: dict[str, Any] | None = None) -> int:
        return int(value(self._db, sql, values or {}))

    def _namespace_scope(self, namespaces: Sequence[str] | None) -> Scope:
        """The ids of these *namespaces*; None if there are no others."""
        if namespaces is None:
            return None
        return self._once(("scope", tuple(namespaces)), lambda: self._scope_of(namespaces))

    def _scope_of(self, namespaces: Sequence[str]) -> Scope:
        numbers = self._store.namespace_ids(self._db, namespaces)
        is_some = len(numbers) < self._store.known_namespaces  # no namespace ever goes
        if is_some or len(numbers) < self._number(NAMESPACE_COUNT):
            return tuple(sorted(numbers))
        return None

    def _known_models(self) -> dict[str, tuple[int, int]]:
        """The id and dimension of each current model with vectors, by its name."""
        return self._once("models", lambda: self._store.known_models(self._db))

    def _groups(self, terms: Sequence[str]) -> list[Group]:
        """The forms of each term; stems are left out as long as no text has any."""
        has_stems = any(getattr(term, "stems", ()) for term in terms) and words.holds_stems(self._db)
        return [forms(term, has_stems=has_stems) for term in terms]

    def _frequencies(self, at: Snapshot, groups: Sequence[Group], scope: Scope) -> dict[Group, int]:
        if scope == ():
            return dict.fromkeys(groups, 0)
        if served := self._served_words(scope):
            return served.holders(groups)
        counts: dict[Group, int] = at.words.holders(at.source, groups, scope)
        for group in groups:
            if group not in counts:
                counts[group] = self._counted(at, group, scope)
        return counts

    def _counted(self, at: Snapshot, group: Group, scope: Scope) -> int:
        """How many hold a word that is in very many, or whose forms are phrases."""
        forms = [at.source.tokens(form) for form in group]
        if all(len(form) == 1 for form in forms):
            here = self._db.here if scope is None else numbered(scope)
            return self._number(
                HOLDERS.format(here=here), {"tokens": [form[0] for form in forms], **here.values}
            )
        found = at.words.ranked(at.source, [group], scope, every=True, can_read=True)
        return len(found.slots) if found else 0

    def spellings(self, term: str, limit: int, namespaces: Sequence[str] | None) -> list[str]:
        """Words that differ from *term* by one letter and stand in these namespaces (or any), the likeliest first."""
        scope = self._namespace_scope(namespaces)

        def counted(spelled: list[str]) -> dict[str, int]:
            with self._moment() as at:
                counts = self._frequencies(at, [(word,) for word in spelled], scope)
            return {word: counts[(word,)] for word in spelled}

        return list(islice(spelling.spellings(self._db, term, scope, counted), limit))

    def models(self, wanted: Filter) -> list[str]:
        """The current models that have vectors in the namespaces of *wanted*."""
        namespaces = self._namespace_ids(wanted)
        with self._moment() as at:
            if knn := self._served_vectors():
                spaces = self._spaces_of(wanted)
                known = self._known_models()
                return [name for name, model in known.items() if knn.has_any(self._db, model, spaces)]
            return [name for name, matrix in self._matrices(at).items() if matrix.has_any(namespaces)]

    def nearest(
        self, text: Embedding, wanted: Filter, *, limit: int, at_least: float = -math.inf
    ) -> list[Nearness]:
        """The *limit* memories nearest to *text* by their best passage, of those that pass."""
        if limit < 1:
            return []
        with self._moment() as at:
            if knn := self._served_vectors():
                return self._served_nearest(knn, text, wanted, limit, at_least)
            compared = index_answers.compared(text, self._matrices(at))
            scope = self._matrix_scope(at, wanted) if compared else {}
        return index_answers.nearest(compared, limit, at_least, **scope)

    def _served_nearest(
        self, knn: Knn, text: Embedding, wanted: Filter, limit: int, at_least: float
    ) -> list[Nearness]:
        """The nearest, found by the server."""
        spaces, passing = self._spaces_of(wanted), self._passing(wanted)
        found = [
            scaled(
                one.scale,
                knn.nearest(self._db, model, one.vector, spaces, passing, limit, one.scale.cosine(at_least)),
            )
            for one, model in self._modelled(text)
        ]
        return best_of(found, limit)

    def _modelled(self, text: Embedding) -> list[tuple[Reading, tuple[int, int]]]:
        """The readings of *text* whose model has vectors here, each with its number and dimension."""
        known = self._known_models()
        return [(one, known[one.model]) for one in text.readings if one.model in known]

    def _spaces_of(self, wanted: Filter) -> list[int]:
        """The ids of the namespaces that *wanted* is about."""
        names = wanted.namespaces
        return self._once(("spaces", names), lambda: self._store.namespace_ids(self._db, names))

    def _matrices(self, at: Snapshot) -> dict[str, Matrix]:
        """The vectors of each current model that has any, by the model's name."""
        models = self._known_models()
        return {name: at.matrix(*model, name) for name, model in models.items()}

    def _matrix_scope(self, at: Snapshot, wanted: Filter) -> dict[str, Any]:
        """Which memories pass *wanted*, as a mask for a matrix."""
        passing: tuple[Slots, Flags] | None = None
        if not wanted.is_plain:
            living = index_answers.among_living(wanted)
            passing = at.columns.slots, at.columns.passing(at.source, living)
        return {
            "namespace_ids": self._namespace_ids(wanted),
            "passing": passing,
            "without": self._left_out(wanted),
        }

    def similarities(self, text: Embedding, memory_ids: Sequence[int]) -> dict[int, Nearness]:
        """How near each of these memories is, for those that have vectors."""
        if not memory_ids:
            return {}
        count = len(memory_ids)
        with self._moment() as at:
            if knn := self._served_vectors():
                near = [
                    scaled(one.scale, knn.similarities(self._db, model, one.vector, memory_ids))
                    for one, model in self._modelled(text)
                ]
                return index_answers.by_memory(best_of(near, count))
            compared = index_answers.compared(text, self._matrices(at))
        return index_answers.by_memory(index_answers.nearest(compared, count, only=memory_ids))

    def _left_similarities(self, text: Embedding, memory_ids: Sequence[int]) -> dict[int, Nearness]:
        """The same for memories that have left the index, by the vectors they left it with."""
        if not memory_ids:
            return {}
        source, count = PostgresSource(self._db), len(memory_ids)
        left = {
            name: self._store.index.matrix_of(*model, source.passages_left(model[0], memory_ids))
            for name, model in self._store.known_models(self._db).items()
        }
        return index_answers.by_memory(index_answers.nearest(index_answers.compared(text, left), count))

    def vectors(self, memory_ids: Sequence[int]) -> dict[int, Reading]:
        """The unit vector of each statement of these living memories that has one, by the statement's number."""
        with self._moment() as at:
            matrices = self._read_matrices(memory_ids) if self._served_vectors() else self._matrices(at)
        return index_answers.vectors(matrices, memory_ids)

    def _read_matrices(self, memory_ids: Sequence[int]) -> dict[str, Matrix]:
        """The vectors of these memories, read for this question, by the model's name."""
        source, models = PostgresSource(self._db), self._known_models()
        return {
            name: self._store.index.matrix_of(*model, source.passages_of(model[0], 0, memory_ids))
            for name, model in models.items()
        }

    def _left_out(self, wanted: Filter) -> list[int]:
        queries, values = memories.left_out(wanted, self._db.here)
        return self._once(
            ("left out", wanted.alive_at, wanted.without, wanted.namespaces),
            lambda: (
                column(self._db, " UNION ALL ".join(f"({one})" for one in queries), values) if queries else []
            ),
        )

    def _namespace_ids(self, wanted: Filter) -> list[int] | None:
        """The ids of the namespaces asked for; unknown ones hold nothing and fall away."""
        return None if wanted.namespaces is None else self._spaces_of(wanted)

    def _traits(self, memory_ids: Sequence[int]) -> dict[int, Traits]:
        """The traits of these memories; unknown numbers are left out."""
        told = rows(self._db, *routed(self._db, TRAITS, {"ids": list(memory_ids)}))
        found = {one[0]: Traits._make(one[1:]) for one in told}
        return {number: found[number] for number in memory_ids if number in found}

    def _neighbours(self, memory_ids: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """For each of these memories that belongs to a session: the living ones right before and after it."""
        found = rows(self._db, *routed(self._db, SESSION_NEIGHBOURS, {"ids": list(memory_ids)}))
        return {one[0]: tuple(number for number in one[1:] if number is not None) for one in found}

    def _openings(self, statement_ids: Sequence[int], characters: int) -> dict[int, str]:
        """The first *characters* of these statements."""
        values = {"characters": characters, "ids": list(statement_ids)}
        return dict(rows(self._db, *routed(self._db, OPENINGS, values)))
