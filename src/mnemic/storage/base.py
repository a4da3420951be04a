"""What a store promises. An engine keeps these promises; nobody above this floor sees SQL."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeVar

from mnemic.model.access import Grant, Token
from mnemic.model.graph import Direction, Edge, Entity, Link, Relation
from mnemic.model.journal import Change, Subject
from mnemic.model.memory import Draft, Memory
from mnemic.model.search import Filter, Order
from mnemic.model.session import Session
from mnemic.model.values import Moment, State
from mnemic.model.workspace import Member, Role, Workspace

if TYPE_CHECKING:
    from types import TracebackType

    from mnemic.embedding.base import Embedding, Reading, Vectors

T = TypeVar("T")


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


class Departed(NamedTuple):
    """The memories of a namespace that came into a state other than living."""

    memories: int
    size_bytes: int
    """The bytes of their titles and texts."""
    oldest: Moment | None
    newest: Moment | None
    """When the first and the last of them came into it."""


class Usage(NamedTuple):
    """How a memory is used and linked. A link that has ended counts too."""

    created_at: Moment
    accessed_at: Moment | None
    access_count: int
    days_used: int
    links: int


class Merit(NamedTuple):
    """What speaks for a memory whatever the question."""

    priority: int
    confidence: float
    access_count: int
    tier: str
    """A Tier as text: to make hundreds of them takes longer than to compare them."""
    updated_at: Moment


class Repute(NamedTuple):
    """How good a memory proved and how much it is used."""

    quality: float | None
    access_count: int
    accessed_at: Moment | None
    created_at: Moment


class Standing(NamedTuple):
    """A memory without its text: what it is, how sure it is, whether it is living, and how it was used."""

    memory_id: int
    kind: str
    confidence: float
    is_living: bool
    created_at: Moment
    accessed_at: Moment | None
    access_count: int


class Match(NamedTuple):
    """A memory that holds words, how well, and its merits."""

    memory_id: int
    bm25: float
    priority: int
    confidence: float
    access_count: int
    tier: str
    updated_at: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much each merit of a memory adds to the score of its words."""

    priority: float
    use: float
    """For each use, up to `most_uses` of them."""
    most_uses: int
    confidence: float
    tiers: Mapping[str, float]
    aging: float
    """How fast the 1.0 of a memory that was just changed falls with the days."""
    now: Moment


class Companionship(NamedTuple):
    """How often two memories were answered together, and when last."""

    times: int
    last: Moment


