"""Reading: every question the store answers, each seeing the newest committed state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from mnemic.model.access import Token
from mnemic.model.change import Change, Position, Subject
from mnemic.model.enums import State
from mnemic.model.filter import (
    ANY_CHANGE,
    ANY_RECALL,
    ANY_SESSION,
    AliasFilter,
    ChangeFilter,
    EdgeFilter,
    Filter,
    Order,
    RecallFilter,
    SessionFilter,
)
from mnemic.model.graph import Edge
from mnemic.model.memory import Memory, name_key
from mnemic.model.recall_entry import RecallEntry
from mnemic.model.session import Session
from mnemic.model.time import Moment
from mnemic.model.version import Version
from mnemic.storage import fingerprint
from mnemic.storage.base import (
    WHOLE_CHARACTERS,
    Companionship,
    Pending,
)
from mnemic.storage.decoders import token_of
from mnemic.storage.sqlite import (
    access_tokens,
    claims,
    cooccurrence,
    edges,
    journal,
    look,
    memories,
    minhash,
    recall_log,
    sessions,
    trigram,
    versions,
)
from mnemic.storage.sqlite.connection import in_our_words
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.rows import Row, column, row, rows
from mnemic.storage.sqlite.search_reader import SearchReader

S = TypeVar("S", bound=tuple[Any, ...])

NO_LIMIT = -1
SELECT_IDS = """
SELECT m.id FROM memory m WHERE {conditions}
ORDER BY {order} LIMIT :limit OFFSET :offset
"""
# NOT INDEXED: by number, so that nothing has to be sorted to find where a page ends.
SELECT_BY_NUMBER = """
SELECT m.id FROM memory m NOT INDEXED WHERE m.id > :after AND {conditions}
ORDER BY m.id LIMIT :limit OFFSET :offset
"""
ORDERS = {
    Order.PRIORITY: "m.priority DESC, m.updated_at DESC, m.id",
    Order.NEWEST: "m.created_at DESC, m.id DESC",
    Order.CONFIDENCE: "m.confidence DESC, m.created_at DESC, m.id DESC",
    Order.USE: "m.access_count DESC, m.created_at DESC, m.id DESC",
    Order.NUMBER: "m.id",
    Order.LAST: "m.id DESC",
    Order.LEFT: "m.state_at DESC, m.id DESC",
    Order.UPDATED: "m.updated_at DESC, m.id DESC",
    Order.USED: "m.accessed_at DESC, m.id DESC",
    Order.EXPIRY: "m.expires_at IS NULL, m.expires_at, m.id",
    Order.TITLE: "m.title COLLATE NOCASE, m.id",
    Order.KIND: "m.kind, m.id DESC",
    Order.NAMESPACE: "m.namespace, m.id DESC",
}
KEPT_ORDERS = frozenset({Order.PRIORITY, Order.NEWEST, Order.CONFIDENCE})
"""The orders that the columns in memory can sort by."""
TALLIES = {
    by: f"""
SELECT m.{by}, count(*) FROM memory m WHERE {{conditions}} GROUP BY m.{by}
"""
    for by in ("kind", "namespace", "tier", "state")
} | {
    "tag": """
SELECT t.name, count(*) FROM tag t CROSS JOIN memory m ON m.id = t.memory_id WHERE {conditions} GROUP BY t.name
""",
    "session": """
SELECT CAST(m.session_id AS TEXT), count(*) FROM memory m
WHERE m.session_id IS NOT NULL AND {conditions} GROUP BY m.session_id
""",
    "actor": f"""
SELECT j.actor, count(*) FROM journal j CROSS JOIN memory m ON m.id = j.subject_id
WHERE {memories.CREATION} AND {{conditions}} GROUP BY j.actor
""",
    "day": """
