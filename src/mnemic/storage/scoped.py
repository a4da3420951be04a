"""Authorisation: readers and writers that know nothing outside a scope.

A limited caller gets these instead of an engine's own. Each question is narrowed to the visible namespaces, each
id is checked, and the answer is the same as if nothing else were in the store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from mnemic.errors import Conflict, Denied
from mnemic.model.access import Scope, Token
from mnemic.model.candidates import Ask, Candidate, Candidates, Statistics
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
from mnemic.model.graph import Edge, EdgeDraft, EdgePatch, Link
from mnemic.model.memory import Draft, Memory, MemoryPatch
from mnemic.model.patch import UNSET
from mnemic.model.recall_entry import RecallEntry
from mnemic.model.session import Session, SessionDraft, SessionPatch
from mnemic.model.time import Moment
from mnemic.model.version import Version
from mnemic.storage.base import Companionship, Passage, Pending, Reader, Rewrite, Writer
from mnemic.storage.queries import edge_numbered, numbers, passing, session_numbered

if TYPE_CHECKING:
    from mnemic.model.vectors import Reading

S = TypeVar("S", bound=tuple[Any, ...])

AT_ONCE = 500
"""Changes or pairs checked together."""
EVERY = 1 << 31
LIVING = Filter()


def scoped_reader(reader: Reader, scope: Scope, whole: Reader | None = None) -> Reader:
    """*reader* narrowed to *scope*; itself if everything is visible.

    An engine that narrows *reader* too gives *whole*, which sees everything: whether a number is taken, or where a
    memory has been, depends on more than the scope.
    """
    return reader if scope.visible is None else ScopedReader(reader, scope, whole)


def scoped_writer(writer: Writer, scope: Scope, whole: Reader | None = None) -> Writer:
    """*writer* narrowed to *scope*; itself if everything is visible."""
    return writer if scope.visible is None else ScopedWriter(writer, scope, whole)


class ScopedReader:
    """A Reader of the visible namespaces."""

    def __init__(self, reader: Reader, scope: Scope, whole: Reader | None = None):
        self._reader = reader
        self._whole = reader if whole is None else whole
        self._scope = scope
        self._everything = Filter(namespaces=scope.visible, states=ALL_STATES)

    def _within(self, wanted: Filter) -> Filter:
        return replace(wanted, namespaces=self._scope.narrow(wanted.namespaces))

    def _narrowed(self, namespaces: Sequence[str] | None) -> tuple[str, ...] | None:
        return self._scope.narrow(None if namespaces is None else tuple(namespaces))

    def _seen(self, memory_ids: Iterable[int]) -> list[int]:
        """Those of these memories that are visible, in the order given."""
        numbers = list(memory_ids)
        seen = passing(self._reader, numbers, self._everything)
        return [number for number in numbers if number in seen]

    def _linked(self, wanted: EdgeFilter) -> EdgeFilter:
        ends = self._everything if wanted.ends is None else self._within(wanted.ends)
        return replace(wanted, ends=ends)

    def at_one_moment(self) -> AbstractContextManager[None]:
        """A block whose answers come from one moment."""
        return self._reader.at_one_moment()

    # -- memories

    def get(self, memory_ids: Sequence[int]) -> list[Memory]:
        """The visible ones of these memories, in the order given."""
        return [one for one in self._reader.get(memory_ids) if self._scope.covers(one.namespace)]

    def ids_named(
        self, name: str, namespaces: Sequence[str] | None, state: State = State.LIVING
    ) -> list[int]:
        """The visible memories of this chosen name."""
        if namespaces is None:
            return self._seen(self._reader.ids_named(name, None, state))
        return self._reader.ids_named(name, self._narrowed(namespaces), state)

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
        """The visible memories that pass *wanted*, in this order."""
        return self._reader.select(
            self._within(wanted),
            limit=limit,
            offset=offset,
            order=order,
            is_reversed=is_reversed,
            after=after,
        )

    def look(
        self,
        wanted: Filter | EdgeFilter | Sequence[int],
        shape: type[S],
        *,
        after: int = 0,
        limit: int | None = None,
    ) -> list[S]:
        """The visible memories or links that pass *wanted*, or have these numbers, as rows of *shape*."""
        if isinstance(wanted, EdgeFilter):
            return self._reader.look(self._linked(wanted), shape, after=after, limit=limit)
        if not isinstance(wanted, Filter):
            wanted = replace(self._everything, ids=tuple(wanted))
        found = self._reader.look(self._within(wanted), shape, after=after, limit=limit)
        return self._counted(found) if "links" in shape._fields else found  # type: ignore[attr-defined]

    def _counted(self, found: list[S]) -> list[S]:
        """*found* with those links counted that lead to visible memories."""
        edges = self.look(EdgeFilter(at=tuple(one.id for one in found)), Link)  # type: ignore[attr-defined]
        counts = Counter(end for edge in edges for end in (edge.source_id, edge.target_id))
        return [one._replace(links=counts[one.id]) for one in found]  # type: ignore[attr-defined]

    def tally(self, wanted: Filter | EdgeFilter | SessionFilter, by: str) -> dict[str, int]:
        """How many visible memories, links or sessions pass *wanted*, by one of their attributes."""
        match wanted:
            case EdgeFilter():
                return self._reader.tally(self._linked(wanted), by)
            case SessionFilter():
                return self._reader.tally(self._in_scope(wanted), by)
        return self._reader.tally(self._within(wanted), by)

    def standards(self) -> list[tuple[str, int | None, str | None]]:
        """The settings of each visible namespace."""
        return [one for one in self._reader.standards() if self._scope.covers(one[0])]

    def search_substring(
        self, needle: str, wanted: Filter, *, after: int = 0, limit: int | None = None
    ) -> list[int]:
        """The visible memories that pass *wanted* and contain *needle*."""
        return self._reader.search_substring(needle, self._within(wanted), after=after, limit=limit)

    def size_bytes(self) -> int:
        """Zero: the size of the file would reveal other namespaces."""
        return 0

    # -- words and vectors

    def statistics(self, terms: Sequence[str], namespaces: Sequence[str] | None) -> Statistics:
        """How many memories the visible ones of these namespaces have, and how many hold each term."""
        return self._reader.statistics(terms, self._narrowed(namespaces))

    def candidates(self, ask: Ask) -> Candidates:
        """The visible memories that *ask* describes."""
        given = None if ask.ids is None else tuple(self._seen(ask.ids))
        found = self._reader.candidates(replace(ask, filter=self._within(ask.filter), ids=given))
        beside = {number for row in found.rows.values() for number in row.beside}
        return replace(found, rows=_beside(found.rows, frozenset(self._seen(beside)))) if beside else found

    def spellings(self, term: str, limit: int, namespaces: Sequence[str] | None) -> list[str]:
        """Words of the visible namespaces that differ from *term* by one letter."""
        return self._reader.spellings(term, limit, self._narrowed(namespaces))

    def same_texts(self, bodies: Sequence[str], namespaces: Sequence[str] | None) -> dict[str, int]:
        """For each of *bodies* that is the whole body of a visible memory: one such."""
        return self._reader.same_texts(bodies, self._narrowed(namespaces))

    def near_duplicates(self, body: str, wanted: Filter, *, limit: int) -> list[int]:
        """Visible memories that may be near-duplicates of *body*."""
        return self._reader.near_duplicates(body, self._within(wanted), limit=limit)

    def near_duplicate_pairs(self, wanted: Filter, *, limit: int) -> list[tuple[int, int]]:
        """Pairs of visible memories that may be near-duplicates."""
        return self._reader.near_duplicate_pairs(self._within(wanted), limit=limit)

    def models(self, wanted: Filter) -> list[str]:
        """The models that have vectors of visible memories."""
        return self._reader.models(self._within(wanted))

    def vectors(self, memory_ids: Sequence[int]) -> dict[int, Reading]:
        """The vectors of the statements of the visible ones of these memories."""
        return self._reader.vectors(self._seen(memory_ids))

    def recalls(
        self, wanted: RecallFilter = ANY_RECALL, *, limit: int, newest_first: bool = False
    ) -> list[RecallEntry]:
        """The recalls that looked into visible namespaces alone."""
        narrowed = replace(wanted, visible=self._scope.narrow(wanted.visible))
        return self._reader.recalls(narrowed, limit=limit, newest_first=newest_first)

    def pending(
        self, *, limit: int, wanted: Filter = LIVING, unclaimed_at: Moment | None = None
    ) -> list[Pending]:
        """Statements of visible memories that have no vectors yet."""
        return self._reader.pending(limit=limit, wanted=self._within(wanted), unclaimed_at=unclaimed_at)

    def backlog(self, wanted: Filter = LIVING, *, looked_at: int | None = None) -> int:
        """How many statements of visible memories wait for vectors, always exactly: no others are counted."""
        return self._reader.backlog(self._within(wanted))

    def overdue(self, now: Moment) -> list[int]:
        """The visible living memories that have expired."""
        found = self._reader.overdue(now)
        return self._seen(found) if found else []

    # -- links, sessions, uses

    def edges(self, wanted: EdgeFilter, *, after: int = 0, limit: int | None = None) -> list[Edge]:
        """The links between visible memories that pass *wanted*."""
        return self._reader.edges(self._linked(wanted), after=after, limit=limit)

    def sessions(
        self, wanted: SessionFilter = ANY_SESSION, *, limit: int | None = None, newest_first: bool = False
    ) -> list[Session]:
        """The sessions of visible namespaces."""
        return self._reader.sessions(self._in_scope(wanted), limit=limit, newest_first=newest_first)

    def _in_scope(self, wanted: SessionFilter) -> SessionFilter:
        return replace(wanted, namespaces=self._scope.narrow(wanted.namespaces))

    def companions(self, memory_ids: Sequence[int] | None = None) -> Iterator[tuple[int, int, Companionship]]:
        """The pairs of visible memories that were recalled together."""
        waiting = self._reader.companions(memory_ids)
        while pairs := list(islice(waiting, AT_ONCE)):
            seen = set(self._seen({number for one, other, _ in pairs for number in (one, other)}))
            yield from (pair for pair in pairs if {pair[0], pair[1]} <= seen)

    def journal(
        self, wanted: ChangeFilter = ANY_CHANGE, *, limit: int | None = None, newest_first: bool = False
    ) -> Iterator[Change]:
        """The changes to visible memories and sessions and to the links between them."""
        return self._shown(self._reader.journal(wanted, newest_first=newest_first), limit)

    def changes(self, after: Position, *, limit: int | None = None) -> Iterator[Change]:
        """The settled ones of these changes after *after*."""
        return self._shown(self._reader.changes(after), limit)

    def _shown(self, changes: Iterator[Change], limit: int | None) -> Iterator[Change]:
        return islice(_VisibleChanges(self._reader, self._scope, self._whole).among(changes), limit)

    # -- the store as a whole

    def versions(self, subject: Subject, numbers: Sequence[int]) -> dict[int, Version]:
        """The versions of the visible ones of these memories, links or sessions."""
        kept = self._reader.versions(subject, numbers)
        return {number: kept[number] for number in self._visible(subject, list(kept))}

    def _visible(self, subject: Subject, numbers: Sequence[int]) -> list[int]:
        """Those of these memories, links or sessions that are visible."""
        match subject:
            case Subject.MEMORY:
                return self._seen(numbers)
            case Subject.EDGE:
                return [one.id for one in self.edges(EdgeFilter(ids=tuple(numbers), states=ALL_STATES))]
        return [one.id for one in self.sessions(SessionFilter(ids=tuple(numbers)))]

    def aliases(self, wanted: AliasFilter) -> list[tuple[str, int]]:
        """The aliases of visible memories. The namespace of a purged one is unknown."""
        found = self._reader.aliases(wanted)
        seen = set(self._seen(number for _, number in found))
        return [(uid, number) for uid, number in found if number in seen]

    def setting(self, name: str) -> str | None:
        """None: settings are about the whole store."""
        return None

    def tokens(self, token_hash: bytes | None = None) -> list[Token]:
        """None: a token would reveal namespaces."""
        return []


def _beside(rows: Mapping[int, Candidate], visible: frozenset[int]) -> dict[int, Candidate]:
    """*rows* with those neighbours in a session that are *visible*."""
    return {
        number: row._replace(beside=tuple(one for one in row.beside if one in visible))
        for number, row in rows.items()
    }


class _VisibleChanges:
    """Which changes a scope shows. Where a memory is and has been is read once for all of its changes."""

    def __init__(self, reader: Reader, scope: Scope, whole: Reader):
        self._reader = reader
        self._whole = whole
        self._scope = scope
        self._ends: dict[int, list[int]] = {}
        self._visible: dict[int, bool] = {}
        self._moves: dict[int, list[tuple[Position, str]]] = {}

    def among(self, changes: Iterable[Change]) -> Iterator[Change]:
        """The visible ones of *changes*, checked many at a time."""
        waiting = iter(changes)
        while some := list(islice(waiting, AT_ONCE)):
            self._look(some)
            yield from filter(self._shows, some)

    def _shows(self, change: Change) -> bool:
        """Whether everything *change* touched is visible, and was before and after it."""
        if change.subject is Subject.SESSION:
            session = session_numbered(self._reader, change.subject_id)
            return session is not None and self._scope.covers(session.namespace)
        touched = self._touched(change)
        return bool(touched) and all(
            self._visible[number]
            and all(self._scope.covers(space) for space in self._around(number, change.position))
            for number in touched
        )

    def _look(self, changes: Sequence[Change]) -> None:
        """Find out which of the memories that were touched are visible."""
        touched = {number for change in changes for number in self._touched(change)}
        if unknown := touched - self._visible.keys():
            here = Filter(namespaces=self._scope.visible, states=ALL_STATES)
            seen = passing(self._reader, sorted(unknown), here)
            self._visible |= {number: number in seen for number in unknown}

    def _touched(self, change: Change) -> list[int]:
        match change.subject:
            case Subject.MEMORY:
                return [change.subject_id]
            case Subject.EDGE:
                return self._ends_of(change.subject_id)
        return []

    def _ends_of(self, number: int) -> list[int]:
        if number not in self._ends:
            edge = edge_numbered(self._reader, number)
            self._ends[number] = [edge.source_id, edge.target_id] if edge else []
        return self._ends[number]

    def _around(self, number: int, position: Position) -> list[str]:
        """The namespaces a memory left with the change at *position* and with its next move, if it did."""
        if number not in self._moves:
            # An engine that narrows its reader shows every move into the scope; without any there were no others.
            moves = _moves(self._reader, number)
            self._moves[number] = _moves(self._whole, number) if moves else []
        left = [namespace for at, namespace in self._moves[number] if at == position]
        return left + [namespace for at, namespace in self._moves[number] if at > position][:1]


def _moves(reader: Reader, number: int) -> list[tuple[Position, str]]:
    """When a memory left a namespace, and which, as *reader* shows it."""
    changes = reader.journal(ChangeFilter(subject=Subject.MEMORY, subject_ids=(number,)))
    return [
        (change.position, str(change.before["namespace"]))
        for change in changes
        if change.before and "namespace" in change.before
    ]


class ScopedWriter(ScopedReader):
    """A Writer to the visible namespaces."""

    def __init__(self, writer: Writer, scope: Scope, whole: Reader | None = None):
        super().__init__(writer, scope, whole)
        self._writer = writer

    def _must_cover(self, namespace: str) -> None:
        if not self._scope.covers(namespace):
            raise Denied(f"namespace: this token may not use {namespace!r}.")

    def _must_see(self, *memory_ids: int) -> None:
        if len(self._seen(memory_ids)) < len(memory_ids):
            raise Denied("This token may not change that memory.")

    def _deny(self) -> Denied:
        return Denied("This needs a token for every namespace.")

    @property
    def batch(self) -> int | None:
        """The number of this transaction."""
        return self._writer.batch

    def journal_as(self, *, operation: str, actor: str, at: Moment) -> None:
        """Denied: who made a change is for the owner to say."""
        raise self._deny()

    def expect(self, memories: int, *look_ups: Callable[[Reader], object]) -> None:
        """Say that about *memories* will be inserted, after these look-ups."""
        self._writer.expect(memories, *(partial(self._narrowing, look_up) for look_up in look_ups))

    def _narrowing(self, look_up: Callable[[Reader], object], reader: Reader) -> None:
        look_up(ScopedReader(reader, self._scope))

    def insert(self, draft: Draft, *, uid: str) -> Memory:
        """A new memory in a visible namespace."""
        self._must_cover(draft.namespace)
        return self._writer.insert(draft, uid=uid)

    def update(self, memory: Memory, patch: MemoryPatch) -> Memory:
        """A visible memory changed; it stays visible."""
        self._must_see(memory.id)
        self._must_cover(memory.namespace if patch.namespace is UNSET else patch.namespace)
        return self._writer.update(memory, patch)

    def insert_session(self, draft: SessionDraft) -> Session:
        """A new session in a visible namespace."""
        self._must_cover(draft.namespace)
        if draft.id is not None and session_numbered(self._whole, draft.id):
            raise Denied(f"session_id: this token may not use session {draft.id}.")
        return self._writer.insert_session(draft)

    def update_session(self, session: Session, patch: SessionPatch) -> Session:
        """A session of a visible namespace changed; it stays visible."""
        self._must_cover(session.namespace)
        self._must_cover(session.namespace if patch.namespace is UNSET else patch.namespace)
        return self._writer.update_session(session, patch)

    def count_use(self, memory_ids: Sequence[int], now: Moment) -> dict[int, int]:
        """Count a use of each of these that is visible."""
        return self._writer.count_use(self._seen(memory_ids), now)

    def count_together(self, memory_ids: Sequence[int], now: Moment, times: int = 1) -> None:
        """Count a joint use of those of these that are visible."""
        self._writer.count_together(self._seen(memory_ids), now, times)

    def log_recalls(self, entries: Sequence[RecallEntry], *, since: Moment) -> None:
        """Refused: the log is of the whole store."""
        raise self._deny()

    def tombstone(self, subject: Subject, number: int) -> None:
        """Denied: tombstones come with a whole store."""
        raise self._deny()

    def purge(self, memory_ids: Sequence[int], *, recalls: Sequence[int] = ()) -> int:
        """Purge those of these that are visible. Denied for *recalls*: the log is the whole store's."""
        if recalls:
            raise self._deny()
        return self._writer.purge(self._seen(memory_ids))

    def rewrite_history(self, subject: Subject, number: int, rewrite: Rewrite) -> None:
        """Denied: the history is the whole store's."""
        raise self._deny()

    def insert_edge(self, draft: EdgeDraft) -> Edge:
        """A new link between visible memories."""
        self._must_see(draft.source_id, draft.target_id)
        return self._writer.insert_edge(draft)

    def update_edge(self, edge: Edge, patch: EdgePatch) -> Edge:
        """A link between visible memories changed; it stays between visible ones."""
        self._must_see(edge.source_id, edge.target_id)
        self._must_see(*(end for end in (patch.source_id, patch.target_id) if end is not UNSET))
        return self._writer.update_edge(edge, patch)

    def import_memory(self, memory: Memory, *, is_checked: bool = False) -> Memory:
        """A memory from another store, for a visible namespace."""
        self._must_cover(memory.namespace)
        if numbers(self._whole, [memory.uid]):
            raise Conflict("id: is taken by a memory that this token may not use")
        return self._writer.import_memory(memory, is_checked=is_checked)

    def put_version(self, subject: Subject, number: int, version: Version) -> None:
        """Keep the version of a visible memory, link or session."""
        if not self._visible(subject, [number]):
            raise self._deny()
        self._writer.put_version(subject, number, version)

    def put_alias(self, uid: str, memory_id: int) -> None:
        """Let another uid stand for a visible memory."""
        self._must_see(memory_id)
        self._writer.put_alias(uid, memory_id)

    def put_standard(self, namespace: str, memory_id: int | None, parent: str | None) -> None:
        """The standard of a visible namespace."""
        self._must_cover(namespace)
        self._writer.put_standard(namespace, memory_id, parent)

    def put_setting(self, name: str, value: str) -> None:
        """Denied: settings are about the whole store."""
        raise self._deny()

    def put_token(self, token: Token, token_hash: bytes) -> None:
        """Denied: a limited token makes no others."""
        raise self._deny()

    def delete_token(self, name: str) -> bool:
        """Denied: a limited token revokes no others."""
        raise self._deny()

    def claim(self, statement_ids: Sequence[int], owner: str, now: Moment) -> frozenset[int]:
        """Claim statements that `pending` named."""
        return self._writer.claim(statement_ids, owner, now)

    def release(self, owner: str, now: Moment) -> None:
        """Drop the claims of *owner*."""
        self._writer.release(owner, now)

    def put_vectors(self, model: str, dimension: int, passages: Sequence[Passage]) -> int:
        """Keep vectors for statements that `pending` named."""
        return self._writer.put_vectors(model, dimension, passages)
