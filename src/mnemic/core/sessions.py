"""Sessions: stretches of work that memories belong to, begun, ended with an episode, and taken up again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from mnemic.core.context import Context
from mnemic.core.leaving import retire
from mnemic.core.memories import SUPERSEDES, faithful, known, title_of
from mnemic.core.upkeep import write_after_expiry
from mnemic.errors import Conflict, Denied, Invalid, NotFound
from mnemic.model import hidden
from mnemic.model.graph import Direction
from mnemic.model.journal import Subject
from mnemic.model.memory import Draft, Memory
from mnemic.model.search import Filter, Order
from mnemic.model.session import Session
from mnemic.model.values import DAY, Moment, State
from mnemic.storage.base import Reader, Writer

EPISODE, EPISODE_OF = hidden.EPISODE
TURN, TURN_OF = hidden.TURN
"""Where the metadata of an episode and of a turn say that they are one; an entity of the same kind has no such key."""
PART_OF, NEXT = "part_of", "temporal_next"
TURN_CONFIDENCE = 0.72
BEGUN_BY = "begun_by"
"""Where the metadata of a session say who began it, so that the same caller finds it again in another process."""
LEFT_OPEN = DAY
"""So long after its start a session that nobody ended is still the caller's own."""
TOOK_PART = frozenset({State.LIVING, State.SUPERSEDED})
"""A memory that was corrected within a session is part of what happened in it."""
MOST_MEMBERS = 1_000_000
LOOKED_AT = 20
"""So many of the latest sessions are looked at for it."""
LOOKED_BACK = 1_000
"""So many for the one before it."""
BEGINNINGS = ("start_session", "record", "correct")
"""What the journal calls the writes that put a caller into a session; an import, or a name given to one, does not."""
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
    title: str | None = None
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
    """Begin a session, or take up the one with this *number*; what follows from this caller belongs to it.

    What *metadata* say is added to what is said of it. Invalid for a new number that leaves none to count on from.
    """
    home, told = ctx.home(), faithful(metadata or {})
    with ctx.entering:
        with ctx.write("start_session") as tx:
            session = tx.session_numbered(number) if number is not None else None
            if session is not None and not ctx.may_see(session.namespace):
                raise Denied(f"session_id: this token may not use session {number}.")
            if session is not None:
                session = tx.change_session(session, ended_at=None, metadata={**session.metadata, **told})
            elif number is not None and number > LAST_CHOSEN:
                raise Invalid(
                    f"session_id: a new session may have a number up to {LAST_CHOSEN}", "session_id"
                )
            else:
                session = tx.add_session(home, id=number, topic=topic, metadata=told)
        ctx.sessions[_key(ctx)] = session.id
    reader = ctx.store.read()
    return Started(session, _before(reader, ctx), last_episode(ctx), reader.session_count(ctx.scope()))


def _key(ctx: Context) -> tuple[str, str]:
    return ctx.actor, ctx.home()


def current(ctx: Context) -> int | None:
    """The session this caller is in, or None; it is in none that another ended or whose start was undone."""
    session = _entered(ctx.store.read(), ctx)
    return session.id if session else None


def _entered(reader: Reader, ctx: Context) -> Session | None:
    number = ctx.sessions.get(_key(ctx))
    session = reader.session_numbered(number) if number is not None else None
    return session if session is not None and session.ended_at is None else None


def begin(ctx: Context, topic: str | None = None) -> Started:
    """Start a session that `enter` finds again in another process of the same caller."""
    return start(ctx, topic=topic, metadata={BEGUN_BY: ctx.actor})


def enter(ctx: Context, number: int | None = None) -> Session | None:
    """Be in the session with this number, which must be open, or in the one that this caller has open, if any.

    That is the one the caller is in or, from another process, the last that it began, has not ended and is a day old
    at most. NotFound or Conflict for a number that does not do.
    """
    reader = ctx.store.read()
    session = _unfinished(reader, ctx) if number is None else _meant(reader, ctx, number)
    if session is None:
        return None
    if session.ended_at is not None:
        raise _has_ended(session.id)
    ctx.sessions[_key(ctx)] = session.id
    return session


def _has_ended(number: int) -> Conflict:
    return Conflict(f"Session {number} has ended; resume it first")


def _unfinished(reader: Reader, ctx: Context) -> Session | None:
    if session := _entered(reader, ctx):
        return session
    since = ctx.now() - LEFT_OPEN
    latest = reader.latest_sessions((ctx.home(),), limit=LOOKED_AT)
    own = (one for one in latest if one.metadata.get(BEGUN_BY) == ctx.actor and one.started_at > since)
    return next((one for one in own if one.ended_at is None), None)


