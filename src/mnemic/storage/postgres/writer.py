"""Writing: one transaction in which rows, words and journal change together."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import psycopg

from mnemic.errors import Conflict
from mnemic.model.access import Token
from mnemic.model.change import Subject
from mnemic.model.enums import State
from mnemic.model.graph import Edge, EdgeDraft, EdgePatch
from mnemic.model.memory import Draft, Memory, MemoryPatch, Statement
from mnemic.model.recall_entry import RecallEntry
from mnemic.model.session import Session, SessionDraft, SessionPatch
from mnemic.model.time import DAY, Moment
from mnemic.model.version import Version
from mnemic.storage import fingerprint
from mnemic.storage.base import Passage, Reader, Rewrite
from mnemic.storage.change_fields import (
    ALL_FIELDS,
    DRAFTED,
    DRAFTED_FIELDS,
    EDGE_DRAFTED,
    EDGE_DRAFTED_FIELDS,
    HEADING,
    INDEXED,
    NO_FIELDS,
    USE,
    differences,
    initial,
    kept_and_added,
    of_session,
)
from mnemic.storage.decoders import token_values
from mnemic.storage.engine_errors import busy
from mnemic.storage.postgres import (
    access_tokens,
    claims,
    cooccurrence,
    edges,
    history,
    journal,
    memories,
    minhash,
    recall_log,
    sessions,
    versions,
    words,
)
from mnemic.storage.postgres.connection import Held, Unanswered, in_our_words, is_passing
from mnemic.storage.postgres.memories import as_json
from mnemic.storage.postgres.namespace_filter import NamespaceFilter
from mnemic.storage.postgres.namespace_locks import NotLocked
from mnemic.storage.postgres.reader import PostgresReader
from mnemic.storage.postgres.rows import column, routed, row, rows, value
from mnemic.storage.queries import unused_session_name

if TYPE_CHECKING:
    from mnemic.storage.postgres.database import OpenedStore

END_STATEMENTS = """
UPDATE statement SET until = %s WHERE namespace_id = %s AND memory_id = %s AND id = ANY(%s::bigint[])
"""
LAST_POSITION = """
SELECT coalesce(max(position), 0) FROM statement WHERE namespace_id = %s AND memory_id = %s AND until IS NULL
"""
# One that has no vector yet says nothing of the past, so it needs no end.
DROP_WHOLE = """
DELETE FROM statement s WHERE s.namespace_id = %(space)s AND s.memory_id = %(id)s AND s.position = 0
  AND s.until IS NULL AND NOT EXISTS (SELECT 1 FROM passage p
    WHERE p.namespace_id = %(space)s AND p.memory_id = %(id)s AND p.statement_id = s.id)
"""
END_WHOLE = """
UPDATE statement SET until = %(until)s
WHERE namespace_id = %(space)s AND memory_id = %(id)s AND position = 0 AND until IS NULL
"""
# A vector stands for a text under its title, summary and kind, by one model: others need a new one. What changed before
# the memory came to its namespace is in the journal of another.
EARLIER_TWIN = """
SELECT s.id FROM statement s JOIN model d ON d.id = s.model_id AND d.name = ANY(%(models)s::text[])
WHERE s.namespace_id = %(space)s AND s.memory_id = %(memory)s AND s.digest = %(digest)s AND s.text = %(text)s
  AND NOT EXISTS (SELECT 1 FROM journal j
    WHERE j.namespace_id = %(space)s AND j.subject_id = %(memory)s AND j.subject = 'memory' AND j.sequence > s.since
      AND j.after::jsonb ?| ARRAY['title', 'summary', 'kind', 'namespace'])
ORDER BY s.id DESC LIMIT 1
"""
COPY_PASSAGES = """
INSERT INTO passage (namespace_id, memory_id, statement_id, model_id, start, "end", vector, xid)
SELECT namespace_id, memory_id, %(to)s, model_id, start, "end", vector, %(xid)s::xid8 FROM passage
WHERE namespace_id = %(space)s AND memory_id = %(memory)s AND statement_id = %(from)s
"""
COPY_MODEL = """
UPDATE statement SET model_id = (SELECT s.model_id FROM statement s
  WHERE s.namespace_id = %(space)s AND s.memory_id = %(memory)s AND s.id = %(from)s)
WHERE namespace_id = %(space)s AND memory_id = %(memory)s AND id = %(to)s
"""
UNEMBED = """
UPDATE statement SET model_id = NULL
WHERE namespace_id = %s AND memory_id = %s AND until IS NULL AND model_id IS NOT NULL
"""
TOUCH = """
UPDATE memory SET
    access_count = access_count + use.count,
    days_used = days_used + (accessed_at IS NULL OR accessed_at / %(day)s < %(now)s / %(day)s)::integer,
    accessed_at = greatest(coalesce(accessed_at, 0), %(now)s)
