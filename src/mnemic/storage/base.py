"""The store interface that every engine implements. No SQL is visible above it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from mnemic.model.access import EVERYTHING, Scope, Token
from mnemic.model.candidates import Ask, Candidates, Statistics
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
from mnemic.model.graph import Edge, EdgeDraft, EdgePatch
from mnemic.model.memory import Draft, Memory, MemoryPatch
from mnemic.model.recall_entry import RecallEntry
from mnemic.model.session import Session, SessionDraft, SessionPatch
from mnemic.model.time import MINUTE, Moment
from mnemic.model.version import Version

if TYPE_CHECKING:
    from mnemic.model.vectors import Reading, Vectors

T = TypeVar("T")
S = TypeVar("S", bound=tuple[Any, ...])
Rewrite = Callable[[Mapping[str, object]], Mapping[str, object]]
"""From some fields of a link or session to the same fields with other values."""

WHOLE_CHARACTERS = 2_000
"""Characters of a body read for the vector of a whole memory: more than a model takes in at once."""
BACKLOG_LOOKED_AT = 1_000
"""Statements of a queue that a recall looks at, the newest first: all of 100,000 take 45 ms."""
CLAIM_LIFETIME = MINUTE
"""Lifetime of a claim that its process does not drop, since it was killed or hangs."""
CLAIM_HORIZON = 2 * CLAIM_LIFETIME
"""A claim that would last longer was made by a clock that has been set back. Clocks of two machines differ a little,
and a process may read its own, then wait for a lock while another claims."""


# A recall makes hundreds of these, and a frozen dataclass takes four times as long to make as a tuple.
class Nearness(NamedTuple):
    """How near a memory is to a text: the statement its best passage belongs to, and its similarity.

    The similarity is the cosine on the scale that all models share.
    """

    memory_id: int
    statement_id: int
    similarity: float


class Traits(NamedTuple):
    """What a ranking may want to know of a memory without reading it."""

    confidence: float
    session_id: int | None
    occurred_at: Moment


class Companionship(NamedTuple):
    """How often two memories were answered together, and when last."""

    times: int
    last: Moment


@dataclass(frozen=True, slots=True)
class Pending:
    """A statement that waits for its vectors, with the title, the summary and the kind it is read under."""

    statement_id: int
    memory_id: int
    title: str
    text: str
    summary: str | None = None
    kind: str = ""
    is_whole: bool = False
    """It stands for the whole memory: one vector covers the title, the kind and the beginning of the body."""
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a statement and its vector."""

    statement_id: int
    start: int
    end: int
    vector: Vectors


