"""The rows, tokens and vectors the index asks for, read from PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mnemic.model.change import USE, Position
from mnemic.model.filter import Filter
from mnemic.storage.postgres import words
from mnemic.storage.postgres.connection import Executor, Held
from mnemic.storage.postgres.memories import CREATION, where
from mnemic.storage.postgres.rows import column, routed, row, rows, value
from mnemic.storage.source import ChangedMemory, Extent, PassageRow, Phrase

if TYPE_CHECKING:
    from mnemic.storage.arrays import Numbers, Times

NEVER = 1 << 62
BEGIN = """
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY
"""
END = "COMMIT"
"""After a ROLLBACK the driver would prepare every statement anew."""
# A standby does not tell which transactions are at work; there the place in its log tells one moment from another.
POSITION = """
SELECT pg_snapshot_xmin(s)::text::bigint, pg_snapshot_xmax(s)::text::bigint,
  CASE WHEN pg_is_in_recovery() THEN (pg_last_wal_replay_lsn() - '0/0')::bigint
  ELSE -(SELECT count(*) FROM pg_snapshot_xip(s)) END
FROM pg_current_snapshot() s
"""
XID_BITS = 64
LAST_BITS = (1 << 2 * XID_BITS) - 1
CHANGES = f"""
SELECT xid::text::bigint, subject_id, operation = '{USE}' FROM journal
WHERE xid >= %s::text::xid8 AND subject = 'memory' ORDER BY xid, sequence
"""
ATTRIBUTES = {
    "number": "id",
    "priority": "priority",
    "confidence": "confidence",
    "access_count": "access_count",
    "updated_at": "updated_at",
    "created_at": "created_at",
    "occurred_at": "coalesce(valid_from, created_at)",
    "session_id": "coalesce(session_id, 0)",
    "expires_at": f"coalesce(expires_at, {NEVER})",
    "last_change": "since",
    "state": "state",
    "tier": "tier",
    "kind": "kind",
    "namespace": "namespace_id",
}
_ATTRIBUTES = f"SELECT {', '.join(ATTRIBUTES.values())} FROM memory"
ATTRIBUTES_OF = f"{_ATTRIBUTES} WHERE id = ANY(%(ids)s::bigint[])"
ATTRIBUTES_AFTER = f"{_ATTRIBUTES} WHERE id > %(after)s ORDER BY id LIMIT %(limit)s"
ROWS_AT_ONCE = 50_000
NAMESPACES = """
SELECT name, id FROM namespace
"""
PASSING = """
SELECT m.id FROM memory m WHERE {conditions}
"""
GROUPS = {
    "tag": """
SELECT name, array_agg(memory_id) FROM tag GROUP BY name
""",
    "actor": f"""
