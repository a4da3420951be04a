"""Events: adding them, listing them, and finding the ones that resemble something."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from mnemic.core import sessions
from mnemic.core.context import Context
from mnemic.core.retention import touch
from mnemic.core.sessions import Event
from mnemic.dialects.agentic_memory import similar
from mnemic.dialects.agentic_memory.dialect import AGENTIC_MEMORY
from mnemic.dialects.agentic_memory.listings import listed
from mnemic.dialects.agentic_memory.similar import Match
from mnemic.dialects.agentic_memory.types import (
    EDGE_TYPES,
    EVENT_TYPES,
    Count,
    Microseconds,
    Number,
    Share,
    findable,
    fitting,
    known_edge_type,
    known_event_type,
    node,
    readable,
    summary,
)
from mnemic.dialects.framework import Example, Shape
from mnemic.dialects.json_reply import Reply, answer
from mnemic.dialects.validation import StorableText
from mnemic.errors import Invalid
from mnemic.model.filter import EdgeFilter
from mnemic.model.graph import Link
from mnemic.model.memory import Memory

BY_VECTOR, HYBRID, BY_WORDS = "vector", "hybrid", "text_fallback"
"""How similar nodes were found; by words alone where there is no model."""
TYPES = Annotated[
    list[StorableText] | None, Field(description=f"Event types to look among: {', '.join(EVENT_TYPES)}")
]


class NewEdge(Shape):
    """An edge from the new node."""

    target_id: Number
    edge_type: Annotated[StorableText, Field(json_schema_extra={"enum": list(EDGE_TYPES)})]
    weight: float = 1.0


class MemoryAdd(Shape):
    """An event."""

    event_type: Annotated[
        StorableText,
        Field(description="What kind of event it is", json_schema_extra={"enum": list(EVENT_TYPES)}),
    ]
    content: Annotated[StorableText, Field(description="The content of the memory")]
    confidence: Annotated[Share, Field(description="Confidence, 0.0 to 1.0")] = 0.9
    edges: Annotated[list[NewEdge] | None, Field(description="Edges from the new node to others")] = None


@AGENTIC_MEMORY.operation(
    title="Add a memory",
    examples=[Example("Keep a fact", {"event_type": "fact", "content": "Cedar resists rot"})],
)
def memory_add(ctx: Context, request: MemoryAdd) -> Reply:
    """Add a cognitive event to the memory graph. It is linked behind the session's previous event, which counts."""
    kind = known_event_type(request.event_type)
    links = tuple(
        (one.target_id, known_edge_type(one.edge_type), min(1.0, max(0.0, one.weight)))
        for one in request.edges or ()
    )
    fitting(written(request.content, "content"), "content")
    event = Event(text=request.content, kind=kind, confidence=request.confidence, links=links)
    [memory] = sessions.record(ctx, [event])
    made = ctx.read().look(EdgeFilter(at=(memory.id,), is_current=True), Link)
    return answer(node_id=memory.id, event_type=kind, edges_created=len(made))


def written(text: str, field: str) -> str:
    """*text*, or Invalid if it says nothing."""
    if not text.strip():
        raise Invalid(f"{field} must not be empty", field)
    return text


class MemoryQuery(Shape):
    """The conditions."""

    event_types: TYPES = None
    min_confidence: Annotated[float | None, Field(description="Minimum confidence")] = None
    max_confidence: Annotated[float | None, Field(description="Maximum confidence")] = None
    session_ids: Annotated[list[Number] | None, Field(description="Sessions to look in")] = None
    created_after: Annotated[Microseconds | None, Field(description="Created after (Unix microseconds)")] = (
        None
    )
    created_before: Annotated[
        Microseconds | None, Field(description="Created before (Unix microseconds)")
    ] = None
    max_results: Annotated[Count, Field(description="Maximum results")] = 20
    sort_by: Annotated[
        Literal["most_recent", "highest_confidence", "most_accessed", "most_important"],
        Field(description="Order of the results"),
    ] = "most_recent"


@AGENTIC_MEMORY.operation(
    title="Query memories",
    read_only=True,
    examples=[Example("The latest decisions", {"event_types": ["decision"]})],
)
def memory_query(ctx: Context, request: MemoryQuery) -> Reply:
    """Find memories matching conditions. What was corrected is still listed, marked as superseded."""
    wanted = readable(
        ctx,
        request.event_types,
        min_confidence=request.min_confidence,
        max_confidence=request.max_confidence,
        session_ids=tuple(request.session_ids) if request.session_ids else None,
        since=request.created_after,
        until=request.created_before,
    )
    found = listed(ctx, wanted, request.sort_by, request.max_results)
    nodes = [node(memory, ctx.now()) for memory in found]
    touch(ctx, found)
    return answer(count=len(nodes), nodes=nodes)


class MemorySimilar(Shape):
    """What to resemble."""

    query_text: Annotated[StorableText | None, Field(description="A text")] = None
    query_vec: Annotated[
        list[float] | None, Field(description="A vector of the dimension memory_stats tells")
    ] = None
    top_k: Annotated[Count, Field(description="Maximum results")] = 10
    min_similarity: Annotated[float, Field(description="Minimum similarity")] = 0.5
    event_types: TYPES = None


@AGENTIC_MEMORY.operation(
    title="Find similar memories",
    read_only=True,
    examples=[Example("What resembles a question", {"query_text": "which wood lasts outdoors"})],
)
def memory_similar(ctx: Context, request: MemorySimilar) -> Reply:
    """Find similar memories: by a text, by meaning and words together, or by a vector, by its cosine."""
    wanted = findable(ctx, request.event_types)
    if request.query_vec is not None:
        near = similar.nearest(ctx, request.query_vec, wanted, request.top_k)
        return _similar(
            ctx,
            BY_VECTOR,
            [(memory, similarity, {}) for memory, similarity in near if similarity >= request.min_similarity],
        )
    if request.query_text is None:
        raise Invalid("Either query_vec or query_text is required", "query_text")
    matches = similar.resembling(ctx, written(request.query_text, "query_text"), wanted, request.top_k)
    return _similar(
        ctx,
        HYBRID if similar.dimension(ctx) else BY_WORDS,
        [
            (one.memory, one.similarity, _words(one))
            for one in matches
            if one.similarity >= request.min_similarity
        ],
    )


def _words(match: Match) -> dict[str, Any]:
    return {"text_score": match.bm25, "matched_terms": list(match.terms)}


def _similar(ctx: Context, mode: str, found: list[tuple[Memory, float, dict[str, Any]]]) -> Reply:
    matches = []
    for memory, similarity, more in found:
        shown = summary(memory)
        matches.append({"node_id": shown.pop("id"), "similarity": round(similarity, 6), **shown, **more})
    touch(ctx, [memory for memory, _, _ in found])
    return answer(mode=mode, count=len(matches), matches=matches)
