"""Two stores that come to hold the same: memories and links go one way, or both and of two versions the newer stays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

from mnemic.core.context import Context
from mnemic.core.memories import KNOWN
from mnemic.core.moving.arrivals import LABEL_LENGTH, Arrival, Imported, Intake, Tie
from mnemic.core.moving.documents import current_edges, rules_of
from mnemic.core.reflections import ENTITY, TARGET_TYPE, aimed, target_of
from mnemic.model.graph import Edge
from mnemic.model.memory import Memory
from mnemic.model.session import Session
from mnemic.model.values import State
from mnemic.storage.base import Progress, Reader


class Course(StrEnum):
    """Which way memories go."""

    PULL = "pull"
    PUSH = "push"
    MERGE = "merge"


@dataclass(frozen=True, slots=True)
class Carried:
    """How many memories were carried one way, and what became of them."""

    sent: int
    done: Imported


@dataclass(frozen=True, slots=True)
class Synced:
    """What came here and what went there; None where nothing was to."""

    pulled: Carried | None
    pushed: Carried | None


class Peer(Protocol):
    """Another store, wherever it is."""

    def pull(self, ctx: Context, *, merging: bool, progress: Progress | None = None) -> Carried:
        """Carry everything of the peer's into *ctx*."""

    def push(self, ctx: Context, *, merging: bool, progress: Progress | None = None) -> Carried:
        """Carry everything of *ctx* to the peer. A daemon merges in any case."""


def sync(ctx: Context, peer: Peer, course: Course, progress: Progress | None = None) -> Synced:
    """Carry what is living or was superseded one way or both.

    One way it is as if it were stored again there: it replaces what is known, in whatever version. When both are
    merged, of two versions the newer stays; what one of them has superseded since the other changed it is so in both.
    What one of them has forgotten since then stays forgotten there alone, and so does a link.
    """
    merging = course is Course.MERGE
    pulled = pushed = None
    if course is not Course.PUSH:
        pulled = peer.pull(ctx, merging=merging, progress=progress)
    if course is not Course.PULL:
        pushed = peer.push(ctx, merging=merging, progress=progress)
    return Synced(pulled, pushed)


@dataclass(frozen=True, slots=True)
class OtherStore:
    """The peer that is a store of ours in the same process."""

    ctx: Context

    def pull(self, ctx: Context, *, merging: bool, progress: Progress | None = None) -> Carried:
        """See Peer."""
        return _carry(self.ctx, ctx, merging, progress)

    def push(self, ctx: Context, *, merging: bool, progress: Progress | None = None) -> Carried:
        """See Peer."""
        return _carry(ctx, self.ctx, merging, progress)


def _carry(source: Context, target: Context, merging: bool, progress: Progress | None) -> Carried:
    with source.store.snapshot() as reader:
        intake = Intake(
            target,
            keeps_forgotten=merging,
            overwrites=not merging,
            tells_apart=lambda known, _: _goes_too(source, reader, known),
        )
        edges = list(current_edges(reader))
        gone = _Gone()
        intake.take(_departures(source, reader, edges, gone), reader.count(), progress)
        sent = intake.done.imported + intake.done.skipped + len(intake.done.errors)
        intake.tell_of(gone.sessions.values())
        intake.tie(_ties(edges, gone.uids))
        intake.aim()
        intake.set_standards(rules_of(source, reader))
    target.wake()
    return Carried(sent, intake.done)


def _goes_too(ctx: Context, reader: Reader, known: Memory) -> bool:
    """Whether the memory that is *known* there is sent as well."""
    return any(_is_sent(ctx, memory) for memory in reader.memories(reader.ids_with_uid(known.uid, 1)))


def _is_sent(ctx: Context, memory: Memory) -> bool:
    return memory.state in KNOWN and not memory.has_expired(ctx.now()) and ctx.may_see(memory.namespace)


@dataclass(slots=True)
class _Gone:
    """What was sent: the uids of memories by their numbers, and their sessions as they are told of there."""

    uids: dict[int, str] = field(default_factory=dict)
    sessions: dict[tuple[str, int], Session] = field(default_factory=dict)


def _departures(ctx: Context, reader: Reader, edges: Sequence[Edge], gone: _Gone) -> Iterator[Arrival]:
    """What is living or was superseded, and the mere names that links point to; each is noted in *gone*."""
    sessions = {session.id: session for session in reader.sessions()}
    ends = {number for edge in edges for number in (edge.source_id, edge.target_id)}
    for memory in reader.all_memories():
        is_name = memory.state is State.NAMED and memory.id in ends and ctx.may_see(memory.namespace)
        if is_name or _is_sent(ctx, memory):
            session = None if memory.session_id is None else sessions[memory.session_id]
            gone.uids[memory.id] = memory.uid
            if session:
                gone.sessions[memory.namespace, session.id] = replace(
                    session, namespace=memory.namespace, metadata={}
                )
            yield _aimed(reader, _departure(memory, session))


def _departure(memory: Memory, session: Session | None) -> Arrival:
    leaving = replace(memory, id=0, session_id=None)
    name, started_at = (session.name, session.started_at) if session else (None, None)
    return Arrival(memory.title[:LABEL_LENGTH], memory.uid, leaving, name, started_at)


def _aimed(reader: Reader, departure: Arrival) -> Arrival:
    """A thought without the number of what it is about, which the other store does not know it by."""
    memory = departure.memory
    number = target_of(memory)
    if number is None:
        return departure
    if memory.metadata[TARGET_TYPE] == ENTITY:
        about = reader.memory(number)
        target = about.uid if about else None
    else:
        target = _key(number)
    return replace(departure, memory=aimed(memory, None), target=target)


def _key(edge_id: int) -> str:
    return f"links.{edge_id}"


def _ties(edges: Sequence[Edge], uids: Mapping[int, str]) -> Iterator[Tie]:
    for edge in edges:
        if edge.source_id in uids and edge.target_id in uids:
            key = _key(edge.id)
            yield Tie(key, uids[edge.source_id], uids[edge.target_id], edge, key)
