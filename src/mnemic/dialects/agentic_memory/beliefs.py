"""Beliefs: correcting them, finding the latest, what rests on them, and how they changed."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from mnemic.core.context import Context
from mnemic.core.retention import touch
from mnemic.core.trust import beliefs, impact
from mnemic.dialects.agentic_memory import compare
from mnemic.dialects.agentic_memory.compare import Stretch
from mnemic.dialects.agentic_memory.dialect import AGENTIC_MEMORY
from mnemic.dialects.agentic_memory.events import written
from mnemic.dialects.agentic_memory.types import (
    INFERENCE,
    Microseconds,
    Number,
    Share,
    fitting,
    missing,
    node,
    summary,
)
from mnemic.dialects.framework import Example, Shape
from mnemic.dialects.json_reply import Reply, answer
from mnemic.dialects.validation import StorableText
from mnemic.errors import NotFound

DECISION = "decision"
WANTED = {"time_window": ("start", "end"), "session": ("session_id",), "sessions": ("session_ids",)}
"""Argument that gives the range, by type."""


class MemoryCorrect(Shape):
    """A correction."""

    old_node_id: Annotated[Number, Field(description="ID of the node being corrected")]
    new_content: Annotated[StorableText, Field(description="The correct information")]
    confidence: Annotated[Share, Field(description="Confidence, 0.0 to 1.0")] = 0.95
    reason: Annotated[StorableText | None, Field(description="Why it was wrong")] = None


@AGENTIC_MEMORY.operation(
    title="Correct a belief",
    examples=[Example("It was moved", {"old_node_id": 1, "new_content": "The meeting is on Tuesday"})],
)
def memory_correct(ctx: Context, request: MemoryCorrect) -> Reply:
    """Record a correction to a previous belief: a new node that supersedes the old one, which stays readable."""
    fitting(request.new_content, "new_content")
    try:
        corrected = beliefs.correct(
            ctx,
            request.old_node_id,
            written(request.new_content, "new_content"),
            confidence=request.confidence,
            reason=request.reason,
        )
    except NotFound:
        raise NotFound(f"Node not found: {request.old_node_id}") from None
    return answer(
        new_node_id=corrected.new.id,
        old_node_id=corrected.old.id,
        supersedes=True,
        reason=request.reason,
    )


class MemoryResolve(Shape):
    """Which belief."""

    node_id: Annotated[Number, Field(description="Node ID to resolve")]


@AGENTIC_MEMORY.operation(
    title="Resolve a belief", read_only=True, examples=[Example("The latest version", {"node_id": 1})]
)
def memory_resolve(ctx: Context, request: MemoryResolve) -> Reply:
    """Follow the supersedes chain to the latest version of a belief."""
    try:
        latest = beliefs.resolve(ctx, request.node_id)
    except NotFound:
        raise missing("Resolve", request.node_id) from None
    shown = node(latest, ctx.now())
    touch(ctx, [latest])
    return answer(
        original_id=request.node_id,
        resolved_id=latest.id,
        is_latest=latest.id == request.node_id,
        latest=shown,
    )


class MemoryCausal(Shape):
    """What to look at."""

    node_id: Annotated[Number, Field(description="Node ID to analyze")]
    max_depth: Annotated[int, Field(ge=0, description="Maximum depth")] = 5


@AGENTIC_MEMORY.operation(
    title="Analyze impact", read_only=True, examples=[Example("What rests on it", {"node_id": 1})]
)
def memory_causal(ctx: Context, request: MemoryCausal) -> Reply:
    """Impact analysis: everything that was caused by, derived from or supports a node, directly or over others."""
    try:
        found = impact.dependents(ctx, request.node_id, request.max_depth)
    except NotFound:
        raise missing("Causal analysis", request.node_id) from None
    shown = [{**summary(one.memory), "depth": one.distance} for one in found]
    touch(ctx, [one.memory for one in found])
    types = [one["event_type"] for one in shown]
    return answer(
        root_id=request.node_id,
        dependent_count=len(shown),
        affected_decisions=types.count(DECISION),
        affected_inferences=types.count(INFERENCE),
        dependents=shown,
    )


class TimeRange(Shape):
    """A stretch of time or of work: a window with its start and end, a session, or several."""

    type: Literal["time_window", "session", "sessions"]
    start: Annotated[Microseconds | None, Field(description="Of a time_window, in Unix microseconds")] = None
    end: Annotated[Microseconds | None, Field(description="Of a time_window, in Unix microseconds")] = None
    session_id: Annotated[Number | None, Field(description="Of a session")] = None
    session_ids: Annotated[list[Number] | None, Field(description="Of sessions")] = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        lacking = [name for name in WANTED[self.type] if getattr(self, name) is None]
        if lacking:
            raise ValueError(f"a range of type {self.type} needs {' and '.join(lacking)}")
        return self

    def stretch(self) -> Stretch:
        """The same for the core."""
        match self.type:
            case "time_window":
                return Stretch(since=self.start, until=self.end)
            case "session":
                return Stretch(session_ids=(self.session_id or 0,))
        return Stretch(session_ids=tuple(self.session_ids or ()))


class MemoryTemporal(Shape):
    """What to compare."""

    range_a: Annotated[TimeRange, Field(description="First range")]
    range_b: Annotated[TimeRange, Field(description="Second range")]


@AGENTIC_MEMORY.operation(
    title="Compare two periods",
    read_only=True,
    examples=[
        Example(
            "Two sessions",
            {
                "range_a": {"type": "session", "session_id": 1},
                "range_b": {"type": "session", "session_id": 2},
            },
        )
    ],
)
def memory_temporal(ctx: Context, request: MemoryTemporal) -> Reply:
    """Compare knowledge across two time periods: what was added, corrected ([old, new]), unchanged, may be stale."""
    comparison = compare.compare(ctx, request.range_a.stretch(), request.range_b.stretch())
    return answer(
        added=list(comparison.added),
        corrected=[list(pair) for pair in comparison.corrected],
        unchanged=list(comparison.unchanged),
        potentially_stale=list(comparison.stale),
        summary={
            "added_count": len(comparison.added),
            "corrected_count": len(comparison.corrected),
            "unchanged_count": len(comparison.unchanged),
            "stale_count": len(comparison.stale),
        },
    )
