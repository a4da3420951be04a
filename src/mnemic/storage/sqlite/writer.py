"""Writing: one transaction in which rows, words and journal change together."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from operator import attrgetter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import apsw

from mnemic.errors import Conflict
from mnemic.model.access import Token
from mnemic.model.graph import Direction, Edge
from mnemic.model.hidden import is_hidden
from mnemic.model.journal import Subject
from mnemic.model.memory import NAMING, Draft, Memory, Statement, without_number
from mnemic.model.search import Filter
from mnemic.model.session import Session
from mnemic.model.uids import random_uid
from mnemic.model.values import DAY, Moment, State
from mnemic.model.workspace import Member, Role, Workspace
from mnemic.storage import text
from mnemic.storage.base import Passage
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
from mnemic.storage.sqlite.connection import busy, in_our_words, patient, translated
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.reader import SqliteReader
from mnemic.storage.sqlite.rows import row, rows, value

if TYPE_CHECKING:
    from mnemic.storage.sqlite.opened import OpenedStore

ADD_STATEMENT = """
INSERT INTO statement (memory_id, position, text, digest, since) VALUES (?, ?, ?, ?, ?)
"""
END_STATEMENT = """
UPDATE statement SET until = ? WHERE id = ?
"""
LAST_POSITION = """
SELECT coalesce(max(position), 0) FROM statement WHERE memory_id = ? AND until IS NULL
"""
RENEW_WHOLE = """
UPDATE statement SET model_id = NULL, since = ? WHERE memory_id = ? AND position = 0
"""
DROP_WHOLE = """
DELETE FROM statement WHERE memory_id = ? AND position = 0
"""
# A vector stands for a text under its title, summary and kind, by one model: others need a new one.
EARLIER_TWIN = """
SELECT s.id FROM statement s JOIN model d ON d.id = s.model_id AND d.name IN (SELECT value FROM json_each(:models))
WHERE s.memory_id = :memory AND s.digest = :digest AND s.text = :text AND NOT EXISTS (
  SELECT 1 FROM journal j
  WHERE j.subject_id = s.memory_id AND j.subject = 'memory' AND j.sequence > s.since
    AND (json_type(j.after, '$.title') IS NOT NULL OR json_type(j.after, '$.summary') IS NOT NULL
      OR json_type(j.after, '$.kind') IS NOT NULL))
ORDER BY s.id DESC LIMIT 1
"""
COPY_PASSAGES = """
INSERT INTO passage (statement_id, model_id, start, end, vector)
SELECT :to, model_id, start, end, vector FROM passage WHERE statement_id = :from
"""
COPY_MODEL = """
UPDATE statement SET model_id = (SELECT model_id FROM statement WHERE id = :from) WHERE id = :to
"""
UNEMBED = """
UPDATE statement SET model_id = NULL WHERE memory_id = ? AND until IS NULL
"""
TOUCH = """
UPDATE memory SET
    access_count = access_count + use.count,
    days_used = days_used + (accessed_at IS NULL OR accessed_at / :day < :now / :day),
    accessed_at = max(coalesce(accessed_at, 0), :now)