class Reader(Protocol):
    """Questions to the store. Each sees the newest committed state and changes nothing."""

    def at_one_moment(self) -> AbstractContextManager[None]:
        """Everything this reader answers in the block comes from one moment."""

    def get(self, memory_ids: Sequence[int]) -> list[Memory]:
        """The memories with these numbers, in the order given; unknown numbers are left out."""

    def ids_named(
        self, name: str, namespaces: Sequence[str] | None, state: State = State.LIVING
    ) -> list[int]:
        """The living memories (or the placeholders) of this chosen name, at most one in each of *namespaces*.

        Names are compared after NFC normalisation. They come in the order of the namespaces (None: in all, by number).
        """

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
        """The numbers of the memories that pass *wanted*, in this order; those above *after* where that is given."""

    def look(
        self,
        wanted: Filter | EdgeFilter | Sequence[int],
        shape: type[S],
        *,
        after: int = 0,
        limit: int | None = None,
    ) -> list[S]:
        """The memories or links that pass *wanted*, or the memories with these ids in any state, as rows of *shape*.

        A shape is a NamedTuple whose fields are columns (`model.shapes`, `model.graph`); of a link, `source` and
        `target` are the titles of its ends. The rows come by number: the first *limit* above *after*.
        """

    def tally(self, wanted: Filter | EdgeFilter | SessionFilter, by: str) -> dict[str, int]:
        """How many memories, links or sessions pass *wanted*, by one of their attributes; the largest first.

        For memories *by* is `kind`, `namespace`, `tier`, `state`, `tag`, `session` (by number), `actor` (who stored it)
        or `day` (of its creation, as 2026-01-31), for links `type`, for sessions `namespace`. What has no such
        attribute is not counted.
        """

    def standards(self) -> list[tuple[str, int | None, str | None]]:
        """The settings of each namespace that has some: its name, standard memory and parent."""

    def search_substring(
        self, needle: str, wanted: Filter, *, after: int = 0, limit: int | None = None
    ) -> list[int]:
        """The first *limit* memories above number *after* that pass and hold *needle*, by number.

        A memory holds it if its title, its kind or one of its statements does, ignoring case; all hold "".
        """

    def size_bytes(self) -> int:
        """How much room the store takes."""

    def statistics(self, terms: Sequence[str], namespaces: Sequence[str] | None) -> Statistics:
        """How many memories are living in these namespaces (or in all), and how many of them hold each term."""

    def candidates(self, ask: Ask) -> Candidates:
        """The memories that *ask* describes, with what it wants of each, all from one moment.

        Similarities are exact. Where very many memories pass the filter, one in a thousand of the nearest may be
        missed, hardly ever a first one.
        """

    def spellings(self, term: str, limit: int, namespaces: Sequence[str] | None) -> list[str]:
        """Words that differ from *term* by one letter and stand in these namespaces (or any), the likeliest first."""

    def same_texts(self, bodies: Sequence[str], namespaces: Sequence[str] | None) -> dict[str, int]:
        """For each of *bodies* that is the whole body of a living memory, ignoring case and spacing: one such."""

    def near_duplicates(self, body: str, wanted: Filter, *, limit: int) -> list[int]:
        """Up to *limit* memories that may say nearly what *body* says. Most that do are found, and some that do not."""

    def near_duplicate_pairs(self, wanted: Filter, *, limit: int) -> list[tuple[int, int]]:
        """Up to *limit* pairs of memories of one namespace that may say nearly the same, the smaller number first.

        Most that do are found, or joined by a chain of pairs, and some that do not. The index is read once, in order.
        """

    def models(self, wanted: Filter) -> list[str]:
        """The current models that have vectors in the namespaces of *wanted*."""

    def overdue(self, now: Moment) -> list[int]:
        """The living memories whose time was over at *now*. Asked before every write, so it must cost nothing."""

    def edges(self, wanted: EdgeFilter, *, after: int = 0, limit: int | None = None) -> list[Edge]:
        """The first *limit* links with a number above *after* that pass *wanted*, by number."""

    def sessions(
        self, wanted: SessionFilter = ANY_SESSION, *, limit: int | None = None, newest_first: bool = False
    ) -> list[Session]:
        """The first *limit* sessions that pass *wanted*, by number."""

    def journal(
        self, wanted: ChangeFilter = ANY_CHANGE, *, limit: int | None = None, newest_first: bool = False
    ) -> Iterator[Change]:
        """The visible changes that pass, in order of position, with statements as texts.

        A change that is still being committed may get a position before some of these. A follower of the journal
        asks for `changes`.
        """

    def changes(self, after: Position, *, limit: int | None = None) -> Iterator[Change]:
        """The first *limit* settled changes after *after*, in order: none will ever get a position between them.

        A follower that goes on from the last one misses nothing.
        """

    def recalls(
        self, wanted: RecallFilter = ANY_RECALL, *, limit: int, newest_first: bool = False
    ) -> list[RecallEntry]:
        """The first *limit* entries of the recall log that pass, by number."""

    def pending(
        self, *, limit: int, wanted: Filter = ..., unclaimed_at: Moment | None = None
    ) -> list[Pending]:
        """Up to *limit* statements of living memories that have no vectors yet, newest first.

        With *unclaimed_at*, only those without a claim at that moment.
        """

    def backlog(self, wanted: Filter = ..., *, looked_at: int | None = None) -> int:
        """How many statements of memories that pass wait for their vectors.

        With *looked_at*, only that many of the newest are looked at; all others count as if they passed.
        """

    def versions(self, subject: Subject, numbers: Sequence[int]) -> dict[int, Version]:
        """The versions kept of these memories, links or sessions, by number; without those that have none."""

    def aliases(self, wanted: AliasFilter) -> list[tuple[str, int]]:
        """The aliases that pass, in order, each with the id of its memory.

        A purged memory keeps its uid as an alias of a number that no memory has.
        """

    def setting(self, name: str) -> str | None:
        """The setting *name*, or None."""

    def companions(self, memory_ids: Sequence[int] | None = None) -> Iterator[tuple[int, int, Companionship]]:
        """The pairs of these memories, or of all, that were answered together, by number; the smaller comes first."""

    def vectors(self, memory_ids: Sequence[int]) -> dict[int, Reading]:
        """The unit vector of each statement of these living memories that has one, by the statement's number.

        It is the one search compares: of the text under its title. A text of several passages has their mean. A
        memory whose body is not a single statement has one more, of the whole of it.
        """

    def tokens(self, token_hash: bytes | None = None) -> list[Token]:
        """The access tokens by name, or the one with this hash."""