SELECT date(m.created_at / 1000000, 'unixepoch') AS day, count(*) FROM memory m WHERE {conditions} GROUP BY day
""",
}
COSTLY = frozenset({"tag", "session", "actor", "day"})
"""Counts for which a scan of the rows takes as long as to load the columns."""
GROUPED = ("state", "namespace", "kind", "tier")
"""The columns by which the ledger counts."""
EVERY = 1 << 60
"""A limit that leaves nothing out."""
SIZE = """
SELECT page_count * page_size FROM pragma_page_count, pragma_page_size
"""
# CROSS: the few that wait are looked up among the memories, never the other way round.
PENDING = f"""
SELECT s.id, s.memory_id, m.title, CASE WHEN s.position > 0 THEN s.text ELSE coalesce((
    SELECT substr(group_concat(b.text, char(10) ORDER BY b.position), 1, {WHOLE_CHARACTERS}) FROM statement b
    WHERE b.memory_id = m.id AND b.until IS NULL AND b.position > 0), '') END, m.summary, m.kind, s.position = 0,
    m.namespace
FROM statement s CROSS JOIN memory m ON m.id = s.memory_id
WHERE s.model_id IS NULL AND s.until IS NULL AND {{conditions}}
ORDER BY s.id DESC LIMIT :limit
"""
# Of a long queue the memories are not looked at: with 100,000 waiting that takes 3 ms instead of 45.
BACKLOG = """
WITH newest AS (
  SELECT memory_id FROM statement WHERE model_id IS NULL AND until IS NULL ORDER BY id DESC LIMIT :looked_at
)
SELECT (SELECT count(*) FROM newest CROSS JOIN memory m ON m.id = newest.memory_id WHERE {conditions})
  + max(0, (SELECT count(*) FROM statement WHERE model_id IS NULL AND until IS NULL) - :looked_at)
