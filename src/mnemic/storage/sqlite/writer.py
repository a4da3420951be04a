"""Writing: one transaction in which rows, words and journal change together."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import apsw

from mnemic.errors import Conflict
from mnemic.model.access import Token
from mnemic.model.change import Subject
from mnemic.model.enums import State
from mnemic.model.filter import Filter
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
from mnemic.storage.queries import unused_session_name
from mnemic.storage.sqlite import (
    access_tokens,
    claims,
    cooccurrence,
    edges,
    fts,
    history,
    journal,
    memories,
    minhash,
    recall_log,
    sessions,
    trigram,
    versions,
)
from mnemic.storage.sqlite.connection import in_our_words, translated
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.reader import SqliteReader
from mnemic.storage.sqlite.rows import row, rows, value
from mnemic.storage.sqlite.write_lock import patient

if TYPE_CHECKING:
    from mnemic.storage.sqlite.database import OpenedStore

ADD_STATEMENT = """
INSERT INTO statement (memory_id, position, text, digest, since) VALUES (?, ?, ?, ?, ?)
"""
END_STATEMENT = """
UPDATE statement SET until = ? WHERE id = ?
"""
LAST_POSITION = """
SELECT coalesce(max(position), 0) FROM statement WHERE memory_id = ? AND until IS NULL
"""
# One that has no vector yet says nothing of the past, so it needs no end.
DROP_WHOLE = """
DELETE FROM statement WHERE memory_id = ? AND position = 0 AND until IS NULL AND id NOT IN (
  SELECT statement_id FROM passage)