class Writer(Reader, Protocol):
    """One transaction.

    Every change is written to the journal in the same transaction, under the operation and actor the
    transaction was opened with. Reads through a Writer include its own changes.
    """

    @property
    def batch(self) -> int | None:
        """The number of the first change of this transaction, by which all of it can be undone; None without one."""

    def journal_as(self, *, operation: str, actor: str, at: Moment) -> None:
        """Write what follows into the journal as a transaction of its own, for imported changes.

        It is still committed, or rolled back, together with what came before.
        """

    def expect(self, memories: int, *look_ups: Callable[[Reader], object]) -> None:
        """Say that about *memories* will be inserted, after these look-ups: an engine may do all in one trip.

        To be called first. A look-up must bear a reader that finds nothing.
        """

    def insert(self, draft: Draft, *, uid: str) -> Memory:
        """A new living memory. Conflict if its name is taken."""

    def update(self, memory: Memory, patch: MemoryPatch) -> Memory:
        """*memory* with *patch* applied. Conflict if its name is taken.

        Leaving or entering the living state moves the memory out of or into every index.
        """

    def insert_session(self, draft: SessionDraft) -> Session:
        """A new session. Conflict if the number or the name of *draft* is taken."""

    def update_session(self, session: Session, patch: SessionPatch) -> Session:
        """*session* with *patch* applied."""

    def count_use(self, memory_ids: Sequence[int], now: Moment) -> dict[int, int]:
        """Count one use of each, as often as it is named; how many each has had by now. Not part of the journal."""

    def count_together(self, memory_ids: Sequence[int], now: Moment, times: int = 1) -> None:
        """Count *times* more joint answers for every pair of these. Not part of the journal.

        Purged memories are skipped.
        """

    def log_recalls(self, entries: Sequence[RecallEntry], *, since: Moment) -> None:
        """Add *entries* to the recall log, and drop entries older than *since*. Not part of the journal."""

    def tombstone(self, subject: Subject, number: int) -> None:
        """Write into the journal that the thing with this number was purged."""

    def purge(self, memory_ids: Sequence[int], *, recalls: Sequence[int] = ()) -> int:
        """Delete these memories for good, and their text from the journal; a tombstone stays. How many there were.

        Entries of the recall log that show them go too, and those with the numbers *recalls*.
        """

    def rewrite_history(self, subject: Subject, number: int, rewrite: Rewrite) -> None:
        """Rewrite what the journal and the past versions of a link or session say, which erases what they said."""

    def insert_edge(self, draft: EdgeDraft) -> Edge:
        """A new link; both ends must exist. Conflict if the number of *draft* is taken."""

    def update_edge(self, edge: Edge, patch: EdgePatch) -> Edge:
        """*edge* with *patch* applied."""

    def import_memory(self, memory: Memory, *, is_checked: bool = False) -> Memory:
        """Insert an imported memory with its uid, times, state and counters.

        Its number too, if that is free and lies no more than a million beyond all others. One that cannot be imported
        leaves nothing behind. If it *is_checked*, each field of its type and uid and title free, that costs less.
        """

    def put_version(self, subject: Subject, number: int, version: Version) -> None:
        """Keep the version of a memory, link or session. Versions are not part of the journal."""

    def put_alias(self, uid: str, memory_id: int) -> None:
        """Let another uid stand for this memory; if there is no such memory, it counts as purged."""

    def put_standard(self, namespace: str, memory_id: int | None, parent: str | None) -> None:
        """Say which memory is the standard of a namespace and which one is its parent. Not part of the journal."""

    def put_setting(self, name: str, value: str) -> None:
        """Set the setting *name* of the store. Not part of the journal."""

    def put_token(self, token: Token, token_hash: bytes) -> None:
        """Keep a token under its name, in place of an earlier one of that name. Not part of the journal."""

    def delete_token(self, name: str) -> bool:
        """Delete the token called *name*; False if there is none."""

    def claim(self, statement_ids: Sequence[int], owner: str, now: Moment) -> frozenset[int]:
        """Those of these statements that still wait for vectors and now belong to *owner*.

        No other owner can claim them until *owner* releases them or CLAIM_LIFETIME is over.
        """

    def release(self, owner: str, now: Moment) -> None:
        """Drop the claims of *owner*."""

    def put_vectors(self, model: str, dimension: int, passages: Sequence[Passage]) -> int:
        """Keep vectors for the statements they belong to; how many statements have theirs now.

        Statements that have gone meanwhile are passed over, and those that have vectors by this model keep them.
        Vectors are not part of the journal.
        """


