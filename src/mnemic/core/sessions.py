"""Sessions: stretches of work that memories belong to, begun, ended with an episode, and taken up again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TypeVar

from mnemic.core.context import Context
from mnemic.core.expiry import change_after_expiry
from mnemic.core.memories import SUPERSEDES, faithful, known
from mnemic.core.states import retire
from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.model.annotations import EPISODE as EPISODE_MARK
from mnemic.model.annotations import TURN as TURN_MARK
from mnemic.model.enums import State
from mnemic.model.filter import EdgeFilter, Filter, Order, SessionFilter
from mnemic.model.graph import Direction, EdgeDraft
from mnemic.model.memory import Draft, Memory, body_of
from mnemic.model.session import Session, SessionDraft, SessionPatch
from mnemic.model.time import DAY, Moment
from mnemic.storage.base import Reader, Writer
from mnemic.storage.queries import count, passing, session_numbered

T = TypeVar("T")

EPISODE, EPISODE_OF = EPISODE_MARK
TURN, TURN_OF = TURN_MARK
"""Where the metadata of an episode and of a turn say that they are one; an entity of the same kind has no such key."""
PART_OF, NEXT = "part_of", "temporal_next"
TURN_CONFIDENCE = 0.72
BEGUN_BY = "begun_by"
"""Where the metadata of a session say whose it is (`Context.owner`), so that its owner finds it in another process."""
ENTERED = "sessions"
"""The key of the lock on the table of entered sessions."""
MOST_ENTERED = 10_000
"""Sessions remembered as entered. One that is dropped is found by its owner in the store."""
LEFT_OPEN = DAY
"""How long after its start a session that was not ended is still the caller's own."""
TOOK_PART = frozenset({State.LIVING, State.SUPERSEDED})
"""A memory that was corrected within a session is part of what happened in it."""
MOST_MEMBERS = 1_000_000
LOOKED_AT = 20
"""Latest sessions that are looked at for it."""
LOOKED_BACK = 1_000
"""The same for the one before it."""
LAST_CHOSEN = 2**32 - 1 - 1_000_000
"""The largest number that a caller may choose: sessions are counted on from there, and numbers have 32 bits."""
DECISION, FACT, INFERENCE = "decision", "fact", "inference"
TAKEN_UP = (("facts", FACT, 0.8), ("decisions", DECISION, 0.7), ("inferences", INFERENCE, 0.6))
"""What is taken up, if it is at least so sure; where there is room for one or two, what comes first here."""
OTHERS = ("skill", "correction")
"""The kinds that are taken up beside decisions, facts and conclusions."""


@dataclass(frozen=True, slots=True)
class Started:
    """A session that has begun, the one before it, the last episode, and how many sessions the caller looks at."""

    session: Session
    previous: Session | None
    last_episode: Memory | None
    total: int


