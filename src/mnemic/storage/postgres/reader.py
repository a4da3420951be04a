"""Reading: every question the store answers, each seeing the newest committed state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from mnemic.model.access import Token
from mnemic.model.change import Change, Position, Subject
from mnemic.model.enums import State
from mnemic.model.filter import (
    ALL_STATES,
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
from mnemic.storage.postgres import (
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
    substring,
    versions,
)
from mnemic.storage.postgres.connection import Row, in_our_words
from mnemic.storage.postgres.rows import column, routed, row, rows
from mnemic.storage.postgres.search_reader import SearchReader

S = TypeVar("S", bound=tuple[Any, ...])

SELECT_IDS = """
SELECT m.id FROM memory m WHERE m.id > %(after)s AND {conditions}
ORDER BY {order} LIMIT %(limit)s OFFSET %(offset)s
"""
ORDERS: Mapping[Order, tuple[str, ...]] = {
    Order.PRIORITY: ("m.priority DESC", "m.updated_at DESC", "m.id"),
    Order.NEWEST: ("m.created_at DESC", "m.id DESC"),
    Order.CONFIDENCE: ("m.confidence DESC", "m.created_at DESC", "m.id DESC"),
    Order.USE: ("m.access_count DESC", "m.created_at DESC", "m.id DESC"),
    Order.NUMBER: ("m.id",),
    Order.LAST: ("m.id DESC",),
    Order.LEFT: ("coalesce(m.state_at, -1) DESC", "m.id DESC"),
    Order.UPDATED: ("m.updated_at DESC", "m.id DESC"),
    Order.USED: ("coalesce(m.accessed_at, -1) DESC", "m.id DESC"),
    Order.EXPIRY: ("m.expires_at IS NULL", "m.expires_at", "m.id"),
    Order.TITLE: ('lower(m.title COLLATE "C")', "m.id"),
    Order.KIND: ("m.kind", "m.id DESC"),
    Order.NAMESPACE: (memories.NAMESPACE.format("m"), "m.id DESC"),
}
TALLIES = {
    by: f"""
SELECT {name}, count(*) FROM memory m WHERE {{conditions}} GROUP BY {name}
"""
    for by, name in {
        "kind": "m.kind",
        "tier": "m.tier",
        "state": "m.state",
        "namespace": memories.NAMESPACE.format("m"),
        "day": "to_char(to_timestamp(m.created_at / 1000000), 'YYYY-MM-DD')",
    }.items()
} | {
    "tag": """
SELECT t.name, count(*) FROM tag t JOIN memory m ON m.namespace_id = t.namespace_id AND m.id = t.memory_id
WHERE {conditions} GROUP BY t.name
""",
    "session": """
SELECT m.session_id::text, count(*) FROM memory m
WHERE m.session_id IS NOT NULL AND {conditions} GROUP BY m.session_id
""",
    "actor": f"""
SELECT j.actor, count(*) FROM journal j JOIN memory m ON m.id = j.subject_id
WHERE {{here[j]}} AND {memories.CREATION} AND {{conditions}} GROUP BY j.actor
""",
}
SIZE = """
SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c
WHERE c.relnamespace = to_regnamespace('mnemic') AND c.relkind = 'r'
"""
PENDING = f"""
SELECT s.id, s.memory_id, m.title, CASE WHEN s.position > 0 THEN s.text ELSE coalesce((
    SELECT left(string_agg(b.text, chr(10) ORDER BY b.position), {WHOLE_CHARACTERS}) FROM statement b
    WHERE b.namespace_id = m.namespace_id AND b.memory_id = m.id AND b.until IS NULL AND b.position > 0
      AND {{within[b]}}), '') END,
    m.summary, m.kind, s.position = 0, {memories.NAMESPACE.format("m")}