class Store(Protocol):
    """A database. Safe to use from several threads; several processes may have the same one open."""

    @property
    def location(self) -> str:
        """Where it lives, as a person would name it."""

    def read(self, scope: Scope = EVERYTHING) -> Reader:
        """A view of the newest committed state, limited to *scope*."""

    def snapshot(self, scope: Scope = EVERYTHING) -> AbstractContextManager[Reader]:
        """A Reader whose every answer comes from the same moment, for as long as the block lasts."""

    def change(
        self,
        scope: Scope,
        operation: str,
        actor: str,
        at: Moment,
        work: Callable[[Writer], T],
        *,
        durable: bool = True,
        waits: bool = True,
    ) -> T:
        """Run *work* in one transaction, commit it and return its result; an exception leaves nothing behind.

        The engine locks what *scope* is about, and what *work* turns out to write to. It may run *work* again, for such
        a lock, after a serialisation failure or a lost connection, so *work* must have no effect but through its
        Writer. Without *durable* a power failure may undo the whole transaction. Without *waits* it raises Busy at once
        while another writer holds the lock.
        """

    def newest(self) -> Position:
        """The position of the newest settled change; BEGINNING if there is none."""

    def wait(self, after: Position, seconds: float) -> Position:
        """Wait for a settled change after *after*, at most *seconds* or until the store is closed; the newest position.

        Changes of other processes count too; they may be noticed a moment later.
        """

    def at(self, when: Position | Moment) -> Store:
        """The store as of a position or a moment: readable like any other, never writable."""

    def use_models(self, *names: str) -> None:
        """Compare vectors of these models only, each with its own; statements that have none become pending."""

    def close(self) -> None:
        """Close the store. Safe to call twice."""


class Progress(Protocol):
    """Progress callback of long work: done, total."""

    def __call__(self, done: int, total: int) -> None:
        """*done* of *total* units are finished."""
