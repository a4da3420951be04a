"""Sessions: starting, ending and taking them up again."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from mnemic.core import sessions as core
from mnemic.core.context import Context
from mnemic.core.retention import touch
from mnemic.dialects.agentic_memory.dialect import AGENTIC_MEMORY
from mnemic.dialects.agentic_memory.types import Count, content_of, event_type, fitting
from mnemic.dialects.framework import Example, Shape
from mnemic.dialects.json_reply import Reply, answer
from mnemic.dialects.validation import StorableText
from mnemic.model.memory import Memory

SessionNumber = Annotated[int, Field(ge=1, le=2**32 - 1)]


class SessionStart(Shape):
    """A session."""

    session_id: Annotated[SessionNumber | None, Field(description="Explicit session ID")] = None
    metadata: Annotated[dict[str, Any] | None, Field(description="Session metadata")] = None


@AGENTIC_MEMORY.operation(
    title="Start a session", examples=[Example("Begin", {"metadata": {"project": "greenhouse"}})]
)
def session_start(ctx: Context, request: SessionStart) -> Reply:
    """Start a new interaction session. Returns context from the previous session."""
    started = core.start(ctx, request.session_id, metadata=request.metadata)
    return answer(
        session_id=started.session.id,
        message=f"Session {started.session.id} started",
        total_sessions=started.total,
        previous_session=started.previous.id if started.previous else None,
        last_episode=_episode(started.last_episode),
    )


def _episode(memory: Memory | None) -> dict[str, Any] | None:
    if memory is None:
        return None
    return {
        "session_id": memory.session_id or 0,
        "summary": memory.content,
        "created_at": memory.created_at,
    }


class SessionEnd(Shape):
    """How to end it."""

    session_id: Annotated[SessionNumber | None, Field(description="Session ID (default: the current)")] = None
    create_episode: Annotated[bool, Field(description="Create an episode summary node")] = True
    summary: Annotated[StorableText | None, Field(description="Episode summary content")] = None


@AGENTIC_MEMORY.operation(
    title="End a session", examples=[Example("Sum it up", {"summary": "Chose cedar for the frame"})]
)
def session_end(ctx: Context, request: SessionEnd) -> Reply:
    """End a session and create an episode summary node that all its nodes are part of."""
    fitting(request.summary, "summary")
    summary = (request.summary or "").strip() and request.summary
    ended = core.end(ctx, request.session_id, summary=summary or None, episode=request.create_episode)
    number = ended.session.id
    if ended.episode is None:
        message = f"Session {number} ended without an episode"
        return answer(session_id=number, episode_node_id=None, message=message)
    return answer(session_id=number, episode_node_id=ended.episode.id, summary=ended.session.summary)


class SessionResume(Shape):
    """How much."""

    limit: Annotated[Count, Field(description="Maximum number of recent memories to load")] = 15


@AGENTIC_MEMORY.operation(title="Resume", read_only=True, examples=[Example("At the start", {"limit": 15})])
def memory_session_resume(ctx: Context, request: SessionResume) -> Reply:
    """Load context from previous sessions. Call this at the start of every conversation.

    Returns the last session summary, recent decisions, and key facts.
    """
    found = core.resume(ctx, request.limit)
    touch(ctx, [*found.decisions, *found.facts, *found.inferences, *found.other])
    return answer(
        current_session=found.current or 0,
        previous_session=found.previous.id if found.previous else None,
        last_episode=_episode(found.last_episode),
        recent_decisions=[_recent(memory) for memory in found.decisions],
        recent_facts=[_recent(memory) for memory in found.facts],
        recent_inferences=[_recent(memory) for memory in found.inferences],
        recent_other=[_recent(memory) | {"event_type": event_type(memory.kind)} for memory in found.other],
        total_loaded=found.total,
        message=f"Loaded {found.total} memories" if found.total else "No memories yet",
    )


def _recent(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "content": content_of(memory),
        "confidence": memory.confidence,
        "session_id": memory.session_id or 0,
    }