def end_open(ctx: Context, number: int | None = None, summary: str | None = None) -> Ended:
    """End the session that `enter` finds, and write what came of it as an episode. NotFound if none is open."""
    session = enter(ctx, number)
    if session is None:
        raise NotFound("No session is open; start one")
    return end(ctx, session.id, summary=summary)


def take_up(ctx: Context, number: int) -> Session:
    """Be in the session with this number again, whether it has ended or not. NotFound if there is none."""
    _meant(ctx.store.read(), ctx, number)
    return start(ctx, number).session


@contextmanager
def writing_within(ctx: Context, operation: str, number: int | None = None) -> Iterator[tuple[Writer, int]]:
    """A transaction and the session with this *number*; NotFound if there is none, Conflict if it has ended.

    Without a number, the session this caller is in; one begins with the transaction if it is in none.
    """
    with ctx.entering:
        with write_after_expiry(ctx, operation) as tx:
            session = _entered(tx, ctx) if number is None else _meant(tx, ctx, number)
            if session is None:
                session = tx.add_session(ctx.home())
            elif session.ended_at is not None:
                raise _has_ended(session.id)
            yield tx, session.id
        # Not before: a transaction that is rolled back leaves the number to somebody else.
        ctx.sessions[_key(ctx)] = session.id


def end(
    ctx: Context, number: int | None = None, *, summary: str | None = None, episode: bool = True
) -> Ended:
    """End a session, this caller's own unless another is named, and write what came of it as an episode.

    Everything the session holds becomes part of the episode, corrected memories too. A session that has ended before
    keeps its episode, which takes in what has come since, unless there is something else to say of it. NotFound if
    there is no session.
    """
    with ctx.entering:
        with write_after_expiry(ctx, "end_session") as tx:
            ended = _ended(tx, ctx, _meant(tx, ctx, number), summary, episode)
        if ctx.sessions.get(_key(ctx)) == ended.session.id:
            del ctx.sessions[_key(ctx)]
    ctx.wake()
    return ended


def _ended(tx: Writer, ctx: Context, session: Session, summary: str | None, episode: bool) -> Ended:
    told = summary or session.summary or f"Session {session.id} completed"
    known = _episode_of(tx, session, told) if episode and told == session.summary else None
    is_told = told == session.summary and (known is not None or not episode)
    if is_told and session.ended_at is not None:
        return Ended(session, known)
    wanted = Filter(session_ids=(session.id,), states=TOOK_PART)
    members = tx.select(wanted, limit=MOST_MEMBERS, order=Order.NEWEST)
    written = known or (_episode(tx, ctx, session, told) if episode else None)
    if written is not None:
        _join(tx, written, members)
    return Ended(tx.change_session(session, ended_at=ctx.now(), summary=told), written)


def _meant(reader: Reader, ctx: Context, number: int | None) -> Session:
    session = _own(reader, ctx) if number is None else reader.session_numbered(number)
    if session is None or not ctx.may_see(session.namespace):
        raise NotFound(f"No session {number}" if number is not None else "No session has been started")
    return session


def _own(reader: Reader, ctx: Context) -> Session | None:
    """The session this caller is in; else the latest of the last day that it, in any process, left open or ended."""
    if session := _entered(reader, ctx):
        return session
    others = {number for key, number in ctx.sessions.items() if key != _key(ctx)}
    since = ctx.now() - LEFT_OPEN
    latest = {
        one.id: one
        for one in reader.latest_sessions((ctx.home(),), limit=LOOKED_AT)
        if one.id not in others and (one.ended_at or one.started_at) > since
    }
    changes = reader.journal(subject=Subject.SESSION, subject_ids=list(latest), actor=ctx.actor)
    begun = {change.subject_id for change in changes if change.operation in BEGINNINGS}
    own = [one for one in latest.values() if one.id in begun]
    # One that ended without a summary was undone.
    last = own[0] if own and own[0].summary else None
    return next((one for one in own if one.ended_at is None), last)


def _episode_of(reader: Reader, session: Session, summary: str) -> Memory | None:
    """The last episode that was written of a session, if it still says this."""
    wanted = Filter(session_ids=(session.id,), kinds=(EPISODE,))
    found = reader.memories(reader.select(wanted, limit=LOOKED_AT, order=Order.NEWEST))
    last = next((one for one in found if one.metadata.get(EPISODE_OF) == session.id), None)
    return last if last is not None and last.content == summary else None