"""
END_WHOLE = """
UPDATE statement SET until = ? WHERE memory_id = ? AND position = 0 AND until IS NULL
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
SELECT sequence, at, ({memories.FIRST_END}) FROM journal ORDER BY sequence DESC LIMIT 1
"""

READERS_LEAVE_MILLISECONDS = 2_000
"""So long the emptying of the log waits for readers."""
FARTHEST = 1_000_000
"""So far beyond all others the number of a memory from elsewhere may lie."""


@dataclass(slots=True)
class _Place:
    """A place in the journal: the number of the next change, of the first of this transaction, and their moment.

    Also the earliest expiry of a living memory at that place.
    """

    next: int
    batch: int
    at: Moment
    first_end: Moment | None

    @property
    def is_beginning(self) -> bool:
        """Whether nothing has been written in this transaction."""
        return self.next == self.batch


@in_our_words()
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
        self._purged: list[int] = []
        self._is_erasing = False
        """Whether the log has to be emptied, since it keeps what this transaction erases."""
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
            self._db.execute("BEGIN IMMEDIATE")
            return
        self._db.set_busy_handler(None)
        try:
            self._db.execute("BEGIN IMMEDIATE")
        finally:
            self._db.set_busy_handler(patient())

    @translated
    def _commit(self) -> None:
        self._put_marks()
        self._db.execute("COMMIT")
        self._store.wake()
        if self._purged:
            self._store.index.erase(self._purged)

    def _leave(self) -> None:
        """Let the next writer in, with the settings as they were."""
        try:
            if self._is_erasing:
                self._empty_log()
        finally:
            self._store.writing.release()

    def _empty_log(self) -> None:
        """The log keeps the pages as they were; empty it now unless someone goes on reading there or it cannot be."""
        self._db.set_busy_timeout(READERS_LEAVE_MILLISECONDS)  # other processes look at every change
        try:
            self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except (apsw.BusyError, apsw.FullError, apsw.IOError):
            pass  # what was purged is purged, and the log is emptied the next time
        finally:
            self._db.set_busy_handler(patient())

    @translated
    def _roll_back(self) -> None:
        self._store.forget_names()
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    @functools.cached_property
    def _place(self) -> _Place:
        """Where in the journal we stand, read when it is first needed."""
        sequence, newest, first_end = row(self._db, BEGINNING) or (0, 0, None)
        # A clock set back must not let the journal's moments fall: as_of relies on their order. What is stored has the
        # time of the clock, so that a clock that was once a year ahead dates nothing else.
        return _Place(sequence + 1, sequence + 1, max(self._given_at, newest), first_end)

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
        self._db.execute(journal.APPEND, entry)
        self._place.next += 1

    @property
    def batch(self) -> int | None:
        """The number of the first change of this transaction; None without one."""
        has_begun = "_place" in vars(self) and not self._place.is_beginning
        return self._place.batch if has_begun else None

    def journal_as(self, *, operation: str, actor: str, at: Moment) -> None:
        """Write what follows into the journal as a transaction of its own, for imported changes."""
        self._put_marks()
        self._operation, self._actor, self._given_at = operation, actor, at
        vars(self).pop("_place", None)

    # -- memories

    def expect(self, memories: int, *look_ups: Callable[[Reader], object]) -> None:
        """Nothing: numbers and look-ups cost no trip here."""

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
        if memory.id and (self._is_far(memory.id) or memories.one(self._db, memory.id)):
            fields["id"] = 0
        texts = [statement.text for statement in memory.statements]
        # A savepoint writes out the words that wait in the index, each time: a third of the whole work.
        if is_checked:
            return self._insert(fields, texts)
        # An import passes over the record that cannot be stored; nothing of it may stay.
        with self._db:
            taken = self._insert(fields, texts)
        return taken  # noqa: RET504 - a driver's context manager might swallow, as far as types can tell

    def _is_far(self, number: int) -> bool:
        """Whether *number* lies so far beyond all others that columns by number would fill the memory."""
        return number > FARTHEST and number > value(self._db, memories.NEWEST) + FARTHEST

    def _insert(self, fields: dict[str, Any], texts: Sequence[str]) -> Memory:
        """A new row with these *fields*, under the next number if that is 0."""
        encoded = memories.encode(fields)
        encoded["id"] = fields["id"] or None
        values = (*encoded.values(), self._place.next)
        self._put_row(memories.INSERT, values, fields["namespace"], fields["name"])
        number = self._db.last_insert_rowid()
        self._put_tags(number, fields["tags"])
        fields["id"] = number
        kept = Memory(**fields, statements=self._add_statements(number, texts, 0))
        if len(texts) != 1:
            self._renew_whole(kept)
        if kept.state is State.LIVING:
            self._db.execute(fts.ADD, self._words_of(kept))
        self._log(Subject.MEMORY, number, None, initial(fields, kept.statements))
        if kept.state is State.LIVING:
            self._marks += minhash.of(kept)
        return kept

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
        self._log(Subject.MEMORY, memory.id, before, after)
        return changed

    def _update(self, memory: Memory, changed: Memory, after: Mapping[str, Any]) -> None:
        space = self._store.namespace_id(self._db, memory.namespace, create=True)
        assert space is not None
        history.keep_memory(self._db, memory, frozenset(after), self._place.next, space)
        columns = [name for name in after if name != "statements"]
        # A body alone changes when the clock stands where the memory was last changed.
        if columns:
            encoded = memories.encode({name: getattr(changed, name) for name in columns})
            sql = f"UPDATE memory SET {', '.join(f'{name} = ?' for name in encoded)} WHERE id = ?"
            self._put_row(sql, (*encoded.values(), memory.id), changed.namespace, changed.name)
        if "tags" in after:
            self._db.execute(DROP_TAGS, (memory.id,))
            self._put_tags(memory.id, changed.tags)
        if "statements" in after or HEADING & after.keys():
            self._renew_whole(changed)
        if HEADING & after.keys():
            self._db.execute(UNEMBED, (memory.id,))
        if INDEXED & after.keys():
            self._index(changed)
        if "statements" in after or "state" in after:
            self._mark_anew(memory, changed)

    def _set_use(self, memory: Memory) -> None:
        """Store the counters of use, which are not journaled."""
        values = (memory.access_count, memory.accessed_at, memory.days_used, memory.id)
        self._db.execute(SET_USE, values)

    def _mark_anew(self, memory: Memory, changed: Memory) -> None:
        self._put_marks()
        if memory.state is State.LIVING:
            minhash.take_out(self._db, memory)
        if changed.state is State.LIVING:
            self._marks += minhash.of(changed)

    def _put_marks(self) -> None:
        """Write the marks that wait: all together at the end, or when someone needs them."""
        if self._marks:
            minhash.put(self._db, self._marks)
            self._marks = []

    def _put_row(self, sql: str, values: tuple[Any, ...], namespace: str, name: str | None) -> None:
        """Write a row of `memory`; Conflict if its name is taken."""
        try:
            self._db.execute(sql, values)
        except apsw.ConstraintError as error:
            if "memory.name" not in str(error):
                raise
            raise Conflict(f"title: {name!r} is taken in namespace {namespace!r}") from None

    def _put_tags(self, number: int, tags: Sequence[str]) -> None:
        for tag in tags:
            self._db.execute(ADD_TAG, (tag, number))

    def _index(self, memory: Memory) -> None:
        if memory.state is State.LIVING:
            self._db.execute(fts.PUT, self._words_of(memory))
        else:
            self._db.execute(fts.TAKE_OUT, (memory.id,))

    def _words_of(self, memory: Memory) -> tuple[Any, ...]:
        space = self._store.namespace_id(self._db, memory.namespace, create=True)
        assert space is not None
        return fts.row_of(memory, space)

    def _add_statements(self, number: int, texts: Sequence[str], last: int) -> tuple[Statement, ...]:
        made = []
        for place, body in enumerate(texts, last + 1):
            self._db.execute(ADD_STATEMENT, (number, place, body, fingerprint.digest(body), self._place.next))
            made.append(Statement(self._db.last_insert_rowid(), body))
        return tuple(made)

    def _renew_whole(self, memory: Memory) -> None:
        """Let the vector of the whole of *memory* be made anew; one whose body is a single statement has none."""
        self._db.execute(DROP_WHOLE, (memory.id,))
        self._db.execute(END_WHOLE, (self._place.next, memory.id))
        if len(memory.statements) != 1 and memory.state is not State.NAMED:
            self._db.execute(ADD_STATEMENT, (memory.id, 0, "", 0, self._place.next))

    def _replace_body(self, memory: Memory, texts: Sequence[str]) -> tuple[Statement, ...]:
        """End the statements that go, keep those that stay in order, add the rest behind them."""
        kept, added = kept_and_added(memory.statements, texts)
        standing = {statement.id for statement in kept}
        for statement in memory.statements:
            if statement.id not in standing:
                self._db.execute(END_STATEMENT, (self._place.next, statement.id))
        last = value(self._db, LAST_POSITION, (memory.id,))
        fresh = self._add_statements(memory.id, added, last)
        for statement in fresh:
            self._reuse_vectors(memory.id, statement)
        return kept + fresh

    def _reuse_vectors(self, number: int, statement: Statement) -> None:
        """A text that this memory had before has its vectors already."""
        body = statement.text
        models = as_json(list(self._store.used_models))
        values = {"memory": number, "digest": fingerprint.digest(body), "text": body, "models": models}
        twin = row(self._db, EARLIER_TWIN, values)
        if twin:
            ends = {"from": twin[0], "to": statement.id}
            self._db.execute(COPY_PASSAGES, ends)
            self._db.execute(COPY_MODEL, ends)

    def count_use(self, memory_ids: Sequence[int], now: Moment) -> dict[int, int]:
        """Count one use of each, as often as it is named; how many each has had by now. Not part of the journal."""
        uses = as_json(list(Counter(memory_ids).items()))
        return dict(rows(self._db, TOUCH, {"uses": uses, "now": now, "day": DAY}))

    def count_together(self, memory_ids: Sequence[int], now: Moment, times: int = 1) -> None:
        """Count *times* more joint answers for every pair of these."""
        cooccurrence.note(self._db, memory_ids, now, times)

    def log_recalls(self, entries: Sequence[RecallEntry], *, since: Moment) -> None:
        """Add *entries* to the recall log, and drop entries older than *since*. Not part of the journal."""
        recall_log.append(self._db, entries, since)

    def purge(self, memory_ids: Sequence[int], *, recalls: Sequence[int] = ()) -> int:
        """Delete these memories for good, and their text from the journal; a tombstone stays. How many there were."""
        purged, has_past = 0, False
        self._is_erasing = True
        self._purged += memory_ids
        self._put_marks()
        for number in memory_ids:
            memory = memories.one(self._db, number)
            if memory is None:
                continue
            self._db.execute(journal.ERASE, {"id": number})
            self._db.execute(fts.TAKE_OUT, (number,))
            has_past |= history.purge(self._db, number)
            minhash.take_out(self._db, memory)
            self._db.execute(versions.DROP_VERSION, (Subject.MEMORY, number))
            self._db.execute(versions.PUT_ALIAS, (memory.uid, number))
            self._db.execute(DELETE, (number,))
            self.tombstone(Subject.MEMORY, number)
            purged += 1
        if purged:
            recall_log.drop_about(self._db, memory_ids)
            # A row that is taken out leaves its words in the index until the index is merged.
            self._db.execute(fts.MERGE)
            if has_past:
                history.merge(self._db)
            trigram.take_out(self._db, memory_ids)
        recall_log.drop(self._db, recalls)
        return purged

    def rewrite_history(self, subject: Subject, number: int, rewrite: Rewrite) -> None:
        """Rewrite what the journal and the past versions of a link or session say, which erases what they said."""
        self._is_erasing = True
        journal.rewrite(self._db, subject, number, rewrite)
        history.rewrite(self._db, subject, number, rewrite)

    def tombstone(self, subject: Subject, number: int) -> None:
        """Write into the journal that something with this number was here and is gone."""
        self._log(subject, number, None, None)

    def overdue(self, now: Moment) -> list[int]:
        """The living memories whose time was over at *now*."""
        first_end = self._place.first_end
        if self._place.is_beginning and (first_end is None or first_end > now):
            return []
        return super().overdue(now)

    def near_duplicates(self, body: str, wanted: Filter, *, limit: int) -> list[int]:
        """Up to *limit* memories that may say nearly what *body* says. Most that do are found, and some that do not."""
        self._put_marks()
        return super().near_duplicates(body, wanted, limit=limit)

    # -- edges and sessions

    def insert_edge(self, draft: EdgeDraft) -> Edge:
        """A new link; both ends must exist. Conflict if the number of *draft* is taken."""
        fields = dict(zip(EDGE_DRAFTED, EDGE_DRAFTED_FIELDS(draft), strict=True))
        created = self._given_at if draft.created_at is None else draft.created_at
        edge = Edge(**fields, id=0, created_at=created)
        values = [getattr(edge, name) for name in edges.COLUMNS]
        self._db.execute(edges.INSERT, [draft.id, *values[1:], self._place.next])
        made = replace(edge, id=self._db.last_insert_rowid())
        after = {
            name: value
            for name, value in zip(edges.COLUMNS[1:], values[1:], strict=True)
            if value is not None
        }
        self._log(Subject.EDGE, made.id, None, after)
        return made

    def update_edge(self, edge: Edge, patch: EdgePatch) -> Edge:
        """*edge* with *patch* applied."""
        fields = patch.fields()
        after = {name: value for name, value in fields.items() if getattr(edge, name) != value}
        if not after:
            return edge
        history.keep(self._db, Subject.EDGE, edge.id, self._place.next)
        assignments = ", ".join(f"{name} = ?" for name in after)
        self._db.execute(f"UPDATE edge SET {assignments} WHERE id = ?", (*after.values(), edge.id))
        self._log(Subject.EDGE, edge.id, {name: getattr(edge, name) for name in after}, after)
        return replace(edge, **fields)

    def insert_session(self, draft: SessionDraft) -> Session:
        """A new session. Conflict if the number or the name of *draft* is taken."""
        number = draft.id or int(value(self._db, sessions.NEXT))
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
        encoded = sessions.encode({name: getattr(session, name) for name in sessions.COLUMNS})
        try:
            self._db.execute(sessions.INSERT, (*encoded.values(), self._place.next))
        except apsw.ConstraintError:
            raise Conflict(f"session: {session.name!r} (number {number}) is taken") from None
        after = {name: one for name, one in of_session(session).items() if one not in (None, {})}
        self._log(Subject.SESSION, number, None, after)
        return session

    def update_session(self, session: Session, patch: SessionPatch) -> Session:
        """*session* with *patch* applied."""
        fields = patch.fields()
        changed = replace(session, **fields)
        after = {name: one for name, one in of_session(changed).items() if one != of_session(session)[name]}
        if not after:
            return session
        history.keep(self._db, Subject.SESSION, session.id, self._place.next)
        encoded = sessions.encode(after)
        assignments = ", ".join(f"{name} = ?" for name in encoded)
        self._db.execute(f"UPDATE session SET {assignments} WHERE id = ?", (*encoded.values(), session.id))
        self._log(Subject.SESSION, session.id, {name: of_session(session)[name] for name in after}, after)
        return changed

    # -- settings and tokens

    def put_version(self, subject: Subject, number: int, version: Version) -> None:
        """Keep the version of a memory, link or session."""
        self._db.execute(versions.PUT_VERSION, (subject, number, versions.encode(version)))

    def put_alias(self, uid: str, memory_id: int) -> None:
        """Let another uid stand for this memory."""
        self._db.execute(versions.PUT_ALIAS, (uid, memory_id))

    def put_standard(self, namespace: str, memory_id: int | None, parent: str | None) -> None:
        """Say which memory is the standard of a namespace and which one is its parent. Not part of the journal."""
        number = self._store.namespace_id(self._db, namespace, create=True)
        self._db.execute(SET_STANDARD, (memory_id, parent, number))

    def put_setting(self, name: str, value: str) -> None:
        """Keep a short text for ourselves. It is not part of the journal."""
        self._db.execute(SET_SETTING, (name, value))

    def put_token(self, token: Token, token_hash: bytes) -> None:
        """Keep a token under its name, in place of an earlier one of that name. Not part of the journal."""
        self._db.execute(access_tokens.UPSERT, token_values(token, token_hash))

    def delete_token(self, name: str) -> bool:
        """Delete the token called *name*; False if there is none."""
        self._db.execute(access_tokens.DELETE, (name,))
        return self._db.changes() > 0

    # -- passages

    def claim(self, statement_ids: Sequence[int], owner: str, now: Moment) -> frozenset[int]:
        """Those of these statements that still wait for vectors and now belong to *owner*."""
        return claims.take(self._db, statement_ids, owner, now)

    def release(self, owner: str, now: Moment) -> None:
        """Drop the claims of *owner*."""
        claims.release(self._db, owner, now)

    def put_vectors(self, model: str, dimension: int, passages: Sequence[Passage]) -> int:
        """Keep vectors for the statements they belong to; how many statements have theirs now."""
        from mnemic.storage.quantisation import quantised

        model_id = self._store.model_id(self._db, model, dimension)
        numbers = sorted({passage.statement_id for passage in passages})
        standing = rows(self._db, STANDING, (as_json(numbers),))
        # One that has its vectors by now owes them to someone who was faster; they are the same.
        waiting = {number for number, made_by in standing if made_by != model_id}
        for number in waiting:
            self._db.execute(DROP_PASSAGES, (number,))
            self._db.execute(EMBEDDED, (model_id, number))
        for passage in passages:
            if passage.statement_id in waiting:
                vector = quantised(passage.vector).tobytes()
                values = (passage.statement_id, model_id, passage.start, passage.end, vector)
                self._db.execute(ADD_PASSAGE, values)
        return len(standing)
