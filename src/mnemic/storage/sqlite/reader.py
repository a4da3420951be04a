"""Reading: every question the store answers, each seeing the newest committed state."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import apsw

from mnemic.model.access import Grant, Token
from mnemic.model.graph import Direction, Edge, Entity, Link, Relation
from mnemic.model.journal import Change, Subject
from mnemic.model.memory import Memory
from mnemic.model.search import LIVING_ONLY, Filter, Order
from mnemic.model.session import Session
from mnemic.model.uids import spelled
from mnemic.model.values import HOUR, Moment, State
from mnemic.model.workspace import Workspace
from mnemic.storage import text
from mnemic.storage.base import (
    Companionship,
    Counts,
    Departed,
    Match,
    Merit,
    Nearness,
    Outline,
    Pending,
    Repute,
    Standing,
    Traits,
    Usage,
    Weights,
)
from mnemic.storage.nearness import best_of, scaled
from mnemic.storage.sqlite import (
    companions,
    edges,
    journal,
    marks,
    memories,
    sessions,
    substrings,
    tokens,
    words,
    workspaces,
)
from mnemic.storage.sqlite.connection import in_our_words
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.rows import Row, column, row, rows, value
from mnemic.storage.tokenizer import equal_spellings

if TYPE_CHECKING:
    from mnemic.embedding.base import Embedding, Reading
    from mnemic.storage.sqlite.ledger import Ledger
    from mnemic.storage.sqlite.lexicon import Holding, Lexicon
    from mnemic.storage.sqlite.opened import OpenedStore
    from mnemic.storage.sqlite.vectors import Matrix
    from mnemic.storage.sqlite.words import Group, Scope

NAMESPACE_COUNT = """
SELECT count(*) FROM namespace
"""
SELECT_IDS = """
SELECT m.id FROM memory m WHERE {conditions}
ORDER BY {order} LIMIT :limit OFFSET :offset
"""
ORDERS = {
    Order.PRIORITY: "m.priority DESC, m.updated_at DESC, m.id",
    Order.NEWEST: "m.created_at DESC, m.id DESC",
    Order.CONFIDENCE: "m.confidence DESC, m.created_at DESC, m.id DESC",
    Order.USE: "m.access_count DESC, m.created_at DESC, m.id DESC",
}
ALL_IDS = """
SELECT m.id FROM memory m WHERE {conditions}
"""
STANDINGS = """
SELECT m.id, m.kind, m.confidence, m.state = 'living', m.created_at, m.accessed_at, m.access_count
FROM memory m WHERE {conditions} ORDER BY m.id
"""
TALLY = """
SELECT m.kind, count(*) FROM memory m WHERE {conditions} GROUP BY m.kind
"""
# One walk for all the counts. What has expired but is not yet collected has left as far as anyone can see.
COUNTS = """
SELECT CASE WHEN m.state = 'living' AND m.expires_at <= :now THEN 'archived' ELSE m.state END,
  m.namespace, m.kind, m.tier, count(*)
FROM memory m
WHERE m.state != 'named' AND (:namespaces IS NULL OR m.namespace IN (SELECT value FROM json_each(:namespaces)))
GROUP BY 1, 2, 3, 4
"""
EXPIRING = """
SELECT count(*) FROM memory m
WHERE m.state = 'living' AND m.expires_at > :alive_at AND m.expires_at <= :soon
  AND (:namespaces IS NULL OR m.namespace IN (SELECT value FROM json_each(:namespaces)))
"""
EDGE_COUNT = """
SELECT count(*) FROM edge e
JOIN memory s ON s.id = e.source_id AND s.state IN ('living', 'named')
JOIN memory t ON t.id = e.target_id AND t.state IN ('living', 'named')
WHERE e.state = 'living' AND e.valid_to IS NULL AND (:namespaces IS NULL
  OR s.namespace IN (SELECT value FROM json_each(:namespaces))
  OR t.namespace IN (SELECT value FROM json_each(:namespaces))) AND (:seen IS NULL
  OR s.namespace IN (SELECT value FROM json_each(:seen)) AND t.namespace IN (SELECT value FROM json_each(:seen)))