@dataclass(frozen=True, slots=True)
class Ended:
    """A session that has ended, and its episode if one was written."""

    session: Session
    episode: Memory | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """What there is to go on with: the last episode, and what was lately decided, learnt and concluded."""

    current: int | None
    previous: Session | None
    last_episode: Memory | None
    decisions: tuple[Memory, ...] = ()
    facts: tuple[Memory, ...] = ()
    inferences: tuple[Memory, ...] = ()
    other: tuple[Memory, ...] = ()

    @property
    def total(self) -> int:
        """How many memories that are, the episode not counted."""
        return sum(map(len, (self.decisions, self.facts, self.inferences, self.other)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened in a session: what kind of thing, what it says, and what it is linked to."""

    text: str
    kind: str
    confidence: float = 1.0
    links: tuple[tuple[int, str, float], ...] = ()
    """Target, type and weight."""
    tags: tuple[str, ...] = ()
    source: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)


def start(
    ctx: Context,
    number: int | None = None,
    *,
    topic: str | None = None,
    metadata: Mapping[str, object] | None = None,
) -> Started:
    """Begin a session, or take up the one with this *number*; what follows from this owner belongs to it.

    *metadata* is merged into its own. Invalid for a new number that leaves none to count on from.
    """
    home, facts = ctx.home(), {**faithful(metadata or {}), BEGUN_BY: ctx.owner}
    with _entering(ctx):

        def work(tx: Writer) -> Session:
            session = session_numbered(tx, number) if number is not None else None
            if session is not None:
                session = tx.update_session(
                    session, SessionPatch(ended_at=None, metadata={**session.metadata, **facts})
                )
            elif number is not None and number > LAST_CHOSEN:
                raise Invalid(
                    f"session_id: a new session may have a number up to {LAST_CHOSEN}", "session_id"
                )
            else:
                session = tx.insert_session(SessionDraft(home, id=number, topic=topic, metadata=facts))
            return session

        session = ctx.change("start_session", work, namespaces=(home,))
        _be_in(ctx, session.id)
    reader = ctx.read()
    return Started(
        session,
        _before(reader, ctx),
        last_episode(ctx),
        count(reader, SessionFilter(namespaces=ctx.scope())),
    )


def _key(ctx: Context) -> tuple[str, str]:
    return ctx.owner, ctx.home()


def _entering(ctx: Context) -> AbstractContextManager[object]:
    """Keep other threads from entering or leaving the session of this owner."""
    return ctx.entering.of(_key(ctx))


def _be_in(ctx: Context, number: int) -> None:
    """Note that the owner is in this session."""
    with ctx.entering.of(ENTERED):
        ctx.sessions.pop(_key(ctx), None)
        ctx.sessions[_key(ctx)] = number
        if len(ctx.sessions) > MOST_ENTERED:
            del ctx.sessions[next(iter(ctx.sessions))]


def current(ctx: Context) -> int | None:
    """The session the owner is in, or None; it is in none that another ended or whose start was undone."""
    session = _entered(ctx.read(), ctx)
    return session.id if session else None


def _entered(reader: Reader, ctx: Context) -> Session | None:
    number = ctx.sessions.get(_key(ctx))
    session = session_numbered(reader, number) if number is not None else None
    return session if session is not None and session.ended_at is None else None


def enter(ctx: Context, number: int | None = None) -> Session | None:
    """Be in the session with this number, which must be open, or in the one that the owner has open, if any.

    That is the one it is in or, from another process, the last that it began or took up, has not ended and is a day
    old at most. NotFound or Conflict for a number that does not do.
    """
    reader = ctx.read()
    session = _unfinished(reader, ctx) if number is None else _meant(reader, ctx, number)
    if session is None:
        return None
    if session.ended_at is not None:
        raise _has_ended(session.id)
    _be_in(ctx, session.id)
    return session


def _has_ended(number: int) -> Conflict:
    return Conflict(f"Session {number} has ended; resume it first")


def _unfinished(reader: Reader, ctx: Context) -> Session | None:
    own = _own(reader, ctx)
    return own if own is not None and own.ended_at is None else None


def end_open(ctx: Context, number: int | None = None, summary: str | None = None) -> Ended:
    """End the session that `enter` finds, and write its outcome as an episode. NotFound if none is open."""
    session = enter(ctx, number)
    if session is None:
        raise NotFound("No session is open; start one")
    return end(ctx, session.id, summary=summary)


def take_up(ctx: Context, number: int) -> Session:
    """Be in the session with this number again, whether it has ended or not. NotFound if there is none."""
    _meant(ctx.read(), ctx, number)
    return start(ctx, number).session


def change_within(
    ctx: Context, operation: str, work: Callable[[Writer, int], T], number: int | None = None
) -> T:
    """Run *work* in one transaction with the session of this *number*; NotFound if there is none, Conflict if it ended.

    Without a number, the session this caller is in; one begins with the transaction if it is in none.
    """

    def within(tx: Writer) -> tuple[T, int]:
        session = _entered(tx, ctx) if number is None else _meant(tx, ctx, number)
        if session is None:
            session = tx.insert_session(SessionDraft(ctx.home(), metadata={BEGUN_BY: ctx.owner}))
        elif session.ended_at is not None:
            raise _has_ended(session.id)
        return work(tx, session.id), session.id

    with _entering(ctx):
        # Entered after the commit: a transaction that is rolled back leaves the number to somebody else.
        done, entered = change_after_expiry(ctx, operation, within, namespaces=(ctx.home(),))
        _be_in(ctx, entered)
    return done


def end(
    ctx: Context, number: int | None = None, *, summary: str | None = None, episode: bool = True
) -> Ended:
    """End a session, this caller's own unless another is named, and write its outcome as an episode.

    Everything the session holds becomes part of the episode, corrected memories too. A session that has ended before
    keeps its episode, which takes in what has come since, unless there is something else to say of it. NotFound if
    there is no session.
    """
    with _entering(ctx):
        ended = change_after_expiry(
            ctx,
            "end_session",
            lambda tx: _ended(tx, ctx, _meant(tx, ctx, number), summary, episode),
            namespaces=(ctx.home(),),
        )
        if ctx.sessions.get(_key(ctx)) == ended.session.id:
            ctx.sessions.pop(_key(ctx), None)
    ctx.wake()
    return ended


def _ended(tx: Writer, ctx: Context, session: Session, summary: str | None, episode: bool) -> Ended:
    text = summary or session.summary or f"Session {session.id} completed"
    known = _episode_of(tx, session, text) if episode and text == session.summary else None
    is_told = text == session.summary and (known is not None or not episode)
    if is_told and session.ended_at is not None:
        return Ended(session, known)
    wanted = Filter(session_ids=(session.id,), states=TOOK_PART)
    members = tx.select(wanted, limit=MOST_MEMBERS, order=Order.NEWEST)
    written = known or (_episode(tx, ctx, session, text) if episode else None)
    if written is not None:
        _join(tx, written, members)
    return Ended(tx.update_session(session, SessionPatch(ended_at=ctx.now(), summary=text)), written)


def _meant(reader: Reader, ctx: Context, number: int | None) -> Session:
    session = _own(reader, ctx) if number is None else session_numbered(reader, number)
    if session is None:
        raise NotFound(f"No session {number}" if number is not None else "No session has been started")
    return session


def _own(reader: Reader, ctx: Context) -> Session | None:
    """The session the owner is in; else the latest of the last day that it, in any process, left open or ended."""
    if session := _entered(reader, ctx):
        return session
    since = ctx.now() - LEFT_OPEN
    latest = reader.sessions(SessionFilter(namespaces=(ctx.home(),)), limit=LOOKED_AT, newest_first=True)
    own = [
        one
        for one in latest
        if one.metadata.get(BEGUN_BY) == ctx.owner and (one.ended_at or one.started_at) > since
    ]
    # One that ended without a summary was undone.
    last = own[0] if own and own[0].summary else None
    return next((one for one in own if one.ended_at is None), last)


def _episode_of(reader: Reader, session: Session, summary: str) -> Memory | None:
    """The last episode that was written of a session, if it still says this."""
    wanted = Filter(session_ids=(session.id,), kinds=(EPISODE,))
    found = reader.get(reader.select(wanted, limit=LOOKED_AT, order=Order.NEWEST))
    last = next((one for one in found if one.metadata.get(EPISODE_OF) == session.id), None)
    return last if last is not None and last.content == summary else None


def _episode(tx: Writer, ctx: Context, session: Session, summary: str) -> Memory:
    draft = Draft(
        namespace=session.namespace,
        texts=(summary,),
        kind=EPISODE,
        metadata={EPISODE_OF: session.id},
        session_id=session.id,
    )
    return tx.insert(draft, uid=ctx.new_uid())


def _join(tx: Writer, episode: Memory, members: Sequence[int]) -> None:
    """Make those of *members* part of *episode* that are not yet."""
    parts = {
        edge.source_id
        for edge in tx.edges(EdgeFilter(at=(episode.id,), direction=Direction.IN, types=(PART_OF,)))
    }
    for number in reversed(members):
        if number != episode.id and number not in parts:
            tx.insert_edge(EdgeDraft(number, episode.id, PART_OF))


def last_episode(ctx: Context) -> Memory | None:
    """The last episode that was written where this caller looks, or None."""
    reader = ctx.read()
    wanted = Filter(namespaces=ctx.scope(), kinds=(EPISODE,), alive_at=ctx.now())
    found = reader.get(reader.select(wanted, limit=1, order=Order.NEWEST))
    return found[0] if found else None


def resume(ctx: Context, limit: int = 15, others: tuple[str, ...] | None = OTHERS) -> Resumed:
    """What to go on with: a third each of the latest decisions, facts and conclusions, the rest for *others*.

    With None for these, memories of any other kind are taken up, turns and episodes left out.
    """
    reader = ctx.read()
    share = max(1, limit // 3)
    parts: dict[str, tuple[Memory, ...]] = {}
    left = limit
    for part, kind, least in TAKEN_UP:
        parts[part] = _latest(reader, ctx, (kind,), min(share, left), least)
        left -= len(parts[part])
    return Resumed(
        current=current(ctx),
        previous=_before(reader, ctx),
        last_episode=last_episode(ctx),
        other=_latest(reader, ctx, others, left, None),
        **parts,
    )


def _before(reader: Reader, ctx: Context) -> Session | None:
    """The last session that began before the one this caller is in; the last of all if it is in none."""
    latest = reader.sessions(SessionFilter(namespaces=ctx.scope()), limit=LOOKED_BACK, newest_first=True)
    number = current(ctx)
    own = next((one for one in latest if one.id == number), None)
    earlier = [one for one in latest if own is None or _begun(one) < _begun(own)]
    return max(earlier, key=_begun, default=None)


def _begun(session: Session) -> tuple[Moment, int]:
    return session.started_at, session.id


def _latest(
    reader: Reader, ctx: Context, kinds: tuple[str, ...] | None, limit: int, least: float | None
) -> tuple[Memory, ...]:
    wanted = Filter(
        namespaces=ctx.scope(),
        kinds=kinds,
        not_kinds=(DECISION, FACT, INFERENCE, EPISODE, TURN) if kinds is None else None,
        min_confidence=least,
        alive_at=ctx.now(),
    )
    return tuple(reader.get(reader.select(wanted, limit=max(0, limit), order=Order.NEWEST)))


def log_turn(
    ctx: Context, user: str | None, agent: str | None, topic: str | None = None, number: int | None = None
) -> Memory:
    """Keep a turn of the conversation as a memory in a session, as `record` does, behind what came before."""
    return record(ctx, [turn_event(user, agent, topic)], number)[0]


def turn_event(user: str | None, agent: str | None, topic: str | None = None) -> Event:
    """A turn of a conversation as something that happened in a session."""
    turn = {"topic": topic, "user_message": user, "agent_response": agent}
    return Event(
        text=_turn_text(turn),
        kind=TURN,
        confidence=TURN_CONFIDENCE,
        tags=(topic,) if topic else (),
        metadata={TURN_OF: {name: value for name, value in turn.items() if value}},
    )


def _turn_text(turn: Mapping[str, object]) -> str:
    parts = (("User", turn.get("user_message")), ("Agent", turn.get("agent_response")))
    return "\n".join(f"{who}: {text}" for who, text in parts if text)


def turn_of(memory: Memory) -> Mapping[str, object] | None:
    """Who said what in a turn, and on which topic; None for a memory that is none or was rewritten since."""
    turn = memory.metadata.get(TURN_OF) if memory.kind == TURN else None
    return turn if isinstance(turn, dict) and _turn_text(turn) == memory.content else None


def log(
    ctx: Context, user: str | None, agent: str | None, *, number: int | None = None, topic: str | None = None
) -> tuple[Session, Memory]:
    """Keep a turn in the session that `enter` finds, and begin one if there is none: the session and the turn.

    Invalid if nothing was said.
    """
    if not user and not agent:
        raise Invalid("user: there is nothing to log; give user or agent", "user")
    with _entering(ctx):
        session = enter(ctx, number) or start(ctx).session
        return session, log_turn(ctx, user, agent, topic, session.id)


def record(ctx: Context, events: Sequence[Event], number: int | None = None) -> list[Memory]:
    """Keep *events* in the session with this *number*, else this caller's, in one transaction.

    Each is linked behind the one before it. Equal texts make two memories. An event may supersede a memory. NotFound if
    a link leads nowhere; then nothing is stored.
    """

    def work(tx: Writer, session: int) -> list[Memory]:
        return [add_event(tx, ctx, session, event) for event in events]

    kept = change_within(ctx, "record", work, number)
    ctx.wake()
    return kept


def add_event(tx: Writer, ctx: Context, session: int, event: Event) -> Memory:
    """*event* as a memory of *session*, linked behind what came before and to what it names."""
    before = next(iter(tx.select(Filter(session_ids=(session,)), order=Order.LAST, limit=1)), None)
    draft = Draft(
        namespace=ctx.home(),
        texts=body_of(event.text),
        kind=event.kind,
        tags=event.tags,
        confidence=event.confidence,
        source=event.source,
        metadata=faithful(event.metadata),
        session_id=session,
    )
    memory = tx.insert(draft, uid=ctx.new_uid())
    if before is not None:
        tx.insert_edge(EdgeDraft(before, memory.id, NEXT))
    for target, type, weight in event.links:
        if target == memory.id or not passing(tx, [target], known(ctx)):
            raise NotFound(f"Edge references invalid node ID: {target}")
        tx.insert_edge(EdgeDraft(memory.id, target, type, weight=weight))
    superseded = dict.fromkeys(target for target, type, _ in event.links if type == SUPERSEDES)
    retire(tx, list(superseded), None, ctx.now())
    return memory
