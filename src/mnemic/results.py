"""What the Python API returns: memories, hits, links, changes and sessions, with datetimes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cache
from html import escape
from typing import Any, TypeVar, overload

from mnemic.core.explanation import Explanation as CoreExplanation
from mnemic.core.recall import Recollection as CoreRecollection
from mnemic.core.sessions import Ended as CoreEnded
from mnemic.core.sessions import Resumed as CoreResumed
from mnemic.core.sessions import Started as CoreStarted
from mnemic.core.trust import verify as verification
from mnemic.core.trust.ratings import Rated as CoreRated
from mnemic.model import change, filter, graph, memory, session
from mnemic.model.change import Subject
from mnemic.model.enums import State, Tier
from mnemic.model.time import Moment
from mnemic.model.time_phrases import datetime_of

T = TypeVar("T")


def _taken(cls: Callable[..., T], source: object, /, **given: object) -> T:
    """A *cls* with the values *given*, and for its other fields those of the same names in *source*."""
    known = ((name, form) for name, form in _forms(cls) if name not in given)
    return cls(**given, **{name: _formed(getattr(source, name), form) for name, form in known})


@cache
def _forms(cls: type) -> tuple[tuple[str, Callable[[Any], object] | None], ...]:
    """The fields of a class with what makes their values of those of the core; None leaves them as they are."""
    forms: Mapping[str, Callable[[Any], object]] = {
        "datetime": datetime_of,
        "Memory": Memory.of,
        "Session": Session.of,
        "tuple[Memory, ...]": memories_of,
        "tuple[Link, ...]": lambda links: tuple(map(Link.of, links)),
    }
    return tuple((one.name, forms.get(str(one.type).removesuffix(" | None"))) for one in fields(cls))


def _formed(value: object, form: Callable[[Any], object] | None) -> object:
    return value if value is None or form is None else form(value)


def _when(moment: Moment | None) -> datetime | None:
    return None if moment is None else datetime_of(moment)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One thing worth knowing. Times are aware datetimes in UTC."""

    id: int
    uid: str
    namespace: str
    name: str | None
    """What somebody chose to call it; unique among the living of its namespace."""
    title: str
    """What is shown for it: the name, or the first sentence of the text."""
    text: str
    kind: str
    tags: tuple[str, ...]
    summary: str | None
    tier: Tier
    priority: int
    confidence: float
    quality: float | None
    source: str | None
    session: int | None
    metadata: Mapping[str, object]
    created_at: datetime
    updated_at: datetime
    occurred_at: datetime
    """When it happened, if known; else when it was stored."""
    accessed_at: datetime | None
    access_count: int
    expires_at: datetime | None
    state: State
    state_reason: str | None

    @classmethod
    def of(cls, held: memory.Memory) -> Memory:
        """The memory as the API returns it."""
        return _taken(cls, held, text=held.content, session=held.session_id)

    def _repr_html_(self) -> str:
        return _table([self._row()])

    def _row(self, relevance: float | None = None) -> list[str]:
        shown = "" if relevance is None else f"{relevance:.2f}"
        about = " · ".join((self.namespace, *self.tags))
        return [str(self.id), shown, self.text, about, f"{self.created_at:%Y-%m-%d}"]