FROM (SELECT m.namespace_id, m.id, w.count FROM unnest(%(ids)s::bigint[], %(counts)s::integer[]) AS w (id, count)
      JOIN memory m ON {here[m]} AND m.id = w.id ORDER BY m.id FOR UPDATE OF m) AS use
WHERE {here[memory]} AND memory.namespace_id = use.namespace_id AND memory.id = use.id
RETURNING memory.id, access_count
"""
SET_USE = """
UPDATE memory SET access_count = %s, accessed_at = %s, days_used = %s WHERE namespace_id = %s AND id = %s
"""
DROP_TAGS = """
DELETE FROM tag WHERE namespace_id = %s AND memory_id = %s
"""
IS_TAKEN = {
    state: f"""
SELECT 1 FROM memory m WHERE m.namespace_id = %(space)s AND {memories.IS_NAMED.format("%(name)s::text")}
  AND m.state = '{state}' AND m.id != %(id)s
"""
    for state in (State.LIVING, State.NAMED)
}
UID_IS_TAKEN = """
SELECT 1 FROM memory WHERE uid = %s
"""
# What belongs to a memory moves with it to another namespace.
MOVE_VERSIONS = """
UPDATE version SET namespace_id = %(to)s WHERE namespace_id = %(from)s AND (
  subject = 'memory' AND number = %(id)s OR subject = 'edge' AND number IN (
    SELECT e.id FROM edge e WHERE e.namespace_id = %(to)s AND e.source_id = %(id)s))
"""
MOVE = tuple(
    f"UPDATE {table} SET namespace_id = %(to)s WHERE namespace_id = %(from)s AND {column} = %(id)s"
    for table, column in (
        ("tag", "memory_id"),
        ("statement", "memory_id"),
        ("passage", "memory_id"),
        ("mark", "memory_id"),
        ("words", "memory_id"),
        ("edge", "source_id"),
        ("companion", "a"),
    )
)
DELETE = (
    "DELETE FROM edge WHERE source_id = %(id)s OR target_id = %(id)s",
    "DELETE FROM companion WHERE a = %(id)s OR b = %(id)s",
    "DELETE FROM claim WHERE statement_id IN (SELECT id FROM statement WHERE memory_id = %(id)s)",
    "DELETE FROM passage WHERE namespace_id = %(space)s AND memory_id = %(id)s",
    "DELETE FROM statement WHERE namespace_id = %(space)s AND memory_id = %(id)s",
    "DELETE FROM tag WHERE namespace_id = %(space)s AND memory_id = %(id)s",
    "DELETE FROM memory WHERE namespace_id = %(space)s AND id = %(id)s",
)
STANDING = """
SELECT s.id, s.model_id, s.namespace_id, s.memory_id FROM statement s
WHERE {here[s]} AND s.id = ANY(%(ids)s::bigint[]) AND s.until IS NULL ORDER BY s.id FOR UPDATE
"""
SPACES_OF = """
SELECT DISTINCT s.namespace_id FROM statement s WHERE s.id = ANY(%(ids)s::bigint[]) AND s.until IS NULL
"""
DROP_PASSAGES = """
DELETE FROM passage WHERE namespace_id = %s AND memory_id = %s AND statement_id = %s
"""
ADD_PASSAGES = """
INSERT INTO passage (namespace_id, memory_id, statement_id, model_id, start, "end", vector, xid)
SELECT w.*, pg_current_xact_id() FROM unnest(%s::integer[], %s::bigint[], %s::bigint[], %s::integer[], %s::integer[],
  %s::integer[], %s::bytea[]) w