class Outline(NamedTuple):
    """A memory without its text: what it is, how much it says, how it is used."""

    memory_id: int
    title: str
    kind: str
    created_at: Moment
    accessed_at: Moment | None
    access_count: int
    statements: int
    has_grown: bool
    """Its statements came with more than one change."""


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


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a statement and the vector that stands for it."""

    statement_id: int
    start: int
    end: int
    vector: Vectors


@dataclass(frozen=True, slots=True)
class Counts:
    """The store in numbers."""

    by_tier: Mapping[str, int]
    by_namespace: Mapping[str, int]
    by_kind: Mapping[str, int]
    by_state: Mapping[str, int]
    expiring: int
    edges: int
    pending: int
    changes: int
    size_bytes: int


class Reader(Protocol):
    """Questions to the store. Each sees the newest committed state and changes nothing."""

    def memory(self, memory_id: int) -> Memory | None:
        """The memory with this number, in whatever state, or None."""

    def memories(self, memory_ids: Sequence[int]) -> list[Memory]:
        """The memories with these numbers, in the order given; unknown numbers are left out."""

    def contents(self, memory_ids: Sequence[int]) -> dict[int, str]:
        """What these memories say, and nothing else of them; one that says nothing is left out."""

    def entities(self, memory_ids: Sequence[int]) -> list[Entity]:
        """What these memories are called and say, in the order given; unknown numbers are left out."""

    def ids_with_uid(self, prefix: str, limit: int) -> list[int]:
        """The numbers of up to *limit* memories whose uid begins with *prefix* (hyphens optional)."""

    def numbers(self, uids: Sequence[str]) -> dict[str, int]:
        """The numbers of the memories that have one of these uids whole, in whatever state, by it."""

    def uids(self, memory_ids: Sequence[int], wanted: Filter) -> dict[int, str]:
        """The uids of those of these memories that pass *wanted*, by number."""

    def ids_titled(
        self, title: str, namespaces: Sequence[str] | None, state: State = State.LIVING
    ) -> list[int]:
        """The living memories (or the names) called *title* exactly, in the order of *namespaces* (None: in all)."""

    def ids_left(self, title: str) -> list[int]:
        """The deleted, archived and superseded memories called *title* exactly, the last to leave first."""

    def select(
        self, wanted: Filter, *, limit: int, offset: int = 0, order: Order = Order.PRIORITY
    ) -> list[int]:
        """The numbers of the memories that pass *wanted*, in this order."""

    def ids_with_metadata(self, pairs: Mapping[str, object]) -> list[int]:
        """The memories, in whatever state, whose metadata holds every one of *pairs* at its top level."""

    def passing(self, memory_ids: Sequence[int], wanted: Filter) -> set[int]:
        """Those of these memories that pass *wanted*."""

    def standings(self, wanted: Filter) -> list[Standing]:
        """Every memory that passes *wanted*, without its text, by number."""

    def tally(self, wanted: Filter) -> dict[str, int]:
        """How many memories of each kind pass *wanted*."""

    def unlinked(
        self, wanted: Filter, direction: Direction = ..., types: Sequence[str] | None = None
    ) -> list[int]:
        """The memories that pass *wanted* and have no link in this direction, of these types or of any, by number.

        A link that has ended is none, nor is one to a memory that has left (a superseded one has not).
        """

    def left(
        self,
        state: State,
        namespaces: Sequence[str] | None,
        *,
        before: Moment | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[int]:
        """The memories in *state*, in these namespaces or all, those first that came into it last.

        Only those that came into it before that moment, where one is given.
        """

    def left_by_namespace(self, state: State, namespaces: Sequence[str] | None) -> dict[str, Departed]:
        """How many memories are in *state*, how large they are and since when, by namespace."""

    def standards(self) -> list[tuple[str, int | None, str | None]]:
        """What is set for each namespace for which something is: its name, standard memory and parent."""

    def page(self, wanted: Filter, *, after: int = 0, limit: int) -> list[Memory]:
        """The first *limit* memories that pass *wanted* and have a number above *after*, by number."""

    def ids_containing(
        self, needle: str, wanted: Filter, *, after: int = 0, limit: int | None = None
    ) -> list[int]:
        """The first *limit* memories above number *after* that pass and hold *needle*, by number.

        A memory holds it if its title, its kind or one of its statements does, whatever the case; all hold "".
        """

    def counts(
        self, namespaces: Sequence[str] | None, now: Moment, *, seen: Sequence[str] | None = None
    ) -> Counts:
        """The store in numbers, of these namespaces or of all; expired memories are not counted as living.

        Links count with one end in these, but with *seen* only if none of their ends is in another than those.
        """

    def size_bytes(self) -> int:
        """How much room the store takes."""

    def count(self) -> int:
        """How many memories are living."""

    def size(self, namespaces: Sequence[str] | None) -> int:
        """How many memories are living in these namespaces or in all, to within a twentieth."""

    def words(
        self, terms: Sequence[str], wanted: Filter, *, every: bool, limit: int
    ) -> list[tuple[int, float]]:
        """The best *limit* memories by BM25 among those that hold every term (or any), with their scores.

        A term is one word or a phrase; no character in it is syntax. A `tokenizer.Word` is found by its stems too.
        Higher is better. The statistics are those of the namespaces of *wanted*.
        """

    def each_word(
        self, terms: Sequence[str], wanted: Filter, memory_ids: Sequence[int]
    ) -> list[dict[int, float]]:
        """For each term, what it adds to the BM25 of those of these memories that hold it.

        The memories are some that pass *wanted*, which is told again only since a store may know their words by it.
        """

    def matches(
        self, terms: Sequence[str], wanted: Filter, weights: Weights, *, every: bool, limit: int
    ) -> list[Match]:
        """Memories that hold every term (or any), among them the *limit* best by words and merits, in any order.

        Of many that hold the terms, a store may look only at hundreds that do so best.
        """

    def frequencies(self, terms: Sequence[str], namespaces: Sequence[str] | None) -> dict[str, int]:
        """In how many living memories of these namespaces (or of all) each term stands; a term in none has 0.

        Of frequent ones to within a tenth.
        """

    def stems(self, body: str) -> list[str]:
        """The words of *body* in order, in the form the index compares them in."""

    def spellings(self, term: str, limit: int, namespaces: Sequence[str] | None) -> list[str]:
        """Words that differ from *term* by one letter and stand in these namespaces (or any), the likeliest first."""

    def same_text(self, body: str, namespaces: Sequence[str] | None) -> int | None:
        """A living memory whose whole body is *body*, whatever its case and spacing, or None."""

    def marked_alike(self, wanted: Filter, *, limit: int) -> list[tuple[int, int]]:
        """Up to *limit* pairs of memories of one namespace that may say nearly the same, the smaller number first.

        Most that do are found, or joined by a chain of pairs, and some that do not. The index is read once, in order.
        """

    def unheard(self, bodies: Sequence[str]) -> set[str]:
        """Those of *bodies* that no memory says and that stand there only once, whatever their case and spacing."""

    def models(self, wanted: Filter) -> list[str]:
        """The models in use that have vectors in the namespaces of *wanted*."""

    def nearest(
        self, text: Embedding, wanted: Filter, *, limit: int, at_least: float = -math.inf
    ) -> list[Nearness]:
        """The *limit* memories nearest to *text* by their best passage, of those that pass.

        None with a similarity below *at_least*. Similarities are exact. Where very many pass, one in a thousand may be
        missed, hardly ever a first one.
        """

    def similarities(self, text: Embedding, memory_ids: Sequence[int]) -> dict[int, Nearness]:
        """How near each of these memories is, for those that have vectors."""

    def left_similarities(self, text: Embedding, memory_ids: Sequence[int]) -> dict[int, Nearness]:
        """The same for memories that have left the index, by the vectors they left it with."""

    def overdue(self, now: Moment) -> list[int]:
        """The living memories whose time was over at *now*."""

    def edges(
        self, memory_ids: Sequence[int], direction: Direction, types: Sequence[str] | None = None
    ) -> list[Edge]:
        """The living links that touch any of *memory_ids*, ended ones included, by number."""

    def links(
        self, memory_ids: Sequence[int], direction: Direction, types: Sequence[str] | None = None
    ) -> list[Link]:
        """The living links that touch any of *memory_ids* and have not ended, by number."""

    def links_between(self, memory_ids: Sequence[int]) -> list[Link]:
        """The living links that have not ended and lead from one of *memory_ids* to another, by number."""

    def edges_typed(self, type: str, wanted: Filter) -> list[Edge]:
        """The living links of this type that have not ended and whose ends both pass *wanted*, by number."""

    def edge_tally(self, wanted: Filter) -> dict[str, int]:
        """How many living links of each type have not ended and lead between memories that pass *wanted*."""

    def edge(self, edge_id: int) -> Edge | None:
        """The link with this number, in whatever state, or None."""

    def edge_ids(self, memory_id: int) -> list[int]:
        """The numbers of the links that touch this memory, in whatever state."""

    def edge_between(self, source_id: int, target_id: int, type: str) -> Edge | None:
        """The living link of this type from one to the other that has not ended, or None."""

    def has_edge(self, source_id: int, target_id: int, type: str, created_at: Moment) -> bool:
        """Whether this very link was ever made, whatever its state."""

    def relations(
        self,
        wanted: Filter,
        *,
        at: Sequence[int] | None = None,
        after: int = 0,
        limit: int | None = None,
    ) -> list[Relation]:
        """The links that have not ended and whose ends both pass *wanted* or are no more than names, by number.

        Only those with a number above *after*, and with an end among *at* where that is given.
        """

    def all_memories(self) -> Iterator[Memory]:
        """Every memory in every state, by number, without holding them all."""

    def all_edges(self) -> Iterator[Edge]:
        """Every link in every state, by number."""

    def sessions(self) -> list[Session]:
        """Every session, by number."""

    def session_count(self, namespaces: Sequence[str] | None) -> int:
        """How many sessions these namespaces have, or all of them."""

    def session_numbered(self, session_id: int) -> Session | None:
        """The session with this number, or None."""

    def latest_sessions(self, namespaces: Sequence[str] | None, *, limit: int) -> list[Session]:
        """The *limit* sessions of these namespaces, or of all, with the highest numbers, highest first."""

    def sessions_called(self, namespace: str, name: str) -> list[Session]:
        """The sessions of a namespace that have this name, also with something in brackets behind it, by number."""

    def last_in_session(self, session_id: int) -> int | None:
        """The number of the newest living memory of a session, or None."""

    def workspaces(self) -> list[Workspace]:
        """Every workspace with its stores, by number."""

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
        """The changes that pass, in order, with statements given as texts."""

    def pending(self, *, limit: int, wanted: Filter = ...) -> list[Pending]:
        """Up to *limit* statements of living memories that have no vectors yet, newest first."""

    def pending_count(self, wanted: Filter = ...) -> int:
        """How many statements wait for their vectors."""

    def backlog(self, wanted: Filter) -> int:
        """At most how many statements wait for their vectors, told at once.

        The number is exact while the queue is short; of a long one, those far behind count as if they passed.
        """

    def traits(self, memory_ids: Sequence[int]) -> dict[int, Traits]:
        """The traits of these memories; unknown numbers are left out."""

    def merits(self, memory_ids: Sequence[int]) -> dict[int, Merit]:
        """The merits of these memories; unknown numbers are left out."""

    def reputes(self, memory_ids: Sequence[int]) -> dict[int, Repute]:
        """How good these memories proved and how much they are used; unknown numbers are left out."""

    def beginning(
        self, statement_ids: Sequence[int], characters: int, holds: Callable[[str], bool]
    ) -> list[int]:
        """Those of these statements whose first *characters* pass *holds*.

        What that says of a text must never change, since it is kept; so no function that is made for the question.
        """

    def neighbours_in_session(self, memory_ids: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """For each of these memories that belongs to a session: the living ones right before and after it."""

    def setting(self, name: str) -> str | None:
        """What was kept under *name* by `set_setting`, or None."""

    def usage(self, memory_ids: Sequence[int]) -> dict[int, Usage]:
        """How each of these memories is used and linked."""

    def companions(self, memory_ids: Sequence[int]) -> dict[tuple[int, int], Companionship]:
        """The pairs of these memories that were answered together; the smaller number comes first."""

    def all_companions(self) -> Iterator[tuple[int, int, Companionship]]:
        """Every pair that was ever answered together, by number."""

    def outlines(self, wanted: Filter) -> list[Outline]:
        """Every memory that passes *wanted*, without its text, by number."""

    def origins(self, memory_ids: Sequence[int]) -> dict[int, int]:
        """The number of the change that each statement of these memories came with, by the statement's number."""

    def vectors(self, memory_ids: Sequence[int]) -> dict[int, Reading]:
        """The unit vector of each statement of these living memories that has one, by the statement's number.

        It is the one search compares: of the text under its title. A text of several passages has their mean. A
        memory whose body is not a single statement has one more, of the whole of it.
        """

    def tokens(self) -> list[Token]:
        """The access tokens, by name."""

    def grant_of(self, token_hash: bytes) -> Grant | None:
        """What the token with this hash allows, or None."""


