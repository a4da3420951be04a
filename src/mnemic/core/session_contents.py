"""What sessions hold: how much was said, stored and recalled in each, and all of it for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mnemic.core.capture.conversation import SAID_IN
from mnemic.core.context import Context
from mnemic.core.sessions import EPISODE, TURN
from mnemic.errors import NotFound
from mnemic.model.annotations import REFLECTION
from mnemic.model.enums import State
from mnemic.model.filter import EdgeFilter, Filter, Order, RecallFilter, SessionFilter
from mnemic.model.memory import Memory
from mnemic.model.recall_entry import RecallEntry
from mnemic.model.session import Session
from mnemic.storage.base import Reader
from mnemic.storage.queries import count, session_numbered

KIND = REFLECTION[0]
MOST_READ = 1_000
"""Turns, memories and recalls of one session that are shown."""
MOST_LISTED = 10_000
"""Sessions that are looked through for a page, the newest ones."""


@dataclass(frozen=True, slots=True)
class SessionCounts:
    """A session, and how many turns and other memories it holds."""

    session: Session
    turns: int
    memories: int


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Some sessions, newest first, and how many there are."""

    sessions: tuple[SessionCounts, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionContents:
    """Everything that belongs to a session, oldest first."""

    session: Session
    turns: tuple[Memory, ...]
    episodes: tuple[Memory, ...]
    memories: tuple[Memory, ...]
    reflections: tuple[Memory, ...]
    recalls: tuple[RecallEntry, ...]
    recalled: tuple[Memory, ...]
    """The memories that its recalls answered with."""


def page(
    ctx: Context, namespace: str | None, *, text: str | None = None, limit: int, offset: int = 0
) -> SessionPage:
    """The sessions of a namespace, or of all that are looked into, whose topic or summary holds *text*."""
    reader, wanted = ctx.read(), SessionFilter(namespaces=ctx.scope(namespace))
    if text:
        found = [
            one for one in reader.sessions(wanted, limit=MOST_LISTED, newest_first=True) if _holds(one, text)
        ]
        total = len(found)
    else:
        found = reader.sessions(wanted, limit=offset + limit, newest_first=True)
        total = count(reader, wanted)
    return SessionPage(_counted(reader, found[offset : offset + limit]), total)


def _holds(session: Session, text: str) -> bool:
    texts = f"{session.name}\n{session.topic or ''}\n{session.summary or ''}"
    return text.casefold() in texts.casefold()


def _counted(reader: Reader, sessions: Sequence[Session]) -> tuple[SessionCounts, ...]:
    numbers = tuple(session.id for session in sessions)
    every = reader.tally(Filter(session_ids=numbers), "session")
    turns = reader.tally(Filter(session_ids=numbers, kinds=(TURN,)), "session")
    return tuple(
        SessionCounts(one, turns.get(key, 0), every.get(key, 0) - turns.get(key, 0))
        for one in sessions
        for key in (str(one.id),)
    )


def contents(ctx: Context, number: int) -> SessionContents:
    """All that belongs to the session with this number; NotFound if there is none."""
    reader = ctx.read()
    session = session_numbered(reader, number)
    if session is None:
        raise NotFound(f"No session {number}")
    recalls = reader.recalls(RecallFilter(session_id=number), limit=MOST_READ)
    recalled = dict.fromkeys(one for entry in recalls for one in entry.memory_ids)
    turns = _of(reader, number, kinds=(TURN,))
    return SessionContents(
        session=session,
        turns=turns,
        episodes=_of(reader, number, kinds=(EPISODE,)),
        memories=_of(reader, number, not_kinds=(TURN, EPISODE, KIND)) + _captured(reader, turns),
        reflections=_reflections(reader, session),
        recalls=tuple(recalls),
        recalled=tuple(reader.get(list(recalled)[:MOST_READ])),
    )


def _of(
    reader: Reader,
    number: int,
    kinds: tuple[str, ...] | None = None,
    not_kinds: tuple[str, ...] | None = None,
) -> tuple[Memory, ...]:
    wanted = Filter(session_ids=(number,), kinds=kinds, not_kinds=not_kinds)
    return tuple(reader.get(reader.select(wanted, order=Order.NUMBER, limit=MOST_READ)))


def _captured(reader: Reader, turns: Sequence[Memory]) -> tuple[Memory, ...]:
    """The living memories captured from *turns*. They are linked to their turn and stand outside the session."""
    wanted = EdgeFilter(targets=tuple(turn.id for turn in turns), types=(SAID_IN,))
    sources = [edge.source_id for edge in reader.edges(wanted)]
    return tuple(memory for memory in reader.get(sources) if memory.state is State.LIVING)


def _reflections(reader: Reader, session: Session) -> tuple[Memory, ...]:
    """The reflections of a session: stored in it, or in its namespace while it lasted."""
    inside = _of(reader, session.id, kinds=(KIND,))
    wanted = Filter(
        namespaces=(session.namespace,), kinds=(KIND,), since=session.started_at, until=session.ended_at
    )
    meanwhile = reader.get(reader.select(wanted, order=Order.NUMBER, limit=MOST_READ))
    found = {memory.id: memory for memory in (*inside, *meanwhile)}
    return tuple(found[number] for number in sorted(found))