def _episode(tx: Writer, ctx: Context, session: Session, summary: str) -> Memory:
    draft = Draft(
        namespace=session.namespace,
        title=tx.unused_title(session.namespace, title_of(summary)),
        texts=(summary,),
        kind=EPISODE,
        metadata={EPISODE_OF: session.id},
        session_id=session.id,
    )
    return tx.add(draft, uid=ctx.new_uid())


def _join(tx: Writer, episode: Memory, members: Sequence[int]) -> None:
    """Make those of *members* part of *episode* that are not yet."""
    parts = {edge.source_id for edge in tx.edges([episode.id], Direction.IN, [PART_OF])}
    for number in reversed(members):
        if number != episode.id and number not in parts:
            tx.add_edge(number, episode.id, PART_OF)


def last_episode(ctx: Context) -> Memory | None:
    """The last episode that was written where this caller looks, or None."""
    reader = ctx.store.read()
    wanted = Filter(namespaces=ctx.scope(), kinds=(EPISODE,), alive_at=ctx.now())
    found = reader.memories(reader.select(wanted, limit=1, order=Order.NEWEST))
    return found[0] if found else None


def resume(ctx: Context, limit: int = 15, others: tuple[str, ...] | None = OTHERS) -> Resumed:
    """What to go on with: a third each of the latest decisions, facts and conclusions, the rest for *others*.

    With None for these, memories of any other kind are taken up, turns and episodes left out.
    """
    reader = ctx.store.read()
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
    latest = reader.latest_sessions(ctx.scope(), limit=LOOKED_BACK)
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
    return tuple(reader.memories(reader.select(wanted, limit=max(0, limit), order=Order.NEWEST)))


def log_turn(
    ctx: Context, user: str | None, agent: str | None, topic: str | None = None, number: int | None = None
) -> Memory:
    """Keep a turn of the conversation as a memory in a session, as `record` does, behind what came before."""
    told = {"topic": topic, "user_message": user, "agent_response": agent}
    event = Event(
        text=_turn_text(told),
        kind=TURN,
        confidence=TURN_CONFIDENCE,
        tags=(topic,) if topic else (),
        metadata={TURN_OF: {name: value for name, value in told.items() if value}},
    )
    return record(ctx, [event], number)[0]


def _turn_text(told: Mapping[str, object]) -> str:
    said = (("User", told.get("user_message")), ("Agent", told.get("agent_response")))
    return "\n".join(f"{who}: {text}" for who, text in said if text)


def turn_of(memory: Memory) -> Mapping[str, object] | None:
    """Who said what in a turn, and on which topic; None for a memory that is none or was rewritten since."""
    told = memory.metadata.get(TURN_OF) if memory.kind == TURN else None
    return told if isinstance(told, dict) and _turn_text(told) == memory.content else None


def log(
    ctx: Context, user: str | None, agent: str | None, *, number: int | None = None, topic: str | None = None
) -> tuple[Session, Memory]:
    """Keep a turn in the session that `enter` finds, and begin one if there is none: the session and the turn.

    Invalid if nothing was said.
    """
    if not user and not agent:
        raise Invalid("user: there is nothing to log; give user or agent", "user")
    with ctx.entering:
        session = enter(ctx, number) or begin(ctx).session
        return session, log_turn(ctx, user, agent, topic, session.id)


def record(ctx: Context, events: Sequence[Event], number: int | None = None) -> list[Memory]:
    """Keep *events* in the session with this *number*, else this caller's, in one transaction.

    Each is linked behind the one before it. Equal texts make two memories. What an event supersedes is out of use from
    then on. NotFound if a link leads nowhere; then nothing is kept.
    """
    with writing_within(ctx, "record", number) as (tx, session):
        kept = [_record(tx, ctx, session, event) for event in events]
    ctx.wake()
    return kept


def _record(tx: Writer, ctx: Context, session: int, event: Event) -> Memory:
    before = tx.last_in_session(session)
    draft = Draft(
        namespace=ctx.home(),
        title=tx.unused_title(ctx.home(), event.title or title_of(event.text)),
        texts=(event.text,),
        kind=event.kind,
        tags=event.tags,
        confidence=event.confidence,
        source=event.source,
        metadata=faithful(event.metadata),
        session_id=session,
    )
    memory = tx.add(draft, uid=ctx.new_uid())
    if before is not None:
        tx.add_edge(before, memory.id, NEXT)
    for target, type, weight in event.links:
        if target == memory.id or not tx.passing([target], known(ctx)):
            raise NotFound(f"Edge references invalid node ID: {target}")
        tx.add_edge(memory.id, target, type, weight=weight)
    superseded = dict.fromkeys(target for target, type, _ in event.links if type == SUPERSEDES)
    retire(tx, list(superseded), None, ctx.now())
    return memory
