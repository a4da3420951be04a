"""The links of a memory as ai-memory shows them."""

from __future__ import annotations

from typing import Any

from mnemic.core import memories
from mnemic.core.context import Context
from mnemic.model.graph import Edge
from mnemic.model.memory import Memory
from mnemic.transfer.document_entry import link_entry


def links_of(ctx: Context, memory: Memory) -> list[dict[str, Any]]:
    """Current links from and to *memory* whose other end is living."""
    edges, ends = links_and_ends(ctx, memory)
    return [link_entry(edge, ends) for edge in edges]


def links_and_ends(ctx: Context, memory: Memory) -> tuple[list[Edge], dict[int, Memory]]:
    """These links, and the memories at their ends by number."""
    reader = ctx.read()
    edges = [edge for edge in memories.links_of(reader, ctx, memory) if edge.is_current]
    others = {end for edge in edges for end in (edge.source_id, edge.target_id)} - {memory.id}
    return edges, {memory.id: memory, **{end.id: end for end in reader.get(sorted(others))}}