FROM (SELECT value ->> 0 AS memory_id, value ->> 1 AS count FROM json_each(:uses)) AS use
WHERE id = use.memory_id
RETURNING id, access_count
"""
SET_USE = """
UPDATE memory SET access_count = ?, accessed_at = ?, days_used = ? WHERE id = ?
"""
ADD_TAG = """
INSERT OR IGNORE INTO tag (name, memory_id) VALUES (?, ?)
"""
DROP_TAGS = """
DELETE FROM tag WHERE memory_id = ?
"""
DELETE = """
DELETE FROM memory WHERE id = ?
"""
STANDING = """
SELECT id, model_id FROM statement WHERE id IN (SELECT value FROM json_each(?)) AND until IS NULL
"""
DROP_PASSAGES = """
DELETE FROM passage WHERE statement_id = ?
"""
ADD_PASSAGE = """
INSERT INTO passage (statement_id, model_id, start, end, vector) VALUES (?, ?, ?, ?, ?)
"""
EMBEDDED = """
UPDATE statement SET model_id = ? WHERE id = ?
"""

SET_STANDARD = """
UPDATE namespace SET standard_id = ?, parent = ? WHERE id = ?
"""
SET_SETTING = """
INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value
"""

BEGINNING = f"""
SELECT sequence, at, ({memories.FIRST_END}), EXISTS ({memories.NAMES}) FROM journal ORDER BY sequence DESC LIMIT 1
"""

FARTHEST = 1_000_000
"""So far beyond all others the number of a memory from elsewhere may lie."""
USE = ("accessed_at", "access_count", "days_used")
JOURNALED = tuple(name for name in memories.COLUMNS if name not in ("id", *USE))
ALL_FIELDS = attrgetter(*memories.COLUMNS)
JOURNALED_FIELDS = attrgetter(*JOURNALED)
INDEXED = frozenset({"title", "summary", "tags", "namespace", "state"})
EMPTY = Memory(id=0, uid="", namespace="", title="", created_at=0, updated_at=0)
NO_FIELDS = dict(zip(memories.COLUMNS, ALL_FIELDS(EMPTY), strict=True))
DRAFTED = tuple(name for name in Draft._fields if name not in ("texts", "created_at"))
DRAFTED_FIELDS = attrgetter(*DRAFTED)


@dataclass(slots=True)
class _Place:
    """A place in the journal: the number of the next change, of the first of this transaction, and their moment.

    Also how the store stood at that place: when the first of the living ends, and whether there are mere names.
    """

    next: int
    batch: int
    at: Moment
    first_end: Moment | None
    has_names: bool

    @property
    def is_beginning(self) -> bool:
        """Whether nothing has been written in this transaction."""
        return self.next == self.batch


@in_our_words
class SqliteWriter(SqliteReader):
    """The Writer of the SQLite engine."""

    def __init__(
        self,
        store: OpenedStore,
        connection: apsw.Connection,
        operation: str,
        actor: str,
        at: Moment,
        *,
        durable: bool,
        waits: bool,
    ):
        super().__init__(store, connection)
        self._durable = durable
        self._waits = waits
        self._has_purged = False
        self._marks: list[tuple[int, int]] = []
        self._operation = operation
        self._actor = actor
        self._given_at = at

    def __enter__(self) -> Self:
        if self._waits:
            self._store.writing.acquire()
        elif not self._store.writing.try_acquire():
            raise busy()
        try:
            self._begin()
        except BaseException:
            try:
                self._roll_back()
            finally:
                self._leave()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._commit()
                return
        except BaseException:
            self._roll_back()
            raise
        else:
            self._roll_back()
        finally:
            self._leave()

    @translated
    def _begin(self) -> None:
        self._store.wait_for_disk(self._durable)
        if self._waits:
            self._connection.execute("BEGIN IMMEDIATE")
            return
        self._connection.set_busy_handler(None)
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        finally:
            self._connection.set_busy_handler(patient())

    @translated
    def _commit(self) -> None:
        self._put_marks()
        self._connection.execute("COMMIT")

    def _leave(self) -> None:
        """Let the next writer in, with the settings as they were."""
        try:
            if self._has_purged:
                self._empty_log()
        finally:
            self._store.writing.release()

    def _empty_log(self) -> None:
        """The log keeps the pages as they were; empty it now unless someone is still reading there or it cannot be."""
        self._connection.pragma("secure_delete", False)
        self._connection.set_busy_handler(None)
        try:
            self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except (apsw.BusyError, apsw.FullError, apsw.IOError):
            pass  # what was purged is purged, and the log is emptied the next time
        finally:
            self._connection.set_busy_handler(patient())

    @translated
    def _roll_back(self) -> None:
        self._store.forget_names()
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    @functools.cached_property
    def _place(self) -> _Place:
        """Where in the journal we stand, read when it is first needed."""
        sequence, newest, first_end, has_names = row(self._connection, BEGINNING) or (0, 0, None, False)
        # A clock set back must not let the journal's moments fall: as_of relies on their order.
        return _Place(sequence + 1, sequence + 1, max(self._given_at, newest), first_end, bool(has_names))

    def _log(
        self, subject: Subject, number: int, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
    ) -> None:
        entry = (
            self._place.next,
            self._place.batch,
            self._place.at,
            self._actor,
            self._operation,
            subject,
            number,
            None if before is None else as_json(before),
            None if after is None else as_json(after),
        )
        self._connection.execute(journal.APPEND, entry)
        self._place.next += 1

    def journal_as(self, *, operation: str, actor: str, at: Moment) -> None:
        """See Writer."""
        self._put_marks()
        self._operation, self._actor, self._given_at = operation, actor, at
        vars(self).pop("_place", None)

    # -- memories

    def add(self, draft: Draft, *, uid: str) -> Memory:
        """See Writer."""
        created = self._place.at if draft.created_at is None else draft.created_at
        fields = {**NO_FIELDS, **dict(zip(DRAFTED, DRAFTED_FIELDS(draft), strict=True))}
        fields |= {"uid": uid, "metadata": dict(draft.metadata), "created_at": created, "updated_at": created}
        return self._insert(fields, draft.texts)

    def take_in(self, memory: Memory, *, is_checked: bool = False) -> Memory:
        """See Writer."""
        fields = dict(zip(memories.COLUMNS, ALL_FIELDS(memory), strict=True))
        if memory.id and (self._is_far(memory.id) or memories.one(self._connection, memory.id)):
            fields["id"] = 0
        texts = [statement.text for statement in memory.statements]
        # A savepoint writes out the words that wait in the index, each time: a third of the whole work.
        if is_checked:
            return self._insert(fields, texts)
        # Whoever takes in many passes over the one that cannot be; nothing of it may stay.
        with self._connection:
            taken = self._insert(fields, texts)
        return taken  # noqa: RET504 - a driver's context manager might swallow, as far as types can tell

    def _is_far(self, number: int) -> bool:
        """Whether *number* lies so far beyond all others that columns by number would fill the memory."""
        return number > FARTHEST and number > value(self._connection, memories.NEWEST) + FARTHEST

    def _insert(self, fields: dict[str, Any], texts: Sequence[str]) -> Memory:
        """A new row with these *fields*, under the next number if that is 0."""
        encoded = memories.encode(fields)
        encoded["id"] = fields["id"] or None
        try:
            self._put_row(memories.INSERT, tuple(encoded.values()), fields["namespace"], fields["title"])
        except Conflict:
            if not self._make_way(Memory(**fields)):
                raise
            self._put_row(memories.INSERT, tuple(encoded.values()), fields["namespace"], fields["title"])
        number = self._connection.last_insert_rowid()
        self._put_tags(number, fields["tags"])
        fields["id"] = number
        kept = Memory(**fields, statements=self._add_statements(number, texts, 0))
        if len(texts) != 1:
            self._renew_whole(kept)
        if kept.state is State.LIVING:
            self._connection.execute(words.ADD, self._words_of(kept))
        self._log(Subject.MEMORY, number, None, _born(fields, kept.statements))
        self._take_over_links(kept)
        if kept.state is State.LIVING:
            self._marks += marks.of(kept)
        return kept

    def _make_way(self, memory: Memory) -> bool:
        """Give another title to what is hidden and bears the one that *memory* is to live under; whether it did."""
        if memory.state is not State.LIVING or is_hidden(memory):
            return False
        bearer = next(iter(self._titled(memory.namespace, memory.title)), None)
        if bearer is None or bearer.id == memory.id or not is_hidden(bearer):
            return False
        # Nobody has changed it: where stores are merged, its text must not pass for a newer one.
        title = self.unused_title(bearer.namespace, without_number(bearer.title))
        self.change(bearer, title=title, updated_at=bearer.updated_at)
        return True

    def _titled(self, namespace: str, title: str) -> list[Memory]:
        return self.memories(self.ids_titled(title, (namespace,)))

    def named(self, namespace: str, title: str) -> int:
        """See Writer."""
        known = [memory.id for memory in self._titled(namespace, title) if not is_hidden(memory)]
        known = known or self.ids_titled(title, (namespace,), State.NAMED)
        if known:
            return known[0]
        self._store.namespace_id(self._connection, namespace, create=True)
        uid, now = random_uid(), self._place.at
        name = {"uid": uid, "namespace": namespace, "title": title, "state": State.NAMED}
        return self._insert({**NO_FIELDS, **name, "created_at": now, "updated_at": now}, ()).id

    def _take_over_links(self, memory: Memory) -> None:
        """The links that pointed to the name of *memory* before there was one point to it now, unless it is hidden.

        If it is a mere name itself, there is one to take them over from later.
        """
        if memory.state is State.NAMED:
            self._place.has_names = True
        if memory.state is not State.LIVING or not self._place.has_names or is_hidden(memory):
            return
        for name in self.ids_titled(memory.title, (memory.namespace,), State.NAMED):
            for edge in self.edges([name], Direction.BOTH):
                ends = {"source_id": edge.source_id, "target_id": edge.target_id}
                self.change_edge(edge, **{end: memory.id for end, number in ends.items() if number == name})

    def change(self, memory: Memory, **fields: Any) -> Memory:
        """See Writer."""
        texts = fields.pop("texts", None)
        if fields.keys() & NAMING:
            # First of all: the statements tell the number of the change they come with.
            self._make_way(replace(memory, **fields))
        statements = memory.statements if texts is None else self._replace_body(memory, texts)
        changed = replace(memory, **fields, statements=statements)
        before, after = _differences(memory, changed)
        if not after:
            return memory
        if after.keys() - {"updated_at"} and "updated_at" not in fields:
            changed = replace(changed, updated_at=self._place.at)
            before, after = _differences(memory, changed)
        self._update(memory, changed, after)
        self._log(Subject.MEMORY, memory.id, before, after)
        if after.keys() & (NAMING | {"kind"}):
            self._take_over_links(changed)
        return changed

    def _update(self, memory: Memory, changed: Memory, after: Mapping[str, Any]) -> None:
        columns = [name for name in after if name != "statements"]
        # A body alone changes when the clock stands where the memory was last changed.
        if columns:
            encoded = memories.encode({name: getattr(changed, name) for name in columns})
            sql = f"UPDATE memory SET {', '.join(f'{name} = ?' for name in encoded)} WHERE id = ?"
            self._put_row(sql, (*encoded.values(), memory.id), changed.namespace, changed.title)
        if "tags" in after:
            self._connection.execute(DROP_TAGS, (memory.id,))
            self._put_tags(memory.id, changed.tags)
        if {"title", "summary", "kind"} & after.keys():
            self._connection.execute(UNEMBED, (memory.id,))
        if {"title", "summary", "kind", "statements"} & after.keys():
            self._renew_whole(changed)
        if "statements" in after or INDEXED & after.keys():
            self._index(changed)
        if "statements" in after or "state" in after:
            self._mark_anew(memory, changed)

    def _mark_anew(self, memory: Memory, changed: Memory) -> None:
        self._put_marks()
        if memory.state is State.LIVING:
            marks.take_out(self._connection, memory)
        if changed.state is State.LIVING:
            self._marks += marks.of(changed)

    def _put_marks(self) -> None:
        """Write the marks that wait: all together at the end, or when someone needs them."""
        if self._marks:
            marks.put(self._connection, self._marks)
            self._marks = []

    def _put_row(self, sql: str, values: tuple[Any, ...], namespace: str, title: str) -> None:
        """Write a row of `memory`; Conflict if its title is taken."""
        try:
            self._connection.execute(sql, values)
        except apsw.ConstraintError as error:
            if "memory.title" not in str(error):
                raise
            raise Conflict(f"title: {title!r} is taken in namespace {namespace!r}") from None

    def _put_tags(self, number: int, tags: Sequence[str]) -> None:
        for tag in tags:
            self._connection.execute(ADD_TAG, (tag, number))

    def _index(self, memory: Memory) -> None:
        if memory.state is State.LIVING:
            self._connection.execute(words.PUT, self._words_of(memory))
        else:
            self._connection.execute(words.TAKE_OUT, (memory.id,))

    def _words_of(self, memory: Memory) -> tuple[Any, ...]:
        space = self._store.namespace_id(self._connection, memory.namespace, create=True)
        assert space is not None
        return words.row_of(memory, space)

    def _add_statements(self, number: int, texts: Sequence[str], last: int) -> tuple[Statement, ...]:
        made = []
        for place, body in enumerate(texts, last + 1):
            self._connection.execute(
                ADD_STATEMENT, (number, place, body, text.digest(body), self._place.next)
            )
            made.append(Statement(self._connection.last_insert_rowid(), body))
        return tuple(made)

    def _renew_whole(self, memory: Memory) -> None:
        """Let the vector of the whole of *memory* be made anew; one whose body is a single statement has none."""
        if len(memory.statements) == 1 or memory.state is State.NAMED:
            self._connection.execute(DROP_WHOLE, (memory.id,))
            return
        self._connection.execute(RENEW_WHOLE, (self._place.next, memory.id))
        if not self._connection.changes():
            self._connection.execute(ADD_STATEMENT, (memory.id, 0, "", 0, self._place.next))

    def _replace_body(self, memory: Memory, texts: Sequence[str]) -> tuple[Statement, ...]:
        """End the statements that go, keep those that stay in order, add the rest behind them."""
        kept, added = _kept_and_added(memory.statements, texts)
        standing = {statement.id for statement in kept}
        for statement in memory.statements:
            if statement.id not in standing:
                self._connection.execute(END_STATEMENT, (self._place.next, statement.id))
        last = value(self._connection, LAST_POSITION, (memory.id,))
        fresh = self._add_statements(memory.id, added, last)
        for statement in fresh:
            self._reuse_vectors(memory.id, statement)
        return kept + fresh

    def _reuse_vectors(self, number: int, statement: Statement) -> None:
        """A text that stood in this memory before has its vectors already."""
        body = statement.text
        models = as_json(list(self._store.used_models))
        values = {"memory": number, "digest": text.digest(body), "text": body, "models": models}
        twin = row(self._connection, EARLIER_TWIN, values)
        if twin:
            ends = {"from": twin[0], "to": statement.id}
            self._connection.execute(COPY_PASSAGES, ends)
            self._connection.execute(COPY_MODEL, ends)

    def touch(self, memory_ids: Sequence[int], now: Moment) -> dict[int, int]:
        """See Writer."""
        uses = as_json(list(Counter(memory_ids).items()))
        return dict(rows(self._connection, TOUCH, {"uses": uses, "now": now, "day": DAY}))

    def note_together(self, memory_ids: Sequence[int], now: Moment) -> None:
        """See Writer."""
        companions.note(self._connection, memory_ids, now)

    def set_use(self, memory_id: int, access_count: int, accessed_at: Moment | None, days_used: int) -> None:
        """See Writer."""
        self._connection.execute(SET_USE, (access_count, accessed_at, days_used, memory_id))

    def set_together(self, one_id: int, other_id: int, count: int, last: Moment) -> None:
        """See Writer."""
        values = {"a": one_id, "b": other_id, "count": count, "last": last}
        self._connection.execute(companions.SET, values)

    def purge(self, memory_ids: Sequence[int]) -> int:
        """See Writer."""
        purged = 0
        self._has_purged = True
        self._put_marks()
        self._connection.pragma("secure_delete", True)
        for number in memory_ids:
            memory = memories.one(self._connection, number)
            if memory is None:
                continue
            self._connection.execute(journal.ERASE, {"id": number})
            self._connection.execute(words.TAKE_OUT, (number,))
            marks.take_out(self._connection, memory)
            self._connection.execute(DELETE, (number,))
            self.tombstone(Subject.MEMORY, number)
            purged += 1
        if purged:
            # A row that is taken out leaves its words in the index until the index is merged.
            self._connection.execute(words.MERGE)
            substrings.take_out(self._connection, memory_ids)
        return purged

    def tombstone(self, subject: Subject, number: int) -> None:
        """See Writer."""
        self._log(subject, number, None, None)

    def overdue(self, now: Moment) -> list[int]:
        """See Reader."""
        first_end = self._place.first_end
        if self._place.is_beginning and (first_end is None or first_end > now):
            return []
        return super().overdue(now)

    def alike(self, body: str, wanted: Filter, *, limit: int) -> list[int]:
        """See Writer."""
        self._put_marks()
        return marks.alike(self._connection, body, wanted, limit)

    def unused_title(self, namespace: str, title: str) -> str:
        """See Writer."""
        if not self.ids_titled(title, (namespace,)):
            return title
        low, high = 1, 2
        while self.ids_titled(f"{title} ({high})", (namespace,)):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (
                (middle, high) if self.ids_titled(f"{title} ({middle})", (namespace,)) else (low, middle)
            )
        return f"{title} ({high})"

    # -- edges and sessions

    def add_edge(
        self,
        source_id: int,
        target_id: int,
        type: str,
        *,
        weight: float = 1.0,
        reason: str | None = None,
        valid_from: Moment | None = None,
        valid_to: Moment | None = None,
        created_at: Moment | None = None,
        state: State = State.LIVING,
        quality: float | None = None,
        id: int | None = None,
        **ratings: Any,
    ) -> Edge:
        """See Writer."""
        edge = Edge(
            id=0,
            source_id=source_id,
            target_id=target_id,
            type=type,
            weight=weight,
            reason=reason,
            created_at=self._place.at if created_at is None else created_at,
            valid_from=valid_from,
            valid_to=valid_to,
            state=state,
            quality=quality,
            **ratings,
        )
        values = [getattr(edge, name) for name in edges.COLUMNS]
        self._connection.execute(edges.INSERT, [id, *values[1:]])
        made = replace(edge, id=self._connection.last_insert_rowid())
        after = {
            name: value
            for name, value in zip(edges.COLUMNS[1:], values[1:], strict=True)
            if value is not None
        }
        self._log(Subject.EDGE, made.id, None, after)
        return made

    def change_edge(self, edge: Edge, **fields: Any) -> Edge:
        """See Writer."""
        changed = replace(edge, **fields)
        after = {name: value for name, value in fields.items() if getattr(edge, name) != value}
        if not after:
            return edge
        assignments = ", ".join(f"{name} = ?" for name in after)
        self._connection.execute(f"UPDATE edge SET {assignments} WHERE id = ?", (*after.values(), edge.id))
        self._log(Subject.EDGE, edge.id, {name: getattr(edge, name) for name in after}, after)
        return changed

    def session(self, namespace: str, name: str, started_at: Moment | None = None) -> int:
        """See Writer."""
        known = row(self._connection, sessions.BY_NAME, (namespace, name))
        if known:
            return int(known[0])
        return self.add_session(namespace, name=name, started_at=started_at).id

    def unused_session_name(self, namespace: str, name: str) -> str:
        """See Writer."""
        numbered = (f"{name} ({number})" for number in count(2))
        names = chain([name], numbered)
        return next(one for one in names if not row(self._connection, sessions.BY_NAME, (namespace, one)))

    def add_session(self, namespace: str, *, id: int | None = None, **fields: Any) -> Session:
        """See Writer."""
        number = id or int(value(self._connection, sessions.NEXT))
        told = {name: one for name, one in fields.items() if one is not None}
        if "name" not in told:
            told["name"] = self.unused_session_name(namespace, f"Session {number}")
        session = Session(**{"started_at": self._place.at, **told}, id=number, namespace=namespace)
        encoded = sessions.encode({name: getattr(session, name) for name in sessions.COLUMNS})
        try:
            self._connection.execute(sessions.INSERT, tuple(encoded.values()))
        except apsw.ConstraintError:
            raise Conflict(f"session: {session.name!r} (number {number}) is taken") from None
        after = {name: one for name, one in _told(session).items() if one not in (None, {})}
        self._log(Subject.SESSION, number, None, after)
        return session

    def change_session(self, session: Session, **fields: Any) -> Session:
        """See Writer."""
        changed = replace(session, **fields)
        after = {name: one for name, one in _told(changed).items() if one != _told(session)[name]}
        if not after:
            return session
        encoded = sessions.encode(after)
        assignments = ", ".join(f"{name} = ?" for name in encoded)
        self._connection.execute(
            f"UPDATE session SET {assignments} WHERE id = ?", (*encoded.values(), session.id)
        )
        self._log(Subject.SESSION, session.id, {name: _told(session)[name] for name in after}, after)
        return changed

    def add_workspace(self, name: str) -> Workspace:
        """See Writer."""
        return workspaces.add(self._connection, name, self._given_at)

    def add_member(self, workspace_id: int, path: str, role: Role, label: str) -> Member:
        """See Writer."""
        return workspaces.add_member(self._connection, workspace_id, path, role, label, self._given_at)

    # -- settings and tokens

    def set_standard(self, namespace: str, memory_id: int | None, parent: str | None) -> None:
        """See Writer."""
        number = self._store.namespace_id(self._connection, namespace, create=True)
        self._connection.execute(SET_STANDARD, (memory_id, parent, number))

    def set_setting(self, name: str, value: str) -> None:
        """See Writer."""
        self._connection.execute(SET_SETTING, (name, value))

    def add_token(self, token: Token, token_hash: bytes) -> None:
        """See Writer."""
        spaces = None if token.grant.namespaces is None else as_json(token.grant.namespaces)
        values = (token.name, token_hash, spaces, token.grant.can_write, token.created_at)
        self._connection.execute(tokens.INSERT, values)

    def drop_token(self, name: str) -> bool:
        """See Writer."""
        self._connection.execute(tokens.DELETE, (name,))
        return self._connection.changes() > 0

    # -- passages

    def put_passages(self, model: str, dimension: int, passages: Sequence[Passage]) -> int:
        """See Writer."""
        from mnemic.storage.sqlite.vectors import quantised

        model_id = self._store.model_id(self._connection, model, dimension)
        numbers = sorted({passage.statement_id for passage in passages})
        standing = rows(self._connection, STANDING, (as_json(numbers),))
        # One that has its vectors by now owes them to someone who was faster; they are the same.
        waiting = {number for number, made_by in standing if made_by != model_id}
        for number in waiting:
            self._connection.execute(DROP_PASSAGES, (number,))
            self._connection.execute(EMBEDDED, (model_id, number))
        for passage in passages:
            if passage.statement_id in waiting:
                vector = quantised(passage.vector).tobytes()
                values = (passage.statement_id, model_id, passage.start, passage.end, vector)
                self._connection.execute(ADD_PASSAGE, values)
        return len(standing)


def _born(fields: Mapping[str, Any], statements: Sequence[Statement]) -> dict[str, Any]:
    """The journaled fields of a new memory that say something; the body by the numbers of its statements."""
    after = {name: fields[name] for name in JOURNALED if fields[name] != NO_FIELDS[name]}
    if statements:
        after["statements"] = [statement.id for statement in statements]
    return after


def _differences(old: Memory, new: Memory) -> tuple[dict[str, Any], dict[str, Any]]:
    """The journaled fields that differ, before and after; the body by the numbers of its statements."""
    before, after = {}, {}
    for name, was, now in zip(JOURNALED, JOURNALED_FIELDS(old), JOURNALED_FIELDS(new), strict=True):
        if was != now:
            before[name], after[name] = was, now
    if old.statements != new.statements:
        before["statements"] = [statement.id for statement in old.statements]
        after["statements"] = [statement.id for statement in new.statements]
    return before, after


def _kept_and_added(
    statements: tuple[Statement, ...], texts: Sequence[str]
) -> tuple[tuple[Statement, ...], Sequence[str]]:
    """The statements that begin *texts* in their old order, and the texts that follow them."""
    kept: list[Statement] = []
    for statement in statements:
        if len(kept) < len(texts) and texts[len(kept)] == statement.text:
            kept.append(statement)
    return tuple(kept), texts[len(kept) :]


def _told(session: Session) -> dict[str, Any]:
    """The fields of *session* in the form the journal tells them."""
    fields = {name: getattr(session, name) for name in sessions.COLUMNS if name != "id"}
    return {**fields, "metadata": dict(session.metadata)}