"""
EMBEDDED = """
UPDATE statement s SET model_id = %(model)s WHERE {here[s]} AND s.id = ANY(%(ids)s::bigint[])
"""
SET_STANDARD = """
UPDATE namespace SET standard_id = %s, parent = %s WHERE id = %s
"""
SET_SETTING = """
INSERT INTO meta (key, value) VALUES (%s, %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value
"""
SINGLY = "ARRAY[{}]::bigint[]"
NUMBERS = "ARRAY(SELECT nextval('{}_number') FROM generate_series(1, {}))"
TRANSACTION = """
SELECT pg_current_xact_id()::text
"""
DRAWN_SINGLY, DRAWN_AT_ONCE = 20, 50
"""The first numbers are drawn one by one, since those that are not used are lost; of a long transaction, many."""
# No table of this is sharded.
BEGINNING = """
SELECT {numbers}, (SELECT last_value FROM journal_moment), pg_current_xact_id()::text,
  (SELECT value FROM meta WHERE key = 'purges')
"""
FIRST_END = """
SELECT min(m.expires_at) FROM memory m WHERE {here[m]} AND m.expires_at IS NOT NULL AND m.state = 'living'
"""
COUNT_PURGE = """
INSERT INTO meta (key, value) VALUES ('purges', '1')
ON CONFLICT (key) DO UPDATE SET value = (meta.value::bigint + 1)::text
"""
NAMESPACE_NAME = """
SELECT name FROM namespace WHERE id = %s
"""
# One lock for the store, shared by those who change some namespaces; one for each of these.
LOCK_STORE, SHARE_STORE = "pg_advisory_xact_lock(%s)", "pg_advisory_xact_lock_shared(%s)"
TRY_STORE, TRY_SHARE = "pg_try_advisory_xact_lock(%s)", "pg_try_advisory_xact_lock_shared(%s)"
# What a change reads is little, and to plan it anew would cost as much again: plans are kept, as by default.
LOCK = "{}, set_config('plan_cache_mode', 'auto', true)"

WHOLE = -1
"""Behind this comes position 0: the statement that stands for the whole of a memory."""
FARTHEST = 1_000_000
"""So far beyond all others the number of a memory from elsewhere may lie."""


STORE_KEY = int.from_bytes(b"mnemic st", "big") >> 8


def lock_key(namespace: str) -> int:
    """The number of the lock of a namespace."""
    return int.from_bytes(blake2b(namespace.encode(), digest_size=8, person=b"mnemic").digest(), signed=True)


@dataclass(slots=True)
class _Place:
    """A place in the journal: numbers for the next changes, the first of this transaction, and their moment.

    Also the earliest expiry of a living memory at that place.
    """

    numbers: list[int]
    batch: int
    at: Moment
    first_end: Moment | None
    xid: str
    purges: str | None
    """How many memories have been purged."""
    logged: int = 0
    is_beginning: bool = True
    """Whether nothing has been written in this transaction."""


@in_our_words()
class PostgresWriter(PostgresReader):
    """The Writer of the PostgreSQL engine, inside one transaction."""

    def __init__(
        self, store: OpenedStore, db: Held, written: NamespaceFilter, operation: str, actor: str, at: Moment
    ):
        super().__init__(store, db)
        self._held = db
        self._whole = db.everywhere
        """For what depends on more than the namespaces that the caller sees."""
        self._written = db.about(written)
        """For what is changed by its number: only in the namespaces that the change is about."""
        self._numbers: tuple[list[int], list[int]] = ([], [])
        """Drawn for memories and for statements."""
        self._expected = 0
        self._terms: dict[int, set[str]] = {}
        self._operation = operation
        self._actor = actor
        self._given_at = at
        self._locked: set[str] | None = set()
        self._spaces: dict[str, int] = {}
        self._batches: list[int] = []

    def may_retry(self, error: psycopg.Error) -> bool:
        """Whether the transaction is run again after *error*."""
        return is_passing(error)

    @property
    def transaction(self) -> str:
        """The number of the transaction."""
        return self._place.xid if "_place" in vars(self) else str(value(self._db, TRANSACTION))

    @property
    def moment(self) -> Moment:
        """The moment of the last changes that were journaled."""
        return self._place.at

    @property
    def batches(self) -> list[int]:
        """The numbers of the first changes that were journaled."""
        return self._batches

    @property
    def made_spaces(self) -> dict[str, int]:
        """The namespaces that were looked up or made, by name."""
        return self._spaces

    def lock(self, namespaces: Sequence[str] | None, *, waits: bool) -> None:
        """Keep others from changing these namespaces, or anything, until the transaction ends; Busy without *waits*."""
        self._locked = None if namespaces is None else set(namespaces)
        keys = [] if namespaces is None else sorted(map(lock_key, namespaces))
        wanted = [LOCK_STORE if namespaces is None else SHARE_STORE, *[LOCK_STORE] * len(keys)]
        if waits:
            self._held.later_scoped(LOCK.format(", ".join(wanted)), (STORE_KEY, *keys))
            return
        tried = [TRY_STORE if namespaces is None else TRY_SHARE, *[TRY_STORE] * len(keys)]
        if not value(self._db, f"SELECT {' AND '.join(tried)}", (STORE_KEY, *keys)):
            raise busy()

    def _space(self, namespace: str) -> int:
        """The id of a namespace, made if it is not there. NotLocked unless nobody else can change it."""
        if self._locked is not None and namespace not in self._locked:
            raise NotLocked(namespace)
        if namespace not in self._spaces:
            self._spaces[namespace] = self._store.namespace_id(self._db, namespace, create=True)
        return self._spaces[namespace]

    def _must_hold(self, spaces: Iterable[int]) -> None:
        """NotLocked unless nobody else can change the namespaces with these ids."""
        if self._locked is None:
            return
        for space in set(spaces).difference(self._spaces.values()):
            name = value(self._db, NAMESPACE_NAME, (space,))
            self._spaces[name] = self._space(name)

    def _must_hold_all(self) -> None:
        """NotLocked unless nobody else can change anything."""
        if self._locked is not None:
            raise NotLocked(None)

    @functools.cached_property
    def _place(self) -> _Place:
        """Where in the journal we stand, read when it is first needed."""
        expected, self._expected = self._expected, 0
        beginning = BEGINNING.format(numbers=_drawn(expected, expected, expected or 1))
        here = self._db.here.written_out
        first = FIRST_END.format(here=here), here.values
        [(*drawn, numbers, newest, xid, purges)], [(first_end,)] = self._whole.run_all(
            [(beginning, ()), first]
        )
        for kept, more in zip(self._numbers, drawn, strict=True):
            kept += more
        # A clock set back must not let the journal's moments fall: as_of relies on their order.
        at = max(self._given_at, newest, self._store.latest)
        return _Place(numbers, numbers[0], at, first_end, xid, purges)

    @property
    def _next(self) -> int:
        """The number of the next change."""
        place = self._place
        if not place.numbers:
            place.logged += 1
            self._draw(0, 0, 1 if place.logged < DRAWN_SINGLY else DRAWN_AT_ONCE)
        return place.numbers[0]

    def _draw(self, *counts: int) -> None:
        """Have so many numbers for memories, statements and changes."""
        kept = (*self._numbers, self._place.numbers)
        lacking = [max(0, count - len(numbers)) for count, numbers in zip(counts, kept, strict=True)]
        if any(lacking):
            for numbers, drawn in zip(kept, row(self._db, f"SELECT {_drawn(*lacking)}") or (), strict=True):
                numbers += drawn

    def expect(self, memories: int, *look_ups: Callable[[Reader], object]) -> None:
        """Draw the numbers of so many new memories, and do the look-ups, in the first trip to the server.

        Numbers that are not used are lost.
        """
        self._expected = memories
        asked = Unanswered(self._db.here)
        for look_up in look_ups:
            look_up(PostgresReader(self._store, asked))
        for sql, values in asked.asked:
            self._held.ahead(sql, values)

    def _log(
        self,
        space: int,
        subject: Subject,
        number: int,
        before: Mapping[str, Any] | None,
        after: Mapping[str, Any] | None,
    ) -> None:
        self._must_hold((space,))
        place, sequence = self._place, self._next
        entry = {
            "namespace_id": space,
            "sequence": sequence,
            "xid": place.xid,
            "batch": place.batch,
            "at": place.at,
            "actor": self._actor,
            "operation": self._operation,
            "subject": subject,
            "subject_id": number,
            "before": None if before is None else as_json(before),
            "after": None if after is None else as_json(after),
        }
        self._held.insert("journal", entry)
        place.numbers.pop(0)
        if place.is_beginning:
            self._batches.append(place.batch)
            place.is_beginning = False

    @property
    def batch(self) -> int | None:
        """The number of the first change of this transaction; None without one."""
        has_begun = "_place" in vars(self) and not self._place.is_beginning
        return self._place.batch if has_begun else None

    def journal_as(self, *, operation: str, actor: str, at: Moment) -> None:
        """Write what follows into the journal as a transaction of its own, for imported changes."""
        self._operation, self._actor, self._given_at = operation, actor, at
        vars(self).pop("_place", None)

    # -- memories

    def insert(self, draft: Draft, *, uid: str) -> Memory:
        """A new living memory. Conflict if its name is taken."""
        created = self._given_at if draft.created_at is None else draft.created_at
        fields = {**NO_FIELDS, **dict(zip(DRAFTED, DRAFTED_FIELDS(draft), strict=True))}
        fields |= {"uid": uid, "metadata": dict(draft.metadata), "created_at": created, "updated_at": created}
        return self._insert(fields, draft.texts)

    def import_memory(self, memory: Memory, *, is_checked: bool = False) -> Memory:
        """Insert an imported memory with its uid, times, state and counters. Invalid if it breaks a limit."""
        memory.check()
        fields = dict(zip(memories.COLUMNS, ALL_FIELDS(memory), strict=True))
        if memory.id and (self._is_far(memory.id) or memories.one(self._whole, memory.id)):
            fields["id"] = 0
        texts = [statement.text for statement in memory.statements]
        # An import passes over the record that cannot be stored; nothing of it may stay.
        if not is_checked and row(self._whole, UID_IS_TAKEN, (bytes.fromhex(memory.uid.replace("-", "")),)):
            raise Conflict("uid: is taken")
        return self._insert(fields, texts)

    def _is_far(self, number: int) -> bool:
        """Whether *number* lies so far beyond all others that columns by number would fill the memory."""
        return number > FARTHEST and number > value(self._whole, memories.NEWEST) + FARTHEST

    def _insert(self, fields: dict[str, Any], texts: Sequence[str]) -> Memory:
        """A new row with these *fields*, under the next number if that is 0."""
        space, state = self._space(fields["namespace"]), fields["state"]
        self._must_be_free(space, fields["namespace"], fields["name"], state, 0)
        has_whole = len(texts) != 1 and state is not State.NAMED
        self._draw(0 if fields["id"] else 1, len(texts) + has_whole, 1)
        number = fields["id"] = self._numbered(fields["id"])
        encoded = memories.encode(fields)
        place = {"namespace_id": space, "uid": encoded["uid"].hex(), "since": self._next}
        self._held.insert("memory", {**encoded, **place})
        self._add_tags(space, number, fields["tags"])
        kept = Memory(**fields, statements=self._add_statements(space, number, texts, 0))
        if has_whole:
            self._add_statements(space, number, [""], WHOLE)
        if state is State.LIVING:
            self._put_words(kept, space)
            self._put_marks(kept, space)
        self._log(space, Subject.MEMORY, number, None, initial(fields, kept.statements))
        return kept

    def _numbered(self, wanted: int) -> int:
        """The number *wanted*, or the next."""
        if not wanted:
            return self._numbers[0].pop(0)
        self._held.later(memories.DRAWN, {"id": wanted})
        return wanted

    def _must_be_free(self, space: int, namespace: str, name: str | None, state: State, number: int) -> None:
        """Conflict if another memory has this name."""
        if name is None or state not in IS_TAKEN:
            return
        if row(self._db, IS_TAKEN[state], {"space": space, "name": name, "id": number}):
            raise Conflict(f"title: {name!r} is taken in namespace {namespace!r}")

    def update(self, memory: Memory, patch: MemoryPatch) -> Memory:
        """*memory* with *patch* applied. Conflict if its name is taken."""
        fields = patch.fields()
        texts = fields.pop("texts", None)
        is_used = not fields.keys().isdisjoint(USE)
        statements = memory.statements if texts is None else self._replace_body(memory, texts)
        changed = replace(memory, **fields, statements=statements)
        before, after = differences(memory, changed)
        if is_used:
            self._set_use(changed)
        if not after:
            return changed if is_used else memory
        if after.keys() - {"updated_at"} and "updated_at" not in fields:
            changed = replace(changed, updated_at=self._given_at)
            before, after = differences(memory, changed)
        self._update(memory, changed, after)
        self._log(self._space(changed.namespace), Subject.MEMORY, memory.id, before, after)
        return changed

    def _update(self, memory: Memory, changed: Memory, after: Mapping[str, Any]) -> None:
        space, old_space = self._space(changed.namespace), self._space(memory.namespace)
        if {"name", "state", "namespace"} & after.keys():
            self._must_be_free(space, changed.namespace, changed.name, changed.state, memory.id)
        history.keep_memory(self._whole, memory, old_space, frozenset(after), self._next, self._place.xid)
        columns = [name for name in after if name != "statements"]
        # A body alone changes when the clock stands where the memory was last changed.
        if columns:
            encoded = memories.encode({name: getattr(changed, name) for name in columns})
            if "namespace" in encoded:
                encoded["namespace_id"] = space
                del encoded["namespace"]
            assignments = ", ".join(f"{name} = %s" for name in encoded)
            sql = f"UPDATE memory SET {assignments} WHERE namespace_id = %s AND id = %s"
            self._db.run(sql, (*encoded.values(), old_space, memory.id))
        if space != old_space:
            for statement in (*MOVE, MOVE_VERSIONS):
                self._db.run(statement, {"from": old_space, "to": space, "id": memory.id})
        if "tags" in after:
            self._db.run(DROP_TAGS, (space, memory.id))
            self._add_tags(space, memory.id, changed.tags)
        if "statements" in after or HEADING & after.keys():
            self._renew_whole(changed, space)
        if HEADING & after.keys():
            self._db.run(UNEMBED, (space, memory.id))
        if INDEXED & after.keys():
            self._index(changed, space)
        if "statements" in after or "state" in after:
            self._mark_anew(memory, changed, space)

    def _set_use(self, memory: Memory) -> None:
        """Store the counters of use, which are not journaled."""
        place = (self._space(memory.namespace), memory.id)
        self._db.run(SET_USE, (memory.access_count, memory.accessed_at, memory.days_used, *place))

    def _mark_anew(self, memory: Memory, changed: Memory, space: int) -> None:
        if memory.state is State.LIVING:
            minhash.take_out(self._db, memory, space)
        if changed.state is State.LIVING:
            self._put_marks(changed, space)

    def _put_marks(self, memory: Memory, space: int) -> None:
        minhash.put(self._held, memory, space)

    def _index(self, memory: Memory, space: int) -> None:
        if memory.state is State.LIVING:
            self._put_words(memory, space)
        else:
            self._db.run(words.TAKE_OUT, {"space": space, "id": memory.id})

    def _put_words(self, memory: Memory, space: int) -> None:
        known = self._store.terms.of(space, self._place.purges)
        words.put(self._held, memory, space, known, self._terms.setdefault(space, set()))

    def know_terms(self) -> None:
        """Remember, after the commit, which terms are in the vocabulary."""
        for space, terms in self._terms.items():
            self._store.terms.add(space, terms, self._place.purges)

    def _add_tags(self, space: int, number: int, tags: Sequence[str]) -> None:
        for name in tags:
            self._held.insert("tag", {"namespace_id": space, "memory_id": number, "name": name})

    def _add_statements(
        self, space: int, number: int, texts: Sequence[str], last: int
    ) -> tuple[Statement, ...]:
        self._draw(0, len(texts), 1)
        made = tuple(Statement(self._numbers[1].pop(0), body) for body in texts)
        for position, one in enumerate(made, last + 1):
            row = {"namespace_id": space, "memory_id": number, "since": self._next, "position": position}
            digest = fingerprint.digest(one.text) if position else 0
            self._held.insert("statement", {**row, "id": one.id, "text": one.text, "digest": digest})
        return made

    def _renew_whole(self, memory: Memory, space: int) -> None:
        """Let the vector of the whole of *memory* be made anew; one whose body is a single statement has none."""
        values = {"space": space, "id": memory.id, "until": self._next}
        self._db.run(DROP_WHOLE, values)
        self._db.run(END_WHOLE, values)
        if len(memory.statements) != 1 and memory.state is not State.NAMED:
            self._add_statements(space, memory.id, [""], WHOLE)

    def _replace_body(self, memory: Memory, texts: Sequence[str]) -> tuple[Statement, ...]:
        """End the statements that go, keep those that stay in order, add the rest behind them."""
        space = self._space(memory.namespace)
        kept, added = kept_and_added(memory.statements, texts)
        standing = {statement.id for statement in kept}
        if gone := [statement.id for statement in memory.statements if statement.id not in standing]:
            self._db.run(END_STATEMENTS, (self._next, space, memory.id, gone))
        last = value(self._db, LAST_POSITION, (space, memory.id))
        fresh = self._add_statements(space, memory.id, added, last)
        for statement in fresh:
            self._reuse_vectors(space, memory.id, statement)
        return kept + fresh

    def _reuse_vectors(self, space: int, number: int, statement: Statement) -> None:
        """A text that this memory had before has its vectors already."""
        body = statement.text
        values = {"space": space, "memory": number, "digest": fingerprint.digest(body), "text": body}
        twin = row(self._whole, EARLIER_TWIN, {**values, "models": list(self._store.used_models)})
        if twin:
            ends = {
                "space": space,
                "memory": number,
                "from": twin[0],
                "to": statement.id,
                "xid": self._place.xid,
            }
            self._db.run(COPY_PASSAGES, ends)
            self._db.run(COPY_MODEL, ends)

    def count_use(self, memory_ids: Sequence[int], now: Moment) -> dict[int, int]:
        """Count one use of each, as often as it is named; how many each has had by now. Not part of the journal."""
        uses = Counter(memory_ids)
        values = {"ids": list(uses), "counts": list(uses.values()), "now": now, "day": DAY}
        return dict(rows(self._db, *routed(self._written, TOUCH, values)))

    def count_together(self, memory_ids: Sequence[int], now: Moment, times: int = 1) -> None:
        """Count *times* more joint answers for every pair of these."""
        cooccurrence.note(self._written, memory_ids, now, times)

    def log_recalls(self, entries: Sequence[RecallEntry], *, since: Moment) -> None:
        """Add *entries* to the recall log, and drop entries older than *since*. Not part of the journal."""
        recall_log.append(self._db, entries, since)

    def purge(self, memory_ids: Sequence[int], *, recalls: Sequence[int] = ()) -> int:
        """Delete these memories for good, and their text from the journal; a tombstone stays. How many there were."""
        self._must_hold_all()  # links from anywhere go with them
        purged = 0
        for number in memory_ids:
            memory = memories.one(self._db, number)
            if memory is not None:
                self._purge(memory)
                purged += 1
        if purged:
            recall_log.drop_about(self._whole, memory_ids)
        if recalls:
            recall_log.drop(self._whole, recalls)
        return purged

    def _purge(self, memory: Memory) -> None:
        space = self._space(memory.namespace)
        values = {"id": memory.id, "space": space}
        self._whole.run(journal.ERASE, values)
        self._whole.run(words.DROP_TERMS, {**values, "tokens": words.of(memory).tokens})
        self._whole.run(COUNT_PURGE)
        self._terms.clear()
        self._whole.run(words.TAKE_OUT, values)
        minhash.take_out(self._whole, memory, space)
        history.purge(self._whole, memory.id)
        self._whole.run(versions.DROP_VERSION, (Subject.MEMORY, memory.id))
        self._whole.run(versions.PUT_ALIAS, (memory.uid, memory.id))
        for statement in DELETE:
            self._whole.run(statement, values)
        self._log(space, Subject.MEMORY, memory.id, None, None)

    def rewrite_history(self, subject: Subject, number: int, rewrite: Rewrite) -> None:
        """Rewrite what the journal and the past versions of a link or session say, which erases what they said."""
        self._must_hold_all()
        journal.rewrite(self._whole, subject, number, rewrite)
        history.rewrite(self._whole, subject, number, rewrite)

    def tombstone(self, subject: Subject, number: int) -> None:
        """Write into the journal that something with this number was here and is gone."""
        self._must_hold_all()
        self._log(0, subject, number, None, None)

    def overdue(self, now: Moment) -> list[int]:
        """The living memories whose time was over at *now*."""
        first_end = self._place.first_end
        if self._place.is_beginning and (first_end is None or first_end > now):
            return []
        return super().overdue(now)

    # -- edges and sessions

    def insert_edge(self, draft: EdgeDraft) -> Edge:
        """A new link; both ends must exist. Conflict if the number of *draft* is taken."""
        fields = dict(zip(EDGE_DRAFTED, EDGE_DRAFTED_FIELDS(draft), strict=True))
        created = self._given_at if draft.created_at is None else draft.created_at
        ends = {"source_id": draft.source_id, "target_id": draft.target_id}
        found = row(self._db, *routed(self._db, edges.ENDS, ends))
        if found is None or (draft.id and row(self._whole, edges.IS_TAKEN, {"id": draft.id})):
            raise Conflict("That is there already, or it points at something that is not.")
        [space] = found
        if draft.id:
            self._db.run(edges.DRAWN, {"id": draft.id})
        number = draft.id or value(self._db, edges.NEXT)
        edge = Edge(**fields, id=number, created_at=created)
        values = [getattr(edge, name) for name in edges.COLUMNS]
        self._db.run(edges.INSERT, (space, *values, self._next))
        told = zip(edges.COLUMNS[1:], values[1:], strict=True)
        after = {name: one for name, one in told if one is not None}
        self._log(space, Subject.EDGE, number, None, after)
        return edge

    def update_edge(self, edge: Edge, patch: EdgePatch) -> Edge:
        """*edge* with *patch* applied."""
        fields = patch.fields()
        after = {name: value for name, value in fields.items() if getattr(edge, name) != value}
        if not after:
            return edge
        history.keep(self._db, Subject.EDGE, edge.id, self._next)
        assignments = ", ".join(f"{name} = %({name})s" for name in after)
        sql = f"UPDATE edge e SET {assignments} WHERE {{here[e]}} AND e.id = %(number)s RETURNING e.namespace_id"
        space = value(self._db, *routed(self._db, sql, {**after, "number": edge.id}))
        self._log(space, Subject.EDGE, edge.id, {name: getattr(edge, name) for name in after}, after)
        return replace(edge, **fields)

    def insert_session(self, draft: SessionDraft) -> Session:
        """A new session. Conflict if the number or the name of *draft* is taken."""
        space = self._space(draft.namespace)
        number = draft.id or value(self._db, sessions.NEXT)
        session = Session(
            id=number,
            namespace=draft.namespace,
            name=draft.name or unused_session_name(self, draft.namespace, f"Session {number}"),
            started_at=self._given_at if draft.started_at is None else draft.started_at,
            ended_at=draft.ended_at,
            topic=draft.topic,
            summary=draft.summary,
            metadata=draft.metadata,
        )
        named = {"space": space, "name": session.name}
        is_taken = draft.id and row(self._whole, sessions.IS_TAKEN, {"id": draft.id})
        if is_taken or row(self._db, sessions.IS_NAMED, named):
            raise Conflict(f"session: {session.name!r} (number {number}) is taken")
        encoded = sessions.encode({name: getattr(session, name) for name in sessions.COLUMNS})
        encoded["namespace"] = space
        if draft.id:
            self._db.run(sessions.GIVEN, {"id": draft.id})
        self._db.run(sessions.INSERT, (*encoded.values(), self._next))
        after = {name: one for name, one in of_session(session).items() if one not in (None, {})}
        self._log(space, Subject.SESSION, number, None, after)
        return session

    def update_session(self, session: Session, patch: SessionPatch) -> Session:
        """*session* with *patch* applied."""
        fields = patch.fields()
        changed = replace(session, **fields)
        after = {name: one for name, one in of_session(changed).items() if one != of_session(session)[name]}
        if not after:
            return session
        space = self._space(changed.namespace)
        history.keep(self._db, Subject.SESSION, session.id, self._next)
        encoded = sessions.encode(after)
        if "namespace" in encoded:
            del encoded["namespace"]
            encoded["namespace_id"] = space
        assignments = ", ".join(f"{name} = %s" for name in encoded)
        place = (self._space(session.namespace), session.id)
        sql = f"UPDATE session SET {assignments} WHERE namespace_id = %s AND id = %s"
        self._db.run(sql, (*encoded.values(), *place))
        if space != place[0]:
            self._db.run(versions.MOVE_SESSION, {"from": place[0], "to": space, "id": session.id})
        self._log(
            space, Subject.SESSION, session.id, {name: of_session(session)[name] for name in after}, after
        )
        return changed

    # -- settings and tokens

    def put_version(self, subject: Subject, number: int, version: Version) -> None:
        """Keep the version of a memory, link or session."""
        versions.put(self._db, subject, number, version)

    def put_alias(self, uid: str, memory_id: int) -> None:
        """Let another uid stand for this memory."""
        self._db.run(versions.PUT_ALIAS, (uid, memory_id))

    def put_standard(self, namespace: str, memory_id: int | None, parent: str | None) -> None:
        """Say which memory is the standard of a namespace and which one is its parent. Not part of the journal."""
        self._db.run(SET_STANDARD, (memory_id, parent, self._space(namespace)))

    def put_setting(self, name: str, value: str) -> None:
        """Keep a short text for ourselves. It is not part of the journal."""
        self._db.run(SET_SETTING, (name, value))

    def put_token(self, token: Token, token_hash: bytes) -> None:
        """Keep a token under its name, in place of an earlier one of that name. Not part of the journal."""
        self._db.run(access_tokens.UPSERT, token_values(token, token_hash))

    def delete_token(self, name: str) -> bool:
        """Delete the token called *name*; False if there is none."""
        return self._db.changed(access_tokens.DELETE, (name,)) > 0

    # -- passages

    def claim(self, statement_ids: Sequence[int], owner: str, now: Moment) -> frozenset[int]:
        """Those of these statements that still wait for vectors and now belong to *owner*."""
        return claims.take(self._written, statement_ids, owner, now)

    def release(self, owner: str, now: Moment) -> None:
        """Drop the claims of *owner*."""
        claims.release(self._written, owner, now)

    def put_vectors(self, model: str, dimension: int, passages: Sequence[Passage]) -> int:
        """Keep vectors for the statements they belong to; how many statements have theirs now."""
        from mnemic.storage.quantisation import quantised

        model_id = self._store.model_id(self._db, model, dimension)
        numbers = sorted({passage.statement_id for passage in passages})
        standing = rows(self._db, *routed(self._written, STANDING, {"ids": numbers}))
        if len(standing) < len(numbers):
            self._must_hold(column(self._whole, SPACES_OF, {"ids": numbers}))
        # One that has its vectors by now owes them to someone who was faster; they are the same.
        waiting = {number: place for number, made_by, *place in standing if made_by != model_id}
        for number, place in waiting.items():
            self._db.run(DROP_PASSAGES, (*place, number))
        fresh = [one for one in passages if one.statement_id in waiting]
        added = [
            (*waiting[one.statement_id], one.statement_id, model_id, one.start, one.end, vector.tobytes())
            for one, vector in zip(fresh, (quantised(one.vector) for one in fresh), strict=True)
        ]
        if added:
            self._db.run(ADD_PASSAGES, [list(each) for each in zip(*added, strict=True)])
            self._db.run(*routed(self._written, EMBEDDED, {"model": model_id, "ids": list(waiting)}))
        return len(standing)


@functools.cache
def _drawn(*counts: int) -> str:
    """Arrays of so many new numbers for memories, statements and changes; few are written out."""
    parts = (
        NUMBERS.format(name, count)
        if count > DRAWN_SINGLY
        else SINGLY.format(", ".join(count * [f"nextval('{name}_number')"]))
        for name, count in zip(("memory", "statement", "journal"), counts, strict=True)
    )
    return ", ".join(parts)