class Writer(Reader, Protocol):
    """One transaction. Leaving the `with` block commits durably; an exception leaves nothing behind.

    Every change is written to the journal in the same transaction, under the operation and actor the
    transaction was opened with. What is read through a Writer includes its own changes.
    """

    def __enter__(self) -> Self:
        """Take the write lock, waiting for other processes; Busy if that takes too long."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Commit, or roll back if an exception passes."""

    def journal_as(self, *, operation: str, actor: str, at: Moment) -> None:
        """Write what follows into the journal as a transaction of its own, for changes that come from elsewhere.

        It is still committed, or rolled back, together with what came before.
        """

    def add(self, draft: Draft, *, uid: str) -> Memory:
        """A new living memory. What is hidden gives up its title for it; Conflict if the title is taken otherwise."""

    def named(self, namespace: str, title: str) -> int:
        """The number of what goes by this name: a living memory, else a name that links can point to.

        A memory that comes to live under such a name takes over its links. What is hidden counts for neither.
        """

    def change(self, memory: Memory, **fields: Any) -> Memory:
        """*memory* with these fields changed; `texts` replaces the body. Conflict if a title is taken, as in `add`.

        Leaving or entering the living state moves the memory out of or into every index.
        """

    def alike(self, body: str, wanted: Filter, *, limit: int) -> list[int]:
        """Up to *limit* memories that may say nearly what *body* says. Most that do are found, and some that do not."""

    def unused_title(self, namespace: str, title: str) -> str:
        """*title* if it is free in the namespace, else with a number in brackets, the next while there is no gap."""

    def session(self, namespace: str, name: str, started_at: Moment | None = None) -> int:
        """The number of the session of this name, started now if there is none."""

    def unused_session_name(self, namespace: str, name: str) -> str:
        """*name* if no session of the namespace has it, else with the next number in brackets."""

    def add_session(self, namespace: str, *, id: int | None = None, **fields: Any) -> Session:
        """A new session, started now and called after its number unless *fields* say otherwise.

        Conflict if the number or the name that they say is taken.
        """

    def change_session(self, session: Session, **fields: Any) -> Session:
        """*session* with these fields changed."""

    def add_workspace(self, name: str) -> Workspace:
        """A new workspace without stores. Workspaces are not part of the journal."""

    def add_member(self, workspace_id: int, path: str, role: Role, label: str) -> Member:
        """A store put into a workspace."""

    def touch(self, memory_ids: Sequence[int], now: Moment) -> dict[int, int]:
        """Count one use of each, as often as it is named; how many each has had by now. Not part of the journal."""

    def note_together(self, memory_ids: Sequence[int], now: Moment) -> None:
        """Count once more, for every pair of these, that they were answered together. Not part of the journal.

        Those that have been purged are passed over.
        """

    def set_use(self, memory_id: int, access_count: int, accessed_at: Moment | None, days_used: int) -> None:
        """Say how often a memory was used, for one that comes from elsewhere."""

    def set_together(self, one_id: int, other_id: int, count: int, last: Moment) -> None:
        """Say how often two memories were answered together, for those that come from elsewhere."""

    def tombstone(self, subject: Subject, number: int) -> None:
        """Write into the journal that something with this number was here and is gone."""

    def purge(self, memory_ids: Sequence[int]) -> int:
        """Delete these memories for good, and their text from the journal; a tombstone stays."""

    def add_edge(
        self,
        source_id: int,
        target_id: int,
        type: str,
        *,
        weight: float = ...,
        reason: str | None = None,
        valid_from: Moment | None = None,
        valid_to: Moment | None = None,
        created_at: Moment | None = None,
        state: State = ...,
        quality: float | None = None,
        id: int | None = None,
        **ratings: Any,
    ) -> Edge:
        """A new living link; both ends must exist. *ratings* (rating, rating_count, updated_at) come from elsewhere.

        So does its number where *id* is given; Conflict if that is taken.
        """

    def change_edge(self, edge: Edge, **fields: Any) -> Edge:
        """*edge* with these fields changed."""

    def take_in(self, memory: Memory, *, is_checked: bool = False) -> Memory:
        """A memory from elsewhere, with its uid, times, state and counters.

        Its number too, if that is free and lies no more than a million beyond all others. One that cannot be taken in
        leaves nothing behind. If it *is_checked*, each field of its type and uid and title free, that costs less.
        """

    def set_standard(self, namespace: str, memory_id: int | None, parent: str | None) -> None:
        """Say which memory is the standard of a namespace and which one is its parent. Not part of the journal."""

    def set_setting(self, name: str, value: str) -> None:
        """Keep a short text for ourselves. It is not part of the journal."""

    def add_token(self, token: Token, token_hash: bytes) -> None:
        """Keep a token. Tokens are not part of the journal."""

    def drop_token(self, name: str) -> bool:
        """Delete the token called *name*; False if there is none."""

    def put_passages(self, model: str, dimension: int, passages: Sequence[Passage]) -> int:
        """Keep vectors for the statements they belong to; how many statements have theirs now.

        Statements that have gone meanwhile are passed over, and those that have vectors by this model keep them.
        Vectors are not part of the journal.
        """


