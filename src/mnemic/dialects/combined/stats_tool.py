"""`memory_stats`, which ai-memory and AgenticMemory share: the counts of both."""

from __future__ import annotations

from mnemic.core.context import Context
from mnemic.dialects.agentic_memory import reports
from mnemic.dialects.ai_memory import archive
from mnemic.dialects.ai_memory.arguments import NoArguments
from mnemic.dialects.combined.shared import SHARED
from mnemic.dialects.json_reply import Reply, answer


@SHARED.operation(title="Statistics", read_only=True, idempotent=True)
def memory_stats(ctx: Context, request: NoArguments) -> Reply:
    """Count the memories by tier and namespace, the links and the bytes; the nodes, edges and sessions of the graph."""
    counted = archive.memory_stats(ctx, request).root
    graph = reports.memory_stats(ctx, reports.MemoryStats()).root
    return answer(**counted, **graph)
