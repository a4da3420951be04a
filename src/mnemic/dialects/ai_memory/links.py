"""Links between memories."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mnemic.core import graph
from mnemic.core.context import Context
from mnemic.dialects.ai_memory.arguments import (
    Arguments,
    Id,
    IdArguments,
    Relation,
)
from mnemic.dialects.ai_memory.dialect import AI_MEMORY, AN_ID, ANOTHER_ID, AiMemoryReply, answer
from mnemic.dialects.ai_memory.ids import meant
from mnemic.dialects.ai_memory.link_list import links_of
from mnemic.dialects.framework import Example

PREVIEW = 200
NO_SUMMARY = "summary is required (or use smart/autonomous tier for auto-summarization)"
WAS_STANDARD = "a source was the standard of {}; set another with memory_namespace_set_standard"


class LinkArguments(Arguments):
    """Two memories, and what the first is to the second."""

    source_id: Annotated[Id, Field(description="id of the memory the link starts from")]
    target_id: Annotated[Id, Field(description="id of the memory it leads to")]
    relation: Relation = "related_to"


@AI_MEMORY.operation(
    title="Link memories",
    idempotent=True,
    examples=[Example("", {"source_id": AN_ID, "target_id": ANOTHER_ID, "relation": "supersedes"})],
)
def memory_link(ctx: Context, request: LinkArguments) -> AiMemoryReply:
    """Link one memory to another: related_to, supersedes, contradicts or derived_from."""
    source = meant(ctx, request.source_id, missing=f"source memory not found: {request.source_id}")
    target = meant(ctx, request.target_id, missing=f"target memory not found: {request.target_id}")
    # To link anew would bring the weight that another dialect gave it back to one.
    graph.link(ctx, source.id, target.id, request.relation, keeps=True)
    return answer(linked=True, source_id=source.uid, target_id=target.uid, relation=request.relation)


@AI_MEMORY.operation(
    title="Get links", read_only=True, idempotent=True, examples=[Example("", {"id": AN_ID})]
)
def memory_get_links(ctx: Context, request: IdArguments) -> AiMemoryReply:
    """Get the links from and to a memory."""
    links = links_of(ctx, meant(ctx, request.id))
    return answer(links=links, count=len(links))