class Store(Protocol):
    """A database. Safe to use from several threads; several processes may have the same one open."""

    @property
    def location(self) -> str:
        """Where it lives, as a person would name it."""

    def read(self) -> Reader:
        """A view of the newest committed state."""

    def snapshot(self) -> AbstractContextManager[Reader]:
        """A Reader whose every answer comes from the same moment, for as long as the block lasts."""

    def write(
        self, *, operation: str, actor: str, at: Moment, durable: bool = True, waits: bool = True
    ) -> Writer:
        """A transaction, to be used in a `with` block.

        Without *durable* a power cut may take it back whole, as if it had not happened. Without *waits* it is Busy at
        once while anybody else is writing.
        """

    def sequence(self) -> int:
        """The number of the newest change."""

    def sequence_at(self, moment: Moment) -> int:
        """The number of the newest change made at or before *moment*; 0 before the first."""

    def at(self, sequence: int) -> Store:
        """The store as it stood after change *sequence*: readable like any other, never writable."""

    def elsewhere(self, path: Path) -> Asked:
        """The database in another file, to be read and never changed: nothing in it, and nothing left beside it.

        StoreUnusable if there is none, or it is damaged, not ours or of another format than this program's.
        """

    def in_memory(self) -> Scratch:
        """An empty store of its own that lives in memory until nobody holds it."""

    def use_models(self, *names: str) -> None:
        """Compare vectors of these models only, each with its own; statements that have none become pending."""

    def backup(self, target: Path, progress: Progress | None = None) -> None:
        """A complete copy in *target*, taken while others read and write."""

    def probe(self) -> None:
        """Read the newest memory and find it by its words, which takes no time; StoreUnusable if that fails."""

    def check(self) -> list[str]:
        """What is wrong with the file and between its tables and indexes; empty if nothing is."""

    def close(self) -> None:
        """Let go of everything. Safe to call twice."""


class Asked(Protocol):
    """A database of someone else's that can be asked. Safe to use from several threads."""

    def asked(self, question: Callable[[Reader], T]) -> T:
        """What *question* makes of the newest committed state, all of it from the same moment.

        It may be asked twice, if someone writes meanwhile.
        """


class Scratch(Store, Asked, Protocol):
    """A store in memory. There is no looking back in it, and no backup of it."""


class Progress(Protocol):
    """Told how far a long piece of work has come."""

    def __call__(self, done: int, total: int) -> None:
        """*done* of *total* units are finished."""
