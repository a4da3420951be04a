"""Sessions for people: all of them, or what one holds."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mnemic.core import session_contents
from mnemic.core.context import Context
from mnemic.dialects.framework import Example, Positional, Shape
from mnemic.dialects.native.as_of import AsOf, at
from mnemic.dialects.native.dialect import MNEMIC
from mnemic.dialects.native.session import SessionShape, shown_session
from mnemic.dialects.native.types import BriefShape, Everywhere, MemoryShape, Request, Time, brief, shown
from mnemic.dialects.validation import StorableText
from mnemic.model.recall_entry import RecallEntry


class SessionsRequest(Request):
    """Which sessions to list, or the one to show."""

    id: Annotated[
        int | None, Field(description="show what this session holds", ge=1, lt=2**53), Positional("SESSION")
    ] = None
    namespace: Everywhere = None
    text: Annotated[
        StorableText | None, Field(description="only those whose topic or summary holds this", max_length=500)
    ] = None
    limit: Annotated[int, Field(ge=1, le=1_000, description="most sessions listed")] = 20
    offset: Annotated[int, Field(ge=0, le=1_000_000, description="how many to skip")] = 0
    as_of: Annotated[AsOf, Field(description="as they stood then")] = None


class CountedSession(SessionShape):
    """A session and how much it holds."""

    turns: int
    memories: int


class RecallShape(Shape):
    """A recall: who asked what, and what came of it."""

    number: int
    at: Time
    actor: str
    query: str
    namespaces: list[str] | None = None
    session: int | None = None
    hits: int
    relevance: float | None = None
    tokens: int
    milliseconds: float
    ids: list[int]


class SessionsReply(Shape):
    """The sessions, newest first, and how many there are; or one session and what it holds, oldest first."""

    sessions: list[CountedSession] | None = None
    total: int | None = None
    session: SessionShape | None = None
    turns: list[MemoryShape] | None = None
    episodes: list[MemoryShape] | None = None
    memories: list[MemoryShape] | None = None
    reflections: list[MemoryShape] | None = None
    recalls: list[RecallShape] | None = None
    recalled: list[BriefShape] | None = None


@MNEMIC.command(
    cli="sessions", title="Sessions", examples=[Example("", {"limit": 5}), Example("one of them", {"id": 3})]
)
def sessions(ctx: Context, request: SessionsRequest) -> SessionsReply:
    """List the sessions of work, newest first, or show what one holds."""
    ctx = at(ctx, request.as_of)
    if request.id is not None:
        return _one(ctx, request.id)
    found = session_contents.page(
        ctx, request.namespace, text=request.text, limit=request.limit, offset=request.offset
    )
    listed = [
        CountedSession.model_construct(
            None, **dict(shown_session(one.session) or ()), turns=one.turns, memories=one.memories
        )
        for one in found.sessions
    ]
    return SessionsReply(sessions=listed, total=found.total)


def _one(ctx: Context, number: int) -> SessionsReply:
    found = session_contents.contents(ctx, number)
    return SessionsReply(
        session=shown_session(found.session),
        turns=[shown(memory) for memory in found.turns],
        episodes=[shown(memory) for memory in found.episodes],
        memories=[shown(memory) for memory in found.memories],
        reflections=[shown(memory) for memory in found.reflections],
        recalls=[shown_recall(entry) for entry in found.recalls],
        recalled=[brief(memory) for memory in found.recalled],
    )


def shown_recall(entry: RecallEntry) -> RecallShape:
    """*entry* in a native reply."""
    return RecallShape(
        number=entry.number,
        at=entry.at,
        actor=entry.actor,
        query=entry.query,
        namespaces=None if entry.namespaces is None else list(entry.namespaces),
        session=entry.session_id,
        hits=entry.hits,
        relevance=entry.relevance,
        tokens=entry.tokens,
        milliseconds=entry.milliseconds,
        ids=list(entry.memory_ids),
    )
