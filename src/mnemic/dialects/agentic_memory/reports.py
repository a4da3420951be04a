"""Reports on the graph as a whole."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mnemic.core.context import Context
from mnemic.core.trust import quality
from mnemic.dialects.agentic_memory.dialect import AGENTIC_MEMORY
from mnemic.dialects.agentic_memory.listings import stats
from mnemic.dialects.agentic_memory.types import Count
from mnemic.dialects.framework import Example, Shape
from mnemic.dialects.json_reply import Reply, answer


class MemoryQuality(Shape):
    """Reasons for flagging a node."""

    low_confidence_threshold: Annotated[float, Field(description="Confidence below this is flagged")] = 0.45
    stale_decay_threshold: Annotated[float, Field(description="Decay below this is flagged")] = 0.20
    max_examples: Annotated[Count, Field(description="Maximum example node IDs per category")] = 20


@AGENTIC_MEMORY.operation(
    title="Evaluate quality",
    read_only=True,
    idempotent=True,
    examples=[Example("A short report", {"max_examples": 3})],
)
def memory_quality(ctx: Context, request: MemoryQuality) -> Reply:
    """Evaluate memory reliability: confidence, staleness, orphan nodes, and unsupported decisions."""
    report = quality.report(
        ctx, unsure_below=request.low_confidence_threshold, faded_below=request.stale_decay_threshold
    )
    return answer(
        status=report.status,
        summary={
            "nodes": report.memories,
            "edges": report.links,
            "low_confidence_count": len(report.unsure),
            "stale_count": len(report.faded),
            "orphan_count": len(report.alone),
            "decisions_without_support_count": len(report.unsupported),
            "contradiction_edges": report.contradictions,
            "supersedes_edges": report.corrections,
        },
        examples={
            "low_confidence": list(report.unsure[: request.max_examples]),
            "stale": list(report.faded[: request.max_examples]),
            "orphan": list(report.alone[: request.max_examples]),
            "unsupported_decisions": list(report.unsupported[: request.max_examples]),
        },
    )


class MemoryStats(Shape):
    """Nothing to say."""


@AGENTIC_MEMORY.operation(title="Show statistics", read_only=True, idempotent=True)
def memory_stats(ctx: Context, request: MemoryStats) -> Reply:
    """Get statistics about the memory graph."""
    return answer(**stats(ctx))