"""
SIZE = """
SELECT page_count * page_size FROM pragma_page_count, pragma_page_size
"""
WHOLE_CHARACTERS = 2_000
"""So much of a body is read for the vector of a whole memory: more than a model takes in at once."""
# CROSS: the few that wait are looked up among the memories, never the other way round.
PENDING = f"""
SELECT s.id, s.memory_id, m.title, CASE WHEN s.position > 0 THEN s.text ELSE coalesce((
    SELECT substr(group_concat(b.text, char(10) ORDER BY b.position), 1, {WHOLE_CHARACTERS}) FROM statement b
    WHERE b.memory_id = m.id AND b.until IS NULL AND b.position > 0), '') END, m.summary, m.kind, s.position = 0
FROM statement s CROSS JOIN memory m ON m.id = s.memory_id
WHERE s.model_id IS NULL AND s.until IS NULL AND {{conditions}}
ORDER BY s.id DESC LIMIT :limit
"""
PENDING_COUNT = """
SELECT count(*) FROM statement s CROSS JOIN memory m ON m.id = s.memory_id
WHERE s.model_id IS NULL AND s.until IS NULL AND {conditions}
"""
# Of a long queue the memories are not looked at: with 100,000 waiting that takes 3 ms instead of 45.
BACKLOG = """
WITH newest AS (
  SELECT memory_id FROM statement WHERE model_id IS NULL AND until IS NULL ORDER BY id DESC LIMIT :looked_at
)
SELECT (SELECT count(*) FROM newest CROSS JOIN memory m ON m.id = newest.memory_id WHERE {conditions})
  + max(0, (SELECT count(*) FROM statement WHERE model_id IS NULL AND until IS NULL) - :looked_at)
"""
BACKLOG_LOOKED_AT = 1_000
REPUTES = """
SELECT id, quality, access_count, accessed_at, created_at FROM memory
WHERE id IN (SELECT value FROM json_each(?))
"""
# That nothing living is meant must stand here, or SQLite would not use the index of those that have left.
LEFT = """
SELECT id FROM memory
WHERE state = :state AND state != 'living' AND (:before IS NULL OR state_at < :before)
  AND (:namespaces IS NULL OR namespace IN (SELECT value FROM json_each(:namespaces)))
ORDER BY state_at DESC, id DESC LIMIT :limit OFFSET :offset
"""
LEFT_BY_NAMESPACE = """
SELECT m.namespace, count(*), sum(octet_length(m.title) + coalesce((
    SELECT sum(octet_length(s.text)) FROM statement s WHERE s.memory_id = m.id AND s.until IS NULL), 0)),
  min(m.state_at), max(m.state_at)
FROM memory m
WHERE m.state = :state AND m.state != 'living'
  AND (:namespaces IS NULL OR m.namespace IN (SELECT value FROM json_each(:namespaces)))
GROUP BY m.namespace
"""
STANDARDS = """
SELECT name, standard_id, parent FROM namespace
WHERE standard_id IS NOT NULL OR parent IS NOT NULL ORDER BY name
"""
SESSION_NEIGHBOURS = """
SELECT m.id,
    (SELECT max(b.id) FROM memory b WHERE b.session_id = m.session_id AND b.id < m.id AND b.state = 'living'),
    (SELECT min(a.id) FROM memory a WHERE a.session_id = m.session_id AND a.id > m.id AND a.state = 'living')