FROM statement s JOIN memory m ON m.namespace_id = s.namespace_id AND m.id = s.memory_id
WHERE s.model_id IS NULL AND s.until IS NULL AND {{conditions}}
ORDER BY s.id DESC LIMIT %(limit)s
"""
# Of a long queue the memories are not looked at.
BACKLOG = """
WITH newest AS (
  SELECT namespace_id, memory_id FROM statement s WHERE model_id IS NULL AND until IS NULL AND {here[s]}
  ORDER BY id DESC LIMIT %(looked_at)s
)
SELECT (SELECT count(*) FROM newest w JOIN memory m ON m.namespace_id = w.namespace_id AND m.id = w.memory_id
        WHERE {here[m]} AND {conditions})
  + greatest(0, (SELECT count(*) FROM statement s WHERE model_id IS NULL AND until IS NULL AND {here[s]})
      - %(looked_at)s)
"""
EVERY = 1 << 60
"""A limit that leaves nothing out."""
STANDARDS = """
SELECT name, standard_id, parent FROM namespace
WHERE standard_id IS NOT NULL OR parent IS NOT NULL ORDER BY name
"""
SETTING = """
SELECT value FROM meta WHERE key = %s
"""
EDGE_TALLIES = {"type": edges.tally}
SESSION_TALLIES = {"namespace": sessions.tally}
ALL_LIVING = Filter()


@in_our_words()
class PostgresReader(SearchReader):
    """The Reader of the PostgreSQL engine."""

    def get(self, memory_ids: Sequence[int]) -> list[Memory]:
        """The memories with these numbers, in the order given; unknown numbers are left out."""
        return memories.many(self._db, memory_ids) if memory_ids else []

    def ids_named(
        self, name: str, namespaces: Sequence[str] | None, state: State = State.LIVING
    ) -> list[int]:
        """The living memories (or the placeholders) of this chosen name, at most one in each of *namespaces*."""
        return self._by_space(memories.NAMED[state], {"name": name_key(name)}, namespaces)

    def _by_space(self, sql: str, values: dict[str, Any], namespaces: Sequence[str] | None) -> list[int]:
        """The numbers that *sql* gives, in the order of the *namespaces*, or of all by number."""
        spaces = self._store.namespace_ids(self._db, namespaces)
        here = self._db.here.within(namespaces)
        found = rows(self._db, sql.format(here=here), {**values, **here.values})
        if namespaces is None:
            return [number for _, number in found]
        return [number for space in dict.fromkeys(spaces) for one, number in found if one == space]

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
        conditions, values = memories.where(wanted, self._db.here)
        most = None if limit is None else max(0, limit)
        values |= {"limit": most, "offset": max(0, offset), "after": after}
        terms = map(_reversed, ORDERS[order]) if is_reversed else ORDERS[order]
        return column(self._db, SELECT_IDS.format(conditions=conditions, order=", ".join(terms)), values)

    def look(
        self,
        wanted: Filter | EdgeFilter | Sequence[int],
        shape: type[S],
        *,
        after: int = 0,
        limit: int | None = None,
    ) -> list[S]:
        """The memories or links that pass *wanted*, or the memories with these numbers, as rows of *shape*."""
        if isinstance(wanted, EdgeFilter):
            return edges.look(self._db, wanted, shape, after, limit)
        chosen = wanted if isinstance(wanted, Filter) else Filter(ids=tuple(wanted), states=ALL_STATES)
        return [] if chosen.ids == () else look.look(self._db, chosen, shape, after, limit)

    def tally(self, wanted: Filter | EdgeFilter | SessionFilter, by: str) -> dict[str, int]:
        """How many memories, links or sessions pass *wanted*, by one of their attributes; the largest first."""
        match wanted:
            case EdgeFilter():
                return _summed(EDGE_TALLIES[by](self._db, wanted).items())
            case SessionFilter():
                return _summed(SESSION_TALLIES[by](self._db, wanted).items())
        conditions, values = memories.where(wanted, self._db.here)
        return _summed(rows(self._db, *routed(self._db, TALLIES[by], values, conditions=conditions)))

    def standards(self) -> list[tuple[str, int | None, str | None]]:
        """The settings of each namespace that has some: its name, standard memory and parent."""
        return [(name, standard, parent) for name, standard, parent in rows(self._db, STANDARDS)]

    def search_substring(
        self, needle: str, wanted: Filter, *, after: int = 0, limit: int | None = None
    ) -> list[int]:
        """The first *limit* memories above number *after* that pass and hold *needle*, by number."""
        return substring.search(self._db, needle, wanted, after, limit)

    def size_bytes(self) -> int:
        """How much room the store takes."""
        return self._number(SIZE)

    def same_texts(self, bodies: Sequence[str], namespaces: Sequence[str] | None) -> dict[str, int]:
        """For each of *bodies* that is the whole body of a living memory: one such."""
        digests = {body: fingerprint.digest(body) for body in bodies}
        known = memories.same_texts(self._db, list(digests.values()), namespaces)
        return {body: known[digest] for body, digest in digests.items() if digest in known}

    def near_duplicates(self, body: str, wanted: Filter, *, limit: int) -> list[int]:
        """Up to *limit* memories that may say nearly what *body* says. Most that do are found, and some that do not."""
        return minhash.alike(self._db, body, wanted, limit)

    def near_duplicate_pairs(self, wanted: Filter, *, limit: int) -> list[tuple[int, int]]:
        """Up to *limit* pairs of memories of one namespace that may say nearly the same, the smaller number first."""
        return minhash.pairs(self._db, wanted, limit)

    def overdue(self, now: Moment) -> list[int]:
        """The living memories whose time was over at *now*."""
        return column(self._db, *routed(self._db, memories.EXPIRED, {"alive_at": now}))

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
        """The changes after *after* that no transaction still at work can come before."""
        return journal.read(self._db, ChangeFilter(after=after), limit=limit, is_settled=True)

    def recalls(
        self, wanted: RecallFilter = ANY_RECALL, *, limit: int, newest_first: bool = False
    ) -> list[RecallEntry]:
        """The first *limit* entries of the recall log that pass, by number."""
        return recall_log.select(self._db, wanted, limit=limit, newest_first=newest_first)

    def pending(
        self, *, limit: int, wanted: Filter = ALL_LIVING, unclaimed_at: Moment | None = None
    ) -> list[Pending]:
        """Up to *limit* statements of living memories that have no vectors yet, newest first."""
        here = self._db.here
        conditions, values = memories.where(wanted, here)
        if unclaimed_at is not None:
            conditions, values = f"{conditions} AND {claims.UNCLAIMED}", {**values, "now": unclaimed_at}
        sql = PENDING.format(conditions=conditions, within=here.within(wanted.namespaces))
        return [Pending(*one) for one in rows(self._db, sql, {**values, "limit": limit})]

    def backlog(self, wanted: Filter = ALL_LIVING, *, looked_at: int | None = None) -> int:
        """How many statements of memories that pass wait for their vectors."""
        conditions, values = memories.where(wanted, self._db.here)
        values["looked_at"] = EVERY if looked_at is None else looked_at
        return self._number(*routed(self._db, BACKLOG, values, conditions=conditions))

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
        """The access tokens by name, or the one with this hash."""
        if token_hash is None:
            return [token_of(one) for one in rows(self._db, access_tokens.ALL)]
        return [token_of(one) for one in rows(self._db, access_tokens.BY_HASH, (token_hash,))]


def _reversed(term: str) -> str:
    """A term of an ORDER BY, the other way round."""
    return term.removesuffix(" DESC") if term.endswith(" DESC") else f"{term} DESC"


def _summed(groups: Iterable[Row]) -> dict[str, int]:
    """The sums of counts by value, the largest first."""
    counts: Counter[str] = Counter()
    for name, number in groups:
        counts[name] += number
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