SELECT j.actor, array_agg(j.subject_id) FROM journal j WHERE {CREATION} GROUP BY j.actor
""",
}
LENGTHS = """
SELECT memory_id, length, namespace_id FROM words
"""
LENGTHS_OF = LENGTHS + "WHERE memory_id = ANY(%s::bigint[])"
FEW = 100
"""Of so many memories that have changed, `held` is asked after `lengths`: in one trip."""
HELD = """
SELECT memory_id, tokens, times FROM words WHERE memory_id = ANY(%s::bigint[])
"""
POSTINGS = """
SELECT t.place, array_agg(w.memory_id), array_agg(w.often)
FROM unnest(%(tokens)s::text[]) WITH ORDINALITY t (token, place)
CROSS JOIN LATERAL (
  SELECT memory_id, times[array_position(tokens, t.token)] AS often FROM words WHERE tokens @> ARRAY[t.token]
  ORDER BY memory_id LIMIT %(below)s
) w
GROUP BY t.place
"""
OCCURRENCES = """
SELECT token, sum(coalesce(holders, 1))::bigint AS count FROM term GROUP BY token
"""
"""What few memories hold has no count."""
OCCURRENCES_OF_EACH = OCCURRENCES + "ORDER BY token"
BYTES_OF_POSTINGS = f"""
SELECT coalesce(sum(%(each)s + %(pair)s * count), 0)::bigint FROM ({OCCURRENCES}) o
"""
TOKENS_BETWEEN = """
SELECT DISTINCT t.token FROM namespace n
JOIN term t ON t.namespace_id = n.id AND t.token BETWEEN %(first)s AND %(last)s
"""
AT_ONCE = 20_000
"""Occurrences read ahead in one step, if they are not all of one token."""
PHRASE = """
SELECT memory_id, tokens, places FROM words WHERE tokens @> %(tokens)s::text[] ORDER BY memory_id
"""
_PASSAGES = """
SELECT p.id, p.memory_id, p.statement_id, p.namespace_id, p.vector
FROM passage p
JOIN statement s ON s.namespace_id = p.namespace_id AND s.memory_id = p.memory_id AND s.id = p.statement_id
JOIN memory m ON m.namespace_id = p.namespace_id AND m.id = p.memory_id
WHERE {here[p]} AND p.model_id = %(model)s AND s.until IS NULL
"""
PASSAGES_FROM = (
    _PASSAGES
    + "AND m.state = 'living' AND p.xid >= %(xid)s::text::xid8 AND p.id > %(after)s ORDER BY p.id LIMIT %(limit)s"
)
PASSAGES_OF = _PASSAGES + "AND m.state = 'living' AND p.memory_id = ANY(%(ids)s::bigint[]) ORDER BY p.id"
PASSAGES_LEFT = _PASSAGES + "AND p.memory_id = ANY(%(ids)s::bigint[]) ORDER BY p.id"
OTHER_MODELS = """
SELECT statement_id FROM passage WHERE xid >= %(xid)s::text::xid8 AND model_id != %(model)s
"""
PASSAGES_AT_ONCE = 10_000


class PostgresSource:
    """The Source of the PostgreSQL engine, over one connection.

    A position is a snapshot: everything below its first number, the oldest transaction still at work, is settled. Later
    transactions may have been seen already when they come again, which does no harm: a memory is read as it is.
    """

    def __init__(self, db: Executor):
        self._db = db
        self._has_begun = False

    def prepare(self) -> None:
        """Wait for a session of a pooler, which may be short of them until other readers end."""
        if isinstance(self._db, Held) and self._db.connection.is_pooled:
            self._begin()

    def begin(self) -> Extent:
        """Begin a read transaction, in one trip with the look at its moment, which the look fixes."""
        if isinstance(self._db, Held) and not self._has_begun:
            self._db.later(BEGIN)
        elif not self._has_begun:
            self._begin()
        return self.extent()

    def _begin(self) -> None:
        self._db.run(BEGIN)
        self._has_begun = True

    def end(self) -> None:
        """End the read transaction."""
        self._has_begun = False
        self._db.run(END)

    def extent(self) -> Extent:
        """The snapshot as a number that grows with whatever is committed."""
        oldest, newest, order = row(self._db, POSITION) or (0, 0, 0)
        number = ((oldest - 1 << XID_BITS) + newest << XID_BITS) + (1 << XID_BITS - 1) + order
        return Extent(Position(number=number), number)

    def changes(self, after: Position) -> list[ChangedMemory]:
        """The journal's entries about memories that were not settled at *after*."""
        found = rows(self._db, CHANGES, (str(_settled(after.number)),))
        return [
            ChangedMemory(Position(number=(xid << 2 * XID_BITS) + LAST_BITS), memory, is_use)
            for xid, memory, is_use in found
        ]

    def attributes(self, memory_ids: Sequence[int] | None) -> Iterator[Mapping[str, Sequence[Any]]]:
        """A list for each column, of these memories or of all."""
        for some in self._some_attributes(memory_ids):
            columns = zip(*some, strict=True) if some else ((),) * len(ATTRIBUTES)
            yield dict(zip(ATTRIBUTES, map(list, columns), strict=True))

    def _some_attributes(self, memory_ids: Sequence[int] | None) -> Iterator[list[tuple[Any, ...]]]:
        if memory_ids is not None:
            yield rows(self._db, ATTRIBUTES_OF, {"ids": list(memory_ids)})
            return
        last, found = 0, [(0,)]
        while found:
            found = rows(self._db, ATTRIBUTES_AFTER, {"after": last, "limit": ROWS_AT_ONCE})
            yield found
            last = found[-1][0] if found else last

    def namespaces(self) -> dict[str, int]:
        """The id of each namespace."""
        return dict(rows(self._db, NAMESPACES))

    def passing(self, wanted: Filter) -> list[int]:
        """The memories that pass *wanted*."""
        conditions, values = where(wanted, self._db.here)
        return column(self._db, PASSING.format(conditions=conditions), values)

    def members(self, by: str) -> dict[str, list[int]]:
        """The memories that have each tag, or that each actor stored."""
        return dict(rows(self._db, GROUPS[by]))

    def lengths(self, memory_ids: Sequence[int] | None) -> tuple[Numbers, Numbers, Numbers]:
        """Numbers, words and namespaces of the memories that the words index has."""
        from mnemic.numeric import np

        if memory_ids is None:
            found = rows(self._db, LENGTHS)
        else:
            if isinstance(self._db, Held) and len(memory_ids) <= FEW:
                self._db.ahead(HELD, (list(memory_ids),))
            found = rows(self._db, LENGTHS_OF, (list(memory_ids),))
        table = np.array(found, np.int64).reshape(len(found), 3)
        return table[:, 0], table[:, 1], table[:, 2]

    def tokens(self, form: str) -> list[str]:
        """The tokens of *form*."""
        return words.tokens(form)

    def held(self, memory_ids: Sequence[int]) -> dict[int, dict[str, float]]:
        """What these memories hold now; one that has left holds nothing."""
        found = rows(self._db, HELD, (list(memory_ids),))
        held = {number: dict(zip(tokens, times, strict=True)) for number, tokens, times in found}
        return {number: {} for number in memory_ids} | held

    def postings(
        self, phrases: Sequence[Phrase], *, below: int | None = None
    ) -> dict[Phrase, tuple[Numbers, Times]]:
        """For each of *phrases* the memories that hold it, and how often: all single tokens in one statement."""
        found = {phrase: _posting((), ()) for phrase in phrases}
        tokens = [phrase[0] for phrase in phrases if len(phrase) == 1]
        for place, numbers, times in (
            rows(self._db, POSTINGS, {"tokens": tokens, "below": below}) if tokens else ()
        ):
            found[(tokens[place - 1],)] = _posting(numbers, times)
        found |= {phrase: self._phrase(phrase) for phrase in phrases if len(phrase) > 1}
        return {phrase: one for phrase, one in found.items() if below is None or len(one[0]) < below}

    def _phrase(self, phrase: Phrase) -> tuple[Numbers, Times]:
        """The memories in which all tokens of *phrase* follow one another."""
        found = rows(self._db, PHRASE, {"tokens": list(phrase)})
        often = {number: words.phrase_times(phrase, *told) for number, *told in found}
        held = {number: times for number, times in often.items() if times}
        return _posting(list(held), list(held.values()))

    def stretches(self) -> Iterator[tuple[str, str]]:
        """Runs of tokens that together have few occurrences, as far as the server has counted them."""
        first = last = ""
        total = 0
        for token, count in rows(self._db, OCCURRENCES_OF_EACH):
            if first and total + count > AT_ONCE:
                yield first, last
                first, total = "", 0
            first, last, total = first or token, token, total + count
        if first:
            yield first, last

    def postings_between(self, first: str, last: str) -> Iterable[tuple[Phrase, Numbers, Times]]:
        """The postings of these tokens."""
        tokens = column(self._db, TOKENS_BETWEEN, {"first": first, "last": last})
        found = self.postings([(token,) for token in tokens])
        return ((phrase, *posting) for phrase, posting in found.items())

    def bytes_of_postings(self, each: int, pair: int) -> int:
        """How many bytes all postings take."""
        return int(value(self._db, BYTES_OF_POSTINGS, {"each": each, "pair": pair}))

    def passages(self, model_id: int, after: int, to: int) -> Iterator[PassageRow]:
        """The vectors of living memories that were not settled at *after*."""
        values = {
            "model": model_id,
            "xid": str(_settled(after)),
            "after": 0,
            "limit": PASSAGES_AT_ONCE,
        }
        while found := rows(self._db, *routed(self._db, PASSAGES_FROM, values)):
            yield from map(PassageRow._make, found)
            values["after"] = found[-1][0]

    def passages_of(self, model_id: int, to: int, memory_ids: Sequence[int]) -> list[PassageRow]:
        """The vectors of these living memories."""
        values = {"model": model_id, "ids": list(memory_ids)}
        return list(map(PassageRow._make, rows(self._db, *routed(self._db, PASSAGES_OF, values))))

    def passages_left(self, model_id: int, memory_ids: Sequence[int]) -> list[PassageRow]:
        """The vectors of these memories, in any state."""
        values = {"model": model_id, "ids": list(memory_ids)}
        return list(map(PassageRow._make, rows(self._db, *routed(self._db, PASSAGES_LEFT, values))))

    def statements_of_other_models(self, model_id: int, after: int, to: int) -> list[int]:
        """The statements with a new vector by another model."""
        return column(self._db, OTHER_MODELS, {"model": model_id, "xid": str(_settled(after))})

    def history(self, position: Position) -> str | None:
        """None: the vectors are in no file."""
        return None

    def vectors_of(self, passage_ids: Sequence[int]) -> dict[int, tuple[int, int, bytes]]:
        """Nothing: the vectors are in no file."""
        return {}


def _settled(position: int) -> int:
    """The first transaction that was not settled at *position*."""
    return (position >> 2 * XID_BITS) + 1


def _posting(memory_ids: Sequence[int], times: Sequence[float]) -> tuple[Numbers, Times]:
    from mnemic.numeric import np

    return np.array(memory_ids, np.int64), np.array(times, np.float32)