FROM memory m WHERE m.id IN (SELECT value FROM json_each(?)) AND m.session_id IS NOT NULL
"""
LAST_IN_SESSION = """
SELECT id FROM memory WHERE session_id = ? AND state = 'living' ORDER BY id DESC LIMIT 1
"""
SETTING = """
SELECT value FROM meta WHERE key = ?
"""
ALL_LIVING = Filter()
ALL = Filter(states=frozenset(State))


@in_our_words
class SqliteReader:
    """The Reader of the SQLite engine, over one connection."""

    def __init__(self, store: OpenedStore, connection: apsw.Connection):
        self._store = store
        self._connection = connection
        self._spelled: dict[tuple[str, int, tuple[str, ...] | None], list[str]] = {}
        """Near spellings found by this reader: the ranking and the relevance of one question ask for the same."""

    def memory(self, memory_id: int) -> Memory | None:
        """See Reader."""
        return memories.one(self._connection, memory_id)

    def memories(self, memory_ids: Sequence[int]) -> list[Memory]:
        """See Reader."""
        return memories.many(self._connection, memory_ids) if memory_ids else []

    def contents(self, memory_ids: Sequence[int]) -> dict[int, str]:
        """See Reader."""
        found = rows(self._connection, memories.BODIES, (as_json(list(memory_ids)),))
        return {
            number: "\n".join(text for _, _, text in statements)
            for number, statements in groupby(found, key=itemgetter(0))
        }

    def entities(self, memory_ids: Sequence[int]) -> list[Entity]:
        """See Reader."""
        return memories.entities(self._connection, memory_ids)

    def ids_with_uid(self, prefix: str, limit: int) -> list[int]:
        """See Reader."""
        span = memories.uid_range(prefix)
        if span is None:
            return []
        return column(self._connection, memories.WITH_UID, (*span, limit))

    def numbers(self, uids: Sequence[str]) -> dict[str, int]:
        """See Reader."""
        return memories.numbers(self._connection, uids)

    def uids(self, memory_ids: Sequence[int], wanted: Filter) -> dict[int, str]:
        """See Reader."""
        conditions, values = memories.where(replace(wanted, ids=tuple(memory_ids)))
        found = rows(self._connection, memories.UIDS.format(conditions=conditions), values)
        return {number: spelled(uid) for number, uid in found}

    def ids_titled(
        self, title: str, namespaces: Sequence[str] | None, state: State = State.LIVING
    ) -> list[int]:
        """See Reader."""
        spelled = equal_spellings(title)
        if namespaces is None:
            anywhere = memories.TITLED_ANYWHERE[state]
            return sorted(number for one in spelled for number in column(self._connection, anywhere, (one,)))
        titled = memories.TITLED[state]
        found = (row(self._connection, titled, (name, one)) for name in namespaces for one in spelled)
        return [one[0] for one in found if one]

    def ids_left(self, title: str) -> list[int]:
        """See Reader."""
        spelled = equal_spellings(title)
        return [
            number for one in spelled for number in column(self._connection, memories.LEFT_TITLED, (one,))
        ]

    def select(
        self, wanted: Filter, *, limit: int, offset: int = 0, order: Order = Order.PRIORITY
    ) -> list[int]:
        """See Reader."""
        limit, offset = max(0, limit), max(0, offset)
        ledger = None if order is Order.USE else self._ledger(wanted)
        if ledger:
            without = self._left_out(Filter(without=wanted.without))
            return ledger.select(self._connection, wanted, order, without=without, limit=limit, offset=offset)
        conditions, values = self._where(wanted)
        sql = SELECT_IDS.format(conditions=conditions, order=ORDERS[order])
        return column(self._connection, sql, {**values, "limit": limit, "offset": offset})

    def ids_with_metadata(self, pairs: Mapping[str, object]) -> list[int]:
        """See Reader."""
        return column(self._connection, memories.WITH_METADATA, {"pairs": as_json(dict(pairs))})

    def passing(self, memory_ids: Sequence[int], wanted: Filter) -> set[int]:
        """See Reader."""
        if not memory_ids:
            return set()
        # As part of the filter: else SQLite would walk through a whole namespace to find them.
        conditions, values = memories.where(replace(wanted, ids=tuple(memory_ids)))
        return set(column(self._connection, ALL_IDS.format(conditions=conditions), values))

    def standings(self, wanted: Filter) -> list[Standing]:
        """See Reader."""
        conditions, values = self._where(wanted)
        found = rows(self._connection, STANDINGS.format(conditions=conditions), values)
        return list(map(Standing._make, found))

    def tally(self, wanted: Filter) -> dict[str, int]:
        """See Reader."""
        if ledger := self._ledger(wanted):
            without = self._left_out(Filter(without=wanted.without))
            return ledger.tally(self._connection, wanted, without=without)
        conditions, values = self._where(wanted)
        return dict(rows(self._connection, TALLY.format(conditions=conditions), values))

    def unlinked(
        self, wanted: Filter, direction: Direction = Direction.BOTH, types: Sequence[str] | None = None
    ) -> list[int]:
        """See Reader."""
        return edges.unlinked(self._connection, wanted, direction, types)

    def left(
        self,
        state: State,
        namespaces: Sequence[str] | None,
        *,
        before: Moment | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[int]:
        """See Reader."""
        values = {
            "state": state,
            "namespaces": _listed(namespaces),
            "before": before,
            "limit": -1 if limit is None else limit,
            "offset": offset,
        }
        return column(self._connection, LEFT, values)

    def left_by_namespace(self, state: State, namespaces: Sequence[str] | None) -> dict[str, Departed]:
        """See Reader."""
        values = {"state": state, "namespaces": _listed(namespaces)}
        found = rows(self._connection, LEFT_BY_NAMESPACE, values)
        return {namespace: Departed(*figures) for namespace, *figures in found}

    def standards(self) -> list[tuple[str, int | None, str | None]]:
        """See Reader."""
        return [(name, standard, parent) for name, standard, parent in rows(self._connection, STANDARDS)]

    def page(self, wanted: Filter, *, after: int = 0, limit: int) -> list[Memory]:
        """See Reader."""
        return memories.page(self._connection, wanted, after, limit)

    def ids_containing(
        self, needle: str, wanted: Filter, *, after: int = 0, limit: int | None = None
    ) -> list[int]:
        """See Reader."""
        if not self._connection.in_transaction:
            self._store.index_substrings()
        return substrings.search(self._connection, self._store.rarity, needle, wanted, after, limit)

    def counts(
        self, namespaces: Sequence[str] | None, now: Moment, *, seen: Sequence[str] | None = None
    ) -> Counts:
        """See Reader."""
        here = Filter(namespaces=None if namespaces is None else tuple(namespaces), alive_at=now)
        spaces = _listed(namespaces)
        if ledger := self._ledger(here):
            groups = ledger.groups(self._connection, here.namespaces, now)
        else:
            groups = rows(self._connection, COUNTS, {"now": now, "namespaces": spaces})
        living = [group for group in groups if group[0] == State.LIVING]
        return Counts(
            by_state=_summed(groups, 0),
            by_namespace=_summed(living, 1),
            by_kind=_summed(living, 2),
            by_tier=_summed(living, 3),
            expiring=self._number(EXPIRING, {"alive_at": now, "soon": now + HOUR, "namespaces": spaces}),
            edges=self._number(EDGE_COUNT, {"namespaces": spaces, "seen": _listed(seen)}),
            pending=self.pending_count(here),
            changes=journal.last(self._connection)[0],
            size_bytes=self.size_bytes(),
        )

    def _number(self, sql: str, values: dict[str, Any] | None = None) -> int:
        return int(value(self._connection, sql, values or {}))

    def size_bytes(self) -> int:
        """See Reader."""
        return self._number(SIZE)

    def count(self) -> int:
        """See Reader."""
        return self._number(words.LIVING_COUNT)

    def size(self, namespaces: Sequence[str] | None) -> int:
        """See Reader."""
        return self._store.frequencies.total(self._connection, self._namespace_scope(namespaces))

    def words(
        self, terms: Sequence[str], wanted: Filter, *, every: bool, limit: int
    ) -> list[tuple[int, float]]:
        """See Reader."""
        scope, groups = self._namespace_scope(wanted.namespaces), self._groups(terms)
        if not terms or scope == ():
            return []
        holding = self._holding(groups, scope, wanted, every=every)
        if holding is not None:
            lexicon, found = holding
            return lexicon.best(found, limit)
        by_word = self._searched_by_word(scope, wanted, every=every)
        return words.search(self._connection, groups, wanted, by_word, every=every, limit=limit)

    def each_word(
        self, terms: Sequence[str], wanted: Filter, memory_ids: Sequence[int]
    ) -> list[dict[int, float]]:
        """See Reader."""
        scope, groups = self._namespace_scope(wanted.namespaces), self._groups(terms)
        if not memory_ids or scope == ():
            return [{} for _ in terms]
        needs_lexicon = _needs_lexicon(groups, scope)
        if lexicon := self._store.lexicon(self._connection, is_question=False, is_needed=needs_lexicon):
            return lexicon.each_word(self._connection, groups, scope, memory_ids)
        return words.each(self._connection, groups, memory_ids)

    def matches(
        self, terms: Sequence[str], wanted: Filter, weights: Weights, *, every: bool, limit: int
    ) -> list[Match]:
        """See Reader."""
        scope, groups = self._namespace_scope(wanted.namespaces), self._groups(terms)
        if not terms or scope == ():
            return []
        holding = self._holding(groups, scope, wanted, every=every)
        if holding is not None:
            lexicon, found = holding
            return lexicon.weighed(self._connection, found, weights, limit)
        by_word = self._searched_by_word(scope, wanted, every=every)
        return words.matches(self._connection, groups, wanted, by_word, every=every, limit=limit)

    def _namespace_scope(self, namespaces: Sequence[str] | None) -> Scope:
        """The numbers of these *namespaces*; None if there are no others."""
        if namespaces is None:
            return None
        numbers = {self._store.namespace_id(self._connection, name) for name in namespaces} - {None}
        if len(numbers) == self._number(NAMESPACE_COUNT):
            return None
        return tuple(sorted(number for number in numbers if number is not None))

    def _groups(self, terms: Sequence[str]) -> list[Group]:
        """The forms of each term; stems are left out as long as the index has none."""
        has_stems = any(getattr(term, "stems", ()) for term in terms) and self._store.has_stems(
            self._connection
        )
        return [words.forms(term, has_stems=has_stems) for term in terms]

    def _searched_by_word(self, scope: Scope, wanted: Filter, *, every: bool) -> Scope:
        """These namespaces, if they should be searched for by their own word in the index.

        BM25 would count all who live in a large one. Those who hold every word are few, and their rows soon looked at.
        """
        if scope is None or (wanted.is_plain and not every):
            return scope
        return None if self._is_large(wanted) else scope

    def _is_large(self, wanted: Filter) -> bool:
        """Whether it is about namespaces that hold much."""
        spaces = wanted.namespaces
        return spaces is not None and not self._store.sizes.is_small(self._connection, spaces)

    def _where(self, wanted: Filter) -> tuple[str, dict[str, Any]]:
        """The condition for *wanted* over all there are, and its parameters."""
        return memories.where(wanted, is_large=self._is_large(wanted))

    def _lexicon(self, wanted: Filter, every: bool, *, is_question: bool = True) -> Lexicon | None:
        """What is kept in memory of the words, if it can answer this.

        Of those who hold *every* word few are left, and to look at their rows takes less than to judge all memories.
        """
        if wanted.states != LIVING_ONLY or (every and not wanted.is_plain):
            return None
        return self._store.lexicon(self._connection, is_question=is_question)

    def _ledger(self, wanted: Filter) -> Ledger | None:
        """What is kept in memory of the rows, if it can tell who passes: it does not know who has which metadata.

        Of the living those are few and asked for.
        """
        if wanted.without is not None and wanted.states != LIVING_ONLY:
            return None
        lexicon = self._store.lexicon(self._connection, is_question=False)
        return lexicon.ledger if lexicon else None

    def _holding(
        self, groups: Sequence[Group], scope: Scope, wanted: Filter, *, every: bool
    ) -> tuple[Lexicon, Holding] | None:
        """Who holds these words and passes, by what is kept in memory; None if the index should be asked.

        The index ranks by the statistics of the whole store, and adds up the forms of a word. So it is asked only
        where all of the store is searched for words of one form, and in a transaction, whose words nobody else may see.
        """
        if needs_lexicon := _needs_lexicon(groups, scope):
            lexicon = self._store.lexicon(self._connection, is_question=True, is_needed=True)
            wanted = _among_living(wanted)
        else:
            lexicon = self._lexicon(wanted, every)
        if lexicon is None:
            return None
        without = self._left_out(wanted)
        found = lexicon.holding(
            self._connection, groups, scope, wanted, every=every, can_read=needs_lexicon, without=without
        )
        return None if found is None else (lexicon, found)

    def frequencies(self, terms: Sequence[str], namespaces: Sequence[str] | None) -> dict[str, int]:
        """See Reader."""
        groups = dict(zip(terms, self._groups(terms), strict=True))
        counts = self._frequencies(groups.values(), self._namespace_scope(namespaces))
        return {term: counts[group] for term, group in groups.items()}

    def _frequencies(self, groups: Iterable[Group], scope: Scope) -> dict[Group, int]:
        lexicon = self._store.lexicon(self._connection, is_question=False)
        holders = lexicon.holders if lexicon else None
        return self._store.frequencies.of(self._connection, groups, scope, holders)

    def stems(self, body: str) -> list[str]:
        """See Reader."""
        return words.stem(self._connection, body)

    def spellings(self, term: str, limit: int, namespaces: Sequence[str] | None) -> list[str]:
        """See Reader."""
        asked = term, limit, None if namespaces is None else tuple(namespaces)
        if asked not in self._spelled:
            self._spelled[asked] = self._spellings(term, limit, namespaces)
        return self._spelled[asked]

    def _spellings(self, term: str, limit: int, namespaces: Sequence[str] | None) -> list[str]:
        scope = self._namespace_scope(namespaces)

        def counted(spelled: list[str]) -> dict[str, int]:
            counts = self._frequencies(((word,) for word in spelled), scope)
            return {word: counts[(word,)] for word in spelled}

        return list(islice(words.spellings(self._connection, term, scope, counted), limit))

    def same_text(self, body: str, namespaces: Sequence[str] | None) -> int | None:
        """See Reader."""
        for number, namespace in rows(self._connection, memories.SAME_TEXT, (text.digest(body),)):
            if namespaces is None or namespace in namespaces:
                return int(number)
        return None

    def marked_alike(self, wanted: Filter, *, limit: int) -> list[tuple[int, int]]:
        """See Reader."""
        return marks.pairs(self._connection, wanted, limit)

    def unheard(self, bodies: Sequence[str]) -> set[str]:
        """See Reader."""
        digests = [text.digest(body) for body in bodies]
        known = set(column(self._connection, memories.KNOWN_DIGESTS, (as_json(digests),)))
        often = Counter(digests)
        told = zip(bodies, digests, strict=True)
        return {body for body, digest in told if digest not in known and often[digest] == 1}

    def models(self, wanted: Filter) -> list[str]:
        """See Reader."""
        namespaces = self._namespace_ids(wanted)
        matrices = self._store.matrices(self._connection)
        return [name for name, matrix in matrices.items() if matrix.has_any(namespaces)]

    def nearest(
        self, text: Embedding, wanted: Filter, *, limit: int, at_least: float = -math.inf
    ) -> list[Nearness]:
        """See Reader."""
        compared = self._compared_with(text)
        if not compared or limit < 1:
            return []
        scope = self._scope(wanted)
        found = [
            scaled(one.scale, matrix.nearest(one.vector, limit, at_least=one.scale.cosine(at_least), **scope))
            for one, matrix in compared
        ]
        return best_of(found, limit)

    def _compared_with(self, text: Embedding) -> list[tuple[Reading, Matrix]]:
        """The readings of *text* whose model has vectors here, each with these."""
        matrices = self._store.matrices(self._connection)
        return [(one, matrices[one.model]) for one in text.readings if one.model in matrices]

    def _scope(self, wanted: Filter) -> dict[str, Any]:
        """Which memories pass *wanted*, as a matrix is told it."""
        lexicon = None if wanted.is_plain else self._lexicon(wanted, every=False, is_question=False)
        if wanted.is_plain or lexicon:
            passing = lexicon.ledger.passing(self._connection, wanted) if lexicon else None
            namespaces, left_out = self._namespace_ids(wanted), self._left_out(wanted)
            return {"namespace_ids": namespaces, "passing": passing, "without": left_out}
        conditions, values = self._where(wanted)
        return {"only": column(self._connection, ALL_IDS.format(conditions=conditions), values)}

    def similarities(self, text: Embedding, memory_ids: Sequence[int]) -> dict[int, Nearness]:
        """See Reader."""
        compared = self._compared_with(text) if memory_ids else []
        count = len(memory_ids)
        found = [
            scaled(one.scale, matrix.nearest(one.vector, count, only=memory_ids)) for one, matrix in compared
        ]
        return {near.memory_id: near for near in best_of(found, count)}

    def left_similarities(self, text: Embedding, memory_ids: Sequence[int]) -> dict[int, Nearness]:
        """See Reader."""
        if not memory_ids:
            return {}
        from mnemic.storage.sqlite.vectors import left

        models = ((one, self._store.known_model(self._connection, one.model)) for one in text.readings)
        found = [
            scaled(one.scale, left(self._connection, model, one.vector, memory_ids))
            for one, model in models
            if model
        ]
        return {near.memory_id: near for near in best_of(found, len(memory_ids))}

    def _left_out(self, wanted: Filter) -> list[int]:
        queries, values = memories.left_out(wanted)
        return [number for query in queries for number in column(self._connection, query, values)]

    def _namespace_ids(self, wanted: Filter) -> list[int] | None:
        """The numbers of the namespaces asked for; unknown ones hold nothing and fall away."""
        if wanted.namespaces is None:
            return None
        numbers = (self._store.namespace_id(self._connection, name) for name in wanted.namespaces)
        return [number for number in numbers if number is not None]

    def overdue(self, now: Moment) -> list[int]:
        """See Reader."""
        return column(self._connection, memories.EXPIRED, {"alive_at": now})

    def edges(
        self, memory_ids: Sequence[int], direction: Direction, types: Sequence[str] | None = None
    ) -> list[Edge]:
        """See Reader."""
        return edges.touching(self._connection, memory_ids, direction, types)

    def links(
        self, memory_ids: Sequence[int], direction: Direction, types: Sequence[str] | None = None
    ) -> list[Link]:
        """See Reader."""
        return edges.links(self._connection, memory_ids, direction, types)

    def links_between(self, memory_ids: Sequence[int]) -> list[Link]:
        """See Reader."""
        return edges.between(self._connection, memory_ids)

    def edges_typed(self, type: str, wanted: Filter) -> list[Edge]:
        """See Reader."""
        return edges.typed(self._connection, type, wanted)

    def edge_tally(self, wanted: Filter) -> dict[str, int]:
        """See Reader."""
        return edges.tally(self._connection, wanted)

    def edge(self, edge_id: int) -> Edge | None:
        """See Reader."""
        found = row(self._connection, edges.BY_ID, (edge_id,))
        return edges.decode(found) if found else None

    def edge_ids(self, memory_id: int) -> list[int]:
        """See Reader."""
        return column(self._connection, edges.IDS_AT, {"id": memory_id})

    def edge_between(self, source_id: int, target_id: int, type: str) -> Edge | None:
        """See Reader."""
        found = row(self._connection, edges.BETWEEN, (source_id, target_id, type))
        return edges.decode(found) if found else None

    def has_edge(self, source_id: int, target_id: int, type: str, created_at: Moment) -> bool:
        """See Reader."""
        return row(self._connection, edges.MADE, (source_id, target_id, type, created_at)) is not None

    def relations(
        self,
        wanted: Filter,
        *,
        at: Sequence[int] | None = None,
        after: int = 0,
        limit: int | None = None,
    ) -> list[Relation]:
        """See Reader."""
        return edges.named(self._connection, wanted, at, after, limit)

    def all_memories(self) -> Iterator[Memory]:
        """See Reader."""
        return memories.walk(self._connection, ALL)

    def all_edges(self) -> Iterator[Edge]:
        """See Reader."""
        return edges.walk(self._connection)

    def sessions(self) -> list[Session]:
        """See Reader."""
        return [sessions.decode(found) for found in rows(self._connection, sessions.ALL)]

    def session_count(self, namespaces: Sequence[str] | None) -> int:
        """See Reader."""
        return int(value(self._connection, sessions.COUNT, {"namespaces": _listed(namespaces)}))

    def session_numbered(self, session_id: int) -> Session | None:
        """See Reader."""
        found = row(self._connection, sessions.BY_ID, (session_id,))
        return sessions.decode(found) if found else None

    def latest_sessions(self, namespaces: Sequence[str] | None, *, limit: int) -> list[Session]:
        """See Reader."""
        values = {"namespaces": _listed(namespaces), "limit": limit}
        found = rows(self._connection, sessions.LATEST, values)
        return [sessions.decode(one) for one in found]

    def sessions_called(self, namespace: str, name: str) -> list[Session]:
        """See Reader."""
        values = {"namespace": namespace, "name": name}
        return [sessions.decode(found) for found in rows(self._connection, sessions.CALLED, values)]

    def last_in_session(self, session_id: int) -> int | None:
        """See Reader."""
        found = row(self._connection, LAST_IN_SESSION, (session_id,))
        return found[0] if found else None

    def workspaces(self) -> list[Workspace]:
        """See Reader."""
        return workspaces.every(self._connection)

    def journal(
        self,
        *,
        after: int | None = None,
        subject: Subject | None = None,
        subject_ids: Sequence[int] | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        actor: str | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> Iterator[Change]:
        """See Reader."""
        return journal.read(
            self._connection,
            limit=limit,
            newest_first=newest_first,
            after=after,
            subject=subject,
            subject_ids=subject_ids,
            since=since,
            until=until,
            actor=actor,
        )

    def pending(self, *, limit: int, wanted: Filter = ALL_LIVING) -> list[Pending]:
        """See Reader."""
        conditions, values = memories.where(wanted)
        sql = PENDING.format(conditions=conditions)
        return [Pending(*one) for one in rows(self._connection, sql, {**values, "limit": limit})]

    def pending_count(self, wanted: Filter = ALL_LIVING) -> int:
        """See Reader."""
        conditions, values = memories.where(wanted)
        return self._number(PENDING_COUNT.format(conditions=conditions), values)

    def backlog(self, wanted: Filter) -> int:
        """See Reader."""
        conditions, values = memories.where(wanted)
        return self._number(BACKLOG.format(conditions=conditions), values | {"looked_at": BACKLOG_LOOKED_AT})

    def traits(self, memory_ids: Sequence[int]) -> dict[int, Traits]:
        """See Reader."""
        return self._store.traits.of(self._connection, memory_ids)

    def merits(self, memory_ids: Sequence[int]) -> dict[int, Merit]:
        """See Reader."""
        found = rows(self._connection, memories.MERITS, (as_json(list(memory_ids)),))
        return {one[0]: Merit._make(one[1:]) for one in found}

    def reputes(self, memory_ids: Sequence[int]) -> dict[int, Repute]:
        """See Reader."""
        found = rows(self._connection, REPUTES, (as_json(list(memory_ids)),))
        return {one[0]: Repute._make(one[1:]) for one in found}

    def beginning(
        self, statement_ids: Sequence[int], characters: int, holds: Callable[[str], bool]
    ) -> list[int]:
        """See Reader."""
        return self._store.openings(characters, holds).of(self._connection, statement_ids)

    def neighbours_in_session(self, memory_ids: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """See Reader."""
        found = rows(self._connection, SESSION_NEIGHBOURS, (as_json(list(memory_ids)),))
        return {one[0]: tuple(number for number in one[1:] if number is not None) for one in found}

    def setting(self, name: str) -> str | None:
        """See Reader."""
        found = row(self._connection, SETTING, (name,))
        return found[0] if found else None

    def usage(self, memory_ids: Sequence[int]) -> dict[int, Usage]:
        """See Reader."""
        return companions.usage(self._connection, memory_ids)

    def companions(self, memory_ids: Sequence[int]) -> dict[tuple[int, int], Companionship]:
        """See Reader."""
        return companions.among(self._connection, memory_ids)

    def all_companions(self) -> Iterator[tuple[int, int, Companionship]]:
        """See Reader."""
        return companions.every(self._connection)

    def outlines(self, wanted: Filter) -> list[Outline]:
        """See Reader."""
        return companions.outlines(self._connection, wanted)

    def origins(self, memory_ids: Sequence[int]) -> dict[int, int]:
        """See Reader."""
        return companions.origins(self._connection, memory_ids)

    def vectors(self, memory_ids: Sequence[int]) -> dict[int, Reading]:
        """See Reader."""
        from mnemic.embedding.base import Reading

        return {
            number: Reading(name, vector)
            for name, matrix in self._store.matrices(self._connection).items()
            for number, vector in matrix.of(memory_ids).items()
        }

    def tokens(self) -> list[Token]:
        """See Reader."""
        return [tokens.decode(one) for one in rows(self._connection, tokens.ALL)]

    def grant_of(self, token_hash: bytes) -> Grant | None:
        """See Reader."""
        found = row(self._connection, tokens.BY_HASH, (token_hash,))
        return tokens.decode(found).grant if found else None


def _listed(namespaces: Sequence[str] | None) -> str | None:
    """These namespaces as a parameter; NULL is all of them."""
    return None if namespaces is None else as_json(list(namespaces))


def _summed(groups: Iterable[Row], place: int) -> dict[str, int]:
    """How many there are of each value that stands at *place*, most first; the count stands last."""
    counts: Counter[str] = Counter()
    for group in groups:
        counts[group[place]] += group[-1]
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def _needs_lexicon(groups: Iterable[Group], scope: Scope) -> bool:
    """Whether the index cannot rank this itself: not by the statistics of a part, nor words of several forms."""
    return scope is not None or any(len(group) > 1 for group in groups)


def _among_living(wanted: Filter) -> Filter:
    """*wanted* of the living alone: nobody else has words in the index."""
    return replace(wanted, states=wanted.states & LIVING_ONLY)
