"""Walking the graph."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mnemic.core import traversal
from mnemic.core.context import Context
from mnemic.core.retention import touch
from mnemic.core.traversal import Way
from mnemic.dialects.agentic_memory.dialect import AGENTIC_MEMORY
from mnemic.dialects.agentic_memory.types import (
    EDGE_TYPES,
    Count,
    Number,
    edge,
    known_edge_type,
    missing,
    node,
    summary,
)
from mnemic.dialects.framework import Example, Shape
from mnemic.dialects.json_reply import Reply, answer
from mnemic.dialects.validation import StorableText
from mnemic.errors import NotFound
from mnemic.model.graph import Direction

DIRECTIONS = {"forward": Direction.OUT, "backward": Direction.IN, "both": Direction.BOTH}
NEAREST, FARTHEST = 1, 5


class MemoryTraverse(Shape):
    """Where to walk."""

    start_id: Annotated[Number, Field(description="Starting node ID")]
    edge_types: Annotated[
        list[StorableText] | None,
        Field(description=f"Edge types to follow (default: all): {', '.join(EDGE_TYPES)}"),
    ] = None
    direction: Annotated[
        Literal["forward", "backward", "both"], Field(description="Along the edges, against them, or both")
    ] = "forward"
    max_depth: Annotated[int, Field(ge=0, description="Maximum depth")] = 5
    max_results: Annotated[Count, Field(description="Maximum nodes to return, the start included")] = 20
    min_confidence: Annotated[
        float | None, Field(description="Nodes below are left out, and so is what lies behind them")
    ] = None


@AGENTIC_MEMORY.operation(
    title="Walk the graph",
    read_only=True,
    examples=[Example("Why it was decided", {"start_id": 2, "edge_types": ["caused_by", "derived_from"]})],
)
def memory_traverse(ctx: Context, request: MemoryTraverse) -> Reply:
    """Walk the graph from a starting node along edges of the given types, nearest nodes first."""
    way = Way(
        direction=DIRECTIONS[request.direction],
        types=tuple(known_edge_type(name) for name in request.edge_types or ()) or None,
        depth=request.max_depth,
        limit=request.max_results,
        min_confidence=request.min_confidence,
    )
    try:
        found = traversal.walk(ctx, request.start_id, way)
    except NotFound:
        raise missing("Traversal", request.start_id) from None
    visited = [{**summary(memory), "depth": depth} for memory, depth in found.memories]
    touch(ctx, [memory for memory, _ in found.memories])
    return answer(
        start_id=request.start_id,
        visited_count=len(visited),
        visited=visited,
        edges_traversed=[edge(one) for one in found.links],
    )


class MemoryContext(Shape):
    """Around what."""

    node_id: Annotated[Number, Field(description="Center node ID")]
    depth: Annotated[int, Field(description="Depth, 1 to 5; what is beyond is brought into that range")] = 2


@AGENTIC_MEMORY.operation(
    title="Show the context of a node",
    read_only=True,
    examples=[Example("What surrounds a node", {"node_id": 2})],
)
def memory_context(ctx: Context, request: MemoryContext) -> Reply:
    """Get the subgraph around a node, both ways along all edges; of a very large one the nearest nodes."""
    depth = min(FARTHEST, max(NEAREST, request.depth))
    try:
        found = traversal.surroundings(ctx, request.node_id, depth)
    except NotFound:
        raise missing("Context", request.node_id) from None
    now = ctx.now()
    nodes = [{**node(memory, now), "depth": distance} for memory, distance in found.memories]
    touch(ctx, [memory for memory, distance in found.memories if not distance])
    return answer(
        center_id=request.node_id,
        depth=depth,
        node_count=len(nodes),
        edge_count=len(found.links),
        nodes=nodes,
        edges=[edge(one) for one in found.links],
        **({"truncated": True} if found.is_cut else {}),
    )
