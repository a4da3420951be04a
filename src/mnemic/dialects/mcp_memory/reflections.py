"""Reflections: thoughts about an entity, a relation, a session or everything."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from mnemic.core import reflections as core
from mnemic.core.context import Context
from mnemic.core.reflections import Reflection
from mnemic.dialects.framework import Shape
from mnemic.dialects.json_reply import Reply, answer
from mnemic.dialects.mcp_memory.dialect import (
    MCP_MEMORY,
    McpMemoryError,
    check_limit,
    check_query,
    model_needed,
    stamp,
)
from mnemic.dialects.validation import StorableText
from mnemic.errors import Invalid
from mnemic.model.memory import Memory

AUTHORS = ("nolan", "sofia")
MOODS = ("frustracion", "satisfaccion", "curiosidad", "duda", "insight")
TOLD = ("target_type", "target_id", "author", "mood")


class AddReflection(Shape):
    """A thought."""

    target_type: Annotated[StorableText, Field(description="entity, session, relation or global")]
    content: Annotated[StorableText, Field(description="the thought, in prose")] = ""
    author: Annotated[StorableText, Field(description="nolan or sofia")] = "sofia"
    mood: Annotated[
        StorableText | None, Field(description="frustracion, satisfaccion, curiosidad, duda or insight")
    ] = None
    target_id: Annotated[
        int | None, Field(ge=-(2**63), lt=2**63, description="id of the entity or relation it is about")
    ] = None


@MCP_MEMORY.operation(title="Add a reflection")
def add_reflection(ctx: Context, request: AddReflection) -> Reply:
    """Keep a thought about an entity, a session, a relation or everything, with its author and mood."""
    if not request.content.strip():
        raise McpMemoryError("content cannot be empty")
    reflection = Reflection(
        text=request.content,
        target_type=request.target_type,
        target_id=request.target_id,
        author=request.author,
        mood=request.mood,
    )
    try:
        memory = core.add(ctx, reflection, authors=AUTHORS, moods=MOODS)
    except Invalid:
        raise McpMemoryError("Invalid parameters — check target_type, author, and mood values") from None
    return answer(result=_reflection_entry(memory))


def _reflection_entry(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        **{name: memory.metadata.get(name) for name in TOLD},
        "content": memory.content,
        "created_at": stamp(memory.created_at),
    }


class SearchReflections(Shape):
    """What to look for."""

    query: Annotated[StorableText, Field(description="what it is about")]
    author: StorableText | None = None
    mood: StorableText | None = None
    target_type: StorableText | None = None
    limit: Annotated[int, Field(description="most results; at most 50")] = 10


@MCP_MEMORY.operation(title="Search reflections", read_only=True, idempotent=True)
def search_reflections(ctx: Context, request: SearchReflections) -> Reply:
    """Find reflections by meaning and words, recent ones first. Observations are not searched."""
    check_query(request.query)
    check_limit(request.limit)
    with model_needed():
        hits = core.search(
            ctx,
            request.query,
            limit=request.limit,
            author=request.author or None,
            mood=request.mood or None,
            target_type=request.target_type or None,
        )
    return answer(
        results=[
            {**_reflection_entry(hit.memory), "score": round(hit.score, 6 if "rrf" in hit.terms else 4)}
            for hit in hits
        ]
    )
