"""Stretches of work: session."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import model_validator

from mnemic.core import sessions
from mnemic.core.context import Context
from mnemic.dialects.framework import Example, Positional, Shape
from mnemic.dialects.native.dialect import MNEMIC
from mnemic.dialects.native.types import (
    ExcerptShape,
    Name,
    Request,
    Text,
    Time,
    described,
    excerpt_of,
    unlisted,
)
from mnemic.model.memory import Memory
from mnemic.model.session import Session


class Step(StrEnum):
    """Actions on a session."""

    START = "start"
    END = "end"
    RESUME = "resume"
    LOG = "log"


TAKES: Mapping[Step, frozenset[str]] = {
    Step.START: frozenset({"topic"}),
    Step.END: frozenset({"id", "summary"}),
    Step.RESUME: frozenset({"id", "limit"}),
    Step.LOG: frozenset({"id", "topic", "user", "agent"}),
}
"""What may be said with each."""
LONGEST_EPISODE, LONGEST_MEMORY = 2_000, 300
"""Characters: the episode is read whole, the memories around it are an overview to open from."""


class SessionRequest(Request):
    """What to do with a session: this caller's own, unless another is named by its number."""

    action: Annotated[Step, described("What to do"), Positional("ACTION")]
    id: Annotated[int | None, described("Another session (default: the current one)", ge=1, lt=2**32)] = None
    topic: Annotated[Name | None, described("start, log: what it is about (default: none)")] = None
    summary: Annotated[Text | None, described("end: what was done and decided (default: none)")] = None
    user: Annotated[Text | None, described("log: what the user said (default: none)")] = None
    agent: Annotated[Text | None, described("log: what you said (default: none)")] = None
    limit: Annotated[int, unlisted("resume: most memories", ge=1, le=100)] = 15

    @model_validator(mode="after")
    def _fits(self) -> SessionRequest:
        strange = self.model_fields_set - {"action"} - TAKES[self.action]
        if strange:
            named = ", ".join(f"`{name}`" for name in sorted(strange))
            raise ValueError(f"{self.action} takes no {named}")
        return self


class SessionShape(Shape):
    """A session."""

    id: int
    namespace: str
    topic: str | None = None
    summary: str | None = None
    started_at: Time
    ended_at: Time | None = None


class SessionReply(Shape):
    """The session, what came of the one before it, and what there is to go on with."""

    session: SessionShape | None = None
    previous: SessionShape | None = None
    episode: ExcerptShape | None = None
    turn: int | None = None
    memories: list[ExcerptShape] | None = None


@MNEMIC.operation(
    title="Session",
    cli="session",
    about="Start, resume, log or end a session of work.",
    examples=[
        Example("", {"action": "start", "topic": "release"}),
        Example("log a turn", {"action": "log", "user": "Ship it?", "agent": "On Monday."}),
        Example("resume", {"action": "resume"}),
        Example("end with a summary", {"action": "end", "summary": "Releases moved to Mondays"}),
    ],
)
def session(ctx: Context, request: SessionRequest) -> SessionReply:
    """Pick up where you left off: resume when work begins, end with a summary when it is done.

    start begins a session, which gets what you remember meanwhile; log keeps a turn of the conversation.
    """
    match request.action:
        case Step.START:
            started = sessions.start(ctx, topic=request.topic)
            return SessionReply(
                session=shown_session(started.session),
                previous=shown_session(started.previous),
                episode=_episode(ctx, started.last_episode),
            )
        case Step.END:
            return _end(ctx, request)
        case Step.RESUME:
            return _resume(ctx, request)
    return _log(ctx, request)


def shown_session(session: Session | None) -> SessionShape | None:
    """The result of the core as a native reply."""
    if session is None:
        return None
    return SessionShape(
        id=session.id,
        namespace=session.namespace,
        topic=session.topic,
        summary=session.summary,
        started_at=session.started_at,
        ended_at=session.ended_at,
    )


def _end(ctx: Context, request: SessionRequest) -> SessionReply:
    ended = sessions.end_open(ctx, request.id, request.summary)
    return SessionReply(session=shown_session(ended.session), episode=_episode(ctx, ended.episode))


def _resume(ctx: Context, request: SessionRequest) -> SessionReply:
    now_in = sessions.enter(ctx) if request.id is None else sessions.take_up(ctx, request.id)
    found = sessions.resume(ctx, request.limit, others=None)
    return SessionReply(
        session=shown_session(now_in),
        previous=shown_session(found.previous),
        episode=_episode(ctx, found.last_episode),
        memories=[
            excerpt_of(ctx, memory, LONGEST_MEMORY)
            for memory in (*found.decisions, *found.facts, *found.inferences, *found.other)
        ],
    )


def _episode(ctx: Context, episode: Memory | None) -> ExcerptShape | None:
    return None if episode is None else excerpt_of(ctx, episode, LONGEST_EPISODE)


def _log(ctx: Context, request: SessionRequest) -> SessionReply:
    now_in, turn = sessions.log(ctx, request.user, request.agent, number=request.id, topic=request.topic)
    return SessionReply(session=shown_session(now_in), turn=turn.id)