"""
STANDARDS = """
SELECT name, standard_id, parent FROM namespace
WHERE standard_id IS NOT NULL OR parent IS NOT NULL ORDER BY name
"""
SETTING = """
SELECT value FROM meta WHERE key = ?
"""
EDGE_TALLIES = {"type": edges.tally}
SESSION_TALLIES = {"namespace": sessions.tally}
ALL_LIVING = Filter()


@in_our_words()
class SqliteReader(SearchReader):
    """The Reader of the SQLite engine, over one connection."""

    def get(self, memory_ids: Sequence[int]) -> list[Memory]:
        """The memories with these numbers, in the order given; unknown numbers are left out."""
        return memories.many(self._db, memory_ids) if memory_ids else []

    def ids_named(
        self, name: str, namespaces: Sequence[str] | None, state: State = State.LIVING
    ) -> list[int]:
        """The living memories (or the placeholders) of this chosen name, at most one in each of *namespaces*."""
        key = name_key(name)
        if namespaces is None:
            return column(self._db, memories.NAMED_ANYWHERE[state], (key,))
        found = (row(self._db, memories.NAMED[state], (space, key)) for space in namespaces)
        return [one[0] for one in found if one]

    def select(
        self,
        wanted: Filter,
        *,
        limit: int | None = None,
        offset: int = 0,
        order: Order = Order.PRIORITY,
        is_reversed: bool = False,
        after: int = 0,
    ) -> list[int]:
        """The numbers of the memories that pass *wanted*, in this order."""
        limit, offset = EVERY if limit is None else max(0, limit), max(0, offset)
        if memories.is_selective(wanted):
            return self._selected(wanted, _sorting(order, is_reversed), limit, offset, after)
        with self._moment() as at:
            is_kept = order in KEPT_ORDERS and not after and not is_reversed
            columns = self._columns(at, wanted) if is_kept else None
            if columns:
                without = self._left_out(Filter(without=wanted.without))
                return columns.select(at.source, wanted, order, without=without, limit=limit, offset=offset)
        conditions, values = self._where(wanted)
        is_by_number = order is Order.NUMBER and not is_reversed
        sql = (SELECT_BY_NUMBER if is_by_number else SELECT_IDS).format(
            conditions=conditions, order=_sorting(order, is_reversed)
        )
        return column(self._db, sql, {**values, "limit": limit, "offset": offset, "after": after})

    def _selected(self, wanted: Filter, order: str, limit: int, offset: int, after: int) -> list[int]:
        """The few memories to which an index leads, in this order; sorted, since that keeps SQLite on the index."""
        conditions, values = memories.where(wanted)
        sql = SELECT_IDS.format(conditions=f"+m.id > :after AND {conditions}", order=f"+{order}")
        return column(self._db, sql, {**values, "limit": limit, "offset": offset, "after": after})

    def look(
        self,
        wanted: Filter | EdgeFilter | Sequence[int],
        shape: type[S],
        *,
        after: int = 0,
        limit: int | None = None,
    ) -> list[S]:
        """The memories or links that pass *wanted*, or the memories with these numbers, as rows of *shape*."""
        match wanted:
            case EdgeFilter():
                return edges.look(self._db, wanted, shape, after, limit)
            case Filter():
                conditions, values = self._where(wanted) if wanted.ids is None else memories.where(wanted)
            case _:
                conditions, values = memories.CONDITIONS["ids"], {"ids": as_json(list(wanted))}
        return look.look(self._db, conditions, values, shape, after, limit)

    def tally(self, wanted: Filter | EdgeFilter | SessionFilter, by: str) -> dict[str, int]:
        """How many memories, links or sessions pass *wanted*, by one of their attributes; the largest first."""
        match wanted:
            case EdgeFilter():
                return _summed(EDGE_TALLIES[by](self._db, wanted).items())
            case SessionFilter():
                return _summed(SESSION_TALLIES[by](self._db, wanted).items())
        groups = self._kept_groups(wanted, by)
        if groups is None:
            conditions, values = self._where(wanted)
            groups = rows(self._db, TALLIES[by].format(conditions=conditions), values)
        return _summed(groups)

    def _kept_groups(self, wanted: Filter, by: str) -> list[Row] | None:
        """The counts by the column cache; None if it cannot tell."""
        with self._moment() as at:
            columns = self._columns(at, wanted, is_worth_loading=by in COSTLY)
            if columns is None:
                return None
            plain = Filter(namespaces=wanted.namespaces, states=wanted.states, alive_at=wanted.alive_at)
            if by not in GROUPED or wanted != plain or not wanted.is_plain:
                without = self._left_out(Filter(without=wanted.without))
                return list(columns.tally(at.source, wanted, by, without=without).items())
            groups = columns.groups(at.source, wanted.namespaces, wanted.alive_at or 0)
        place = GROUPED.index(by)
        return [(group[place], group[-1]) for group in groups if group[0] in wanted.states]

    def standards(self) -> list[tuple[str, int | None, str | None]]:
        """The settings of each namespace that has some: its name, standard memory and parent."""
        return [(name, standard, parent) for name, standard, parent in rows(self._db, STANDARDS)]

    def search_substring(
        self, needle: str, wanted: Filter, *, after: int = 0, limit: int | None = None
    ) -> list[int]:
        """The first *limit* memories above number *after* that pass and hold *needle*, by number."""
        if not self._db.in_transaction:
            self._store.index_substrings()
        return trigram.search(self._db, self._store.rarity, needle, wanted, after, limit)

    def size_bytes(self) -> int:
        """How much room the store takes."""
        return self._number(SIZE)

    def same_texts(self, bodies: Sequence[str], namespaces: Sequence[str] | None) -> dict[str, int]:
        """For each of *bodies* that is the whole body of a living memory: one such."""
        digests = {body: fingerprint.digest(body) for body in bodies}
        found = rows(self._db, memories.SAME_TEXTS, (as_json(list(digests.values())),))
        known = {
            digest: int(number)
            for digest, number, namespace in reversed(found)
            if namespaces is None or namespace in namespaces
        }
        return {body: known[digest] for body, digest in digests.items() if digest in known}

    def near_duplicates(self, body: str, wanted: Filter, *, limit: int) -> list[int]:
        """Up to *limit* memories that may say nearly what *body* says. Most that do are found, and some that do not."""
        return minhash.alike(self._db, body, wanted, limit)

    def near_duplicate_pairs(self, wanted: Filter, *, limit: int) -> list[tuple[int, int]]:
        """Up to *limit* pairs of memories of one namespace that may say nearly the same, the smaller number first."""
        return minhash.pairs(self._db, wanted, limit)

    def overdue(self, now: Moment) -> list[int]:
        """The living memories whose time was over at *now*."""
        return column(self._db, memories.EXPIRED, {"alive_at": now})

    def edges(self, wanted: EdgeFilter, *, after: int = 0, limit: int | None = None) -> list[Edge]:
        """The links that pass *wanted*, by number."""
        return edges.select(self._db, wanted, after, limit)

    def sessions(
        self, wanted: SessionFilter = ANY_SESSION, *, limit: int | None = None, newest_first: bool = False
    ) -> list[Session]:
        """The sessions that pass *wanted*, by number."""
        return sessions.select(self._db, wanted, limit=limit, newest_first=newest_first)

    def journal(
        self, wanted: ChangeFilter = ANY_CHANGE, *, limit: int | None = None, newest_first: bool = False
    ) -> Iterator[Change]:
        """The changes that pass, in order, with statements given as texts."""
        return journal.read(self._db, wanted, limit=limit, newest_first=newest_first)

    def changes(self, after: Position, *, limit: int | None = None) -> Iterator[Change]:
        """The changes after *after*: with one writer at a time, all that are committed are settled."""
        return journal.read(self._db, ChangeFilter(after=after), limit=limit)

    def recalls(
        self, wanted: RecallFilter = ANY_RECALL, *, limit: int, newest_first: bool = False
    ) -> list[RecallEntry]:
        """The first *limit* entries of the recall log that pass, by number."""
        return recall_log.select(self._db, wanted, limit=limit, newest_first=newest_first)

    def pending(
        self, *, limit: int, wanted: Filter = ALL_LIVING, unclaimed_at: Moment | None = None
    ) -> list[Pending]:
        """Up to *limit* statements of living memories that have no vectors yet, newest first."""
        conditions, values = memories.where(wanted)
        if unclaimed_at is not None:
            conditions, values = f"{conditions} AND {claims.UNCLAIMED}", {**values, "now": unclaimed_at}
        sql = PENDING.format(conditions=conditions)
        return [Pending(*one) for one in rows(self._db, sql, {**values, "limit": limit})]

    def backlog(self, wanted: Filter = ALL_LIVING, *, looked_at: int | None = None) -> int:
        """How many statements of memories that pass wait for their vectors."""
        conditions, values = memories.where(wanted)
        most = EVERY if looked_at is None else looked_at
        return self._number(BACKLOG.format(conditions=conditions), values | {"looked_at": most})

    def versions(self, subject: Subject, numbers: Sequence[int]) -> dict[int, Version]:
        """The versions kept of these memories, links or sessions."""
        return versions.versions(self._db, subject, numbers)

    def aliases(self, wanted: AliasFilter) -> list[tuple[str, int]]:
        """The aliases that pass, each with the id of its memory."""
        return versions.aliases(self._db, wanted)

    def setting(self, name: str) -> str | None:
        """What was kept under *name* by `put_setting`, or None."""
        found = row(self._db, SETTING, (name,))
        return found[0] if found else None

    def companions(self, memory_ids: Sequence[int] | None = None) -> Iterator[tuple[int, int, Companionship]]:
        """The pairs of these memories, or of all, that were answered together."""
        if memory_ids is None:
            return cooccurrence.every(self._db)
        return iter(cooccurrence.among(self._db, memory_ids))

    def tokens(self, token_hash: bytes | None = None) -> list[Token]:
        """The access tokens, by name; or the one with this hash."""
        asked = (access_tokens.ALL, ()) if token_hash is None else (access_tokens.BY_HASH, (token_hash,))
        return [token_of(one) for one in rows(self._db, *asked)]


def _sorting(order: Order, is_reversed: bool) -> str:
    """The terms of an ORDER BY."""
    return _reversed(ORDERS[order]) if is_reversed else ORDERS[order]


def _reversed(order: str) -> str:
    """The terms of an ORDER BY, each the other way round."""
    terms = (term.strip() for term in order.split(","))
    return ", ".join(
        term.removesuffix(" DESC") if term.endswith(" DESC") else f"{term} DESC" for term in terms
    )


def _listed(namespaces: Sequence[str] | None) -> str | None:
    """These namespaces as a parameter; NULL is all of them."""
    return None if namespaces is None else as_json(list(namespaces))


def _summed(groups: Iterable[Row]) -> dict[str, int]:
    """The sums of counts by value, the largest first."""
    counts: Counter[str] = Counter()
    for name, number in groups:
        counts[name] += number
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