def memories_of(held: Sequence[memory.Memory]) -> tuple[Memory, ...]:
    """Memories as the API returns them."""
    return tuple(map(Memory.of, held))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory that answers a question."""

    memory: Memory
    relevance: float | None
    """How likely it bears on the question, 0 to 1."""
    score: float
    before: tuple[Memory, ...] = ()
    after: tuple[Memory, ...] = ()
    """The turns around it in its session, if they were asked for with `around`."""
    terms: Mapping[str, float] = field(default_factory=dict)
    signals: Mapping[str, float] = field(default_factory=dict)
    """With `explain`: what the score and the relevance are made of."""

    @classmethod
    def of(cls, hit: filter.Hit, *, explain: bool) -> Hit:
        """The hit as the API returns it."""
        return cls(
            memory=Memory.of(hit.memory),
            relevance=hit.relevance,
            score=hit.score,
            before=memories_of(hit.before),
            after=memories_of(hit.after),
            terms=dict(hit.terms) if explain else {},
            signals=dict(hit.signals) if explain else {},
        )

    @property
    def id(self) -> int:
        """The id of the memory."""
        return self.memory.id

    @property
    def text(self) -> str:
        """The text of the memory."""
        return self.memory.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a memory is a hit of a question or not."""

    memory: Memory
    is_hit: bool
    reason: str
    place: int | None
    """Its place in the ranking, from 1, before anything is left out."""
    relevance: float | None
    needed: float | None
    """The relevance a hit of this question needs."""
    terms: Mapping[str, float]
    signals: Mapping[str, float]
    """What its score and its relevance are made of."""

    @classmethod
    def of(cls, found: CoreExplanation) -> Explanation:
        """The explanation as the API returns it."""
        return _taken(cls, found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection(Sequence[Hit]):
    """The hits of a recall, best first. Empty, and so false, if nothing relevant is known."""

    hits: tuple[Hit, ...]
    mode: str
    """`hybrid` by words and meaning, `keyword` by words alone."""
    pending: int = 0
    """How many statements had no vector yet and were searched by words only."""
    left_out: int = 0
    """How many relevant memories did not fit into the budget."""

    @classmethod
    def of(cls, found: CoreRecollection, *, explain: bool) -> Recollection:
        """The answer as the API returns it."""
        hits = tuple(Hit.of(hit, explain=explain) for hit in found.hits)
        return cls(hits=hits, mode=found.mode, pending=found.pending, left_out=found.left_out)

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    def __str__(self) -> str:
        if not self.hits:
            return "Nothing relevant is known."
        return "\n".join(f"{_share(hit)} {hit.id} {hit.text}" for hit in self.hits)

    def _repr_html_(self) -> str:
        if not self.hits:
            return "<em>Nothing relevant is known.</em>"
        return _table([hit.memory._row(hit.relevance) for hit in self.hits])


def _share(hit: Hit) -> str:
    return f"{hit.score if hit.relevance is None else hit.relevance:.2f}"


def _table(rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{name}</th>" for name in ("id", "relevance", "memory", "where", "stored"))
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A typed, directed, weighted link between two memories."""

    id: int
    source: int
    target: int
    type: str
    weight: float
    reason: str | None
    quality: float | None
    created_at: datetime
    ended_at: datetime | None

    @classmethod
    def of(cls, edge: graph.Edge) -> Link:
        """The link as the API returns it."""
        return _taken(cls, edge, source=edge.source_id, target=edge.target_id, ended_at=_when(edge.valid_to))


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """The memories reached from a start, each with its distance, and the links walked."""

    memories: tuple[tuple[Memory, int], ...]
    links: tuple[Link, ...]

    @classmethod
    def of(cls, found: graph.Neighbourhood) -> Neighbourhood:
        """The neighbourhood as the API returns it."""
        reached = tuple((Memory.of(held), distance) for held, distance in found.memories)
        return cls(memories=reached, links=tuple(map(Link.of, found.edges)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change in the journal, with the fields that differ before and after it."""

    number: int
    at: datetime
    actor: str
    operation: str
    subject: Subject
    id: int
    """The id of the memory, link or session that was changed."""
    before: Mapping[str, object] | None
    after: Mapping[str, object] | None

    @classmethod
    def of(cls, change: change.Change) -> Change:
        """The change as the API returns it."""
        return _taken(cls, change, number=change.sequence, id=change.subject_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A memory that bears on a claim, and how much of the claim it backs."""

    memory: Memory
    support: float
    is_outdated: bool
    contradicts: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether memory backs a claim or contradicts it, why, and on what that rests, the decisive memory first."""

    status: str
    """verified, contradicted, partial or ungrounded"""
    confidence: float
    because: str | None
    evidence: tuple[Evidence, ...]
    missing: tuple[str, ...]
    """Words of the claim that nothing backs."""

    @classmethod
    def of(cls, verdict: verification.Verdict) -> Verdict:
        """The verdict as the API returns it."""
        evidence = tuple(_taken(Evidence, one) for one in verdict.evidence)
        return _taken(cls, verdict, evidence=evidence, missing=tuple(verdict.missing))


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A stretch of work that memories belong to."""

    id: int
    namespace: str
    name: str
    topic: str | None
    summary: str | None
    started_at: datetime
    ended_at: datetime | None

    @classmethod
    def of(cls, held: session.Session) -> Session:
        """The session as the API returns it."""
        return _taken(cls, held)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedSession:
    """A session that has begun, the one before it, and the last episode."""

    session: Session
    previous: Session | None
    last_episode: Memory | None

    @classmethod
    def of(cls, started: CoreStarted) -> StartedSession:
        """The answer as the API returns it."""
        return _taken(cls, started)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedSession:
    """A session that has ended, and its episode if one was written."""

    session: Session
    episode: Memory | None

    @classmethod
    def of(cls, ended: CoreEnded) -> EndedSession:
        """The answer as the API returns it."""
        return _taken(cls, ended)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumedSession:
    """What there is to go on with: the last episode, and recent decisions, facts, inferences and the rest."""

    current: int | None
    previous: Session | None
    last_episode: Memory | None
    decisions: tuple[Memory, ...]
    facts: tuple[Memory, ...]
    inferences: tuple[Memory, ...]
    other: tuple[Memory, ...]

    @classmethod
    def of(cls, resumed: CoreResumed) -> ResumedSession:
        """The answer as the API returns it."""
        return _taken(cls, resumed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """The memories and links that were rated, and those memories that were deleted for it."""

    memories: tuple[Memory, ...]
    links: tuple[Link, ...]
    forgotten: tuple[Memory, ...]

    @classmethod
    def of(cls, rated: CoreRated) -> Rated:
        """The answer as the API returns it."""
        return _taken(cls, rated)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A note that was not stored, and the known memory it repeats."""

    index: int
    reason: str
    known: Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of several notes."""

    stored: tuple[Memory, ...]
    refused: tuple[Refusal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportConflict:
    """A field that was changed both here and in the file: both versions, and the one that was kept."""

    title: str
    field: str
    here: object
    there: object
    kept: object


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """How many memories were imported, how many were known already, what could not be taken, and the conflicts."""

    imported: int
    skipped: int
    errors: tuple[str, ...]
    conflicts: tuple[ImportConflict, ...] = ()
