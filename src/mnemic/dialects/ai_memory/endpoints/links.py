"""Relating memories: links between two, one in the place of many."""

from __future__ import annotations

from typing_extensions import TypedDict

from mnemic.core import graph
from mnemic.core.context import Context
from mnemic.core.maintenance import consolidate
from mnemic.dialects.ai_memory import validation
from mnemic.dialects.ai_memory.dialect import AI_MEMORY
from mnemic.dialects.ai_memory.endpoints.types import (
    EndpointRequest,
    IdRequest,
    LinkEntry,
    Relation,
    Text,
    Texts,
    TierName,
    required,
    shown_links,
)
from mnemic.dialects.ai_memory.ids import meant
from mnemic.dialects.framework import Example
from mnemic.errors import Invalid
from mnemic.model.enums import Tier
from mnemic.model.memory import Memory


class LinkRequest(EndpointRequest):
    """Two memories, which are required, and how they are related."""

    source_id: Text = None
    target_id: Text = None
    relation: Relation = "related_to"


class Linked(TypedDict):
    """The existing link."""

    linked: bool
    source_id: str
    target_id: str
    relation: str


@AI_MEMORY.endpoint(
    "POST /links",
    title="Link two memories",
    status=201,
    examples=[Example("", {"source_id": "a1b2c3d4", "target_id": "e5f6a7b8", "relation": "supersedes"})],
)
def create_link(ctx: Context, request: LinkRequest) -> Linked:
    """Link two memories; an existing link is left unchanged."""
    relation = validation.relation("related_to" if request.relation is None else request.relation)
    source, target = (_end(ctx, request, end) for end in ("source", "target"))
    graph.link(ctx, source.id, target.id, relation, keeps=True)
    return {"linked": True, "source_id": source.uid, "target_id": target.uid, "relation": relation}


def _end(ctx: Context, request: LinkRequest, end: str) -> Memory:
    field = f"{end}_id"
    id = validation.identifier(required(getattr(request, field), field), field)
    return meant(ctx, id, missing=f"{end} memory not found: {id}")


class Links(TypedDict):
    """The links of a memory."""

    links: list[LinkEntry]
    count: int


@AI_MEMORY.endpoint("GET /links/{id}", title="Read the links of a memory")
def get_links(ctx: Context, request: IdRequest) -> Links:
    """The links to and from a memory."""
    links = shown_links(ctx, meant(ctx, request.id, missing="not found"))
    return {"links": links, "count": len(links)}


class ConsolidateRequest(EndpointRequest):
    """Two to a hundred memories, and the one to put in their place. Its title and summary are required."""

    ids: Texts = None
    title: Text = None
    summary: Text = None
    namespace: Text = None
    tier: TierName = None


class Consolidated(TypedDict):
    """The new memory, of how many it was made, and its namespace."""

    id: str
    consolidated: int
    namespace: str


@AI_MEMORY.endpoint("POST /consolidate", title="Make one memory of several", status=201)
def consolidate_memories(ctx: Context, request: ConsolidateRequest) -> Consolidated:
    """Put one memory in the place of several: it has all their tags and their highest priority."""
    ids = validation.consolidated(required(request.ids, "ids"))
    title = validation.title(required(request.title, "title"))
    text = validation.content(required(request.summary, "summary"), "summary")
    namespace = None if request.namespace is None else validation.namespace(request.namespace)
    tier = Tier.LONG if request.tier is None else validation.tier(request.tier)
    sources = {meant(ctx, id, missing=f"memory not found: {id}").id for id in ids}
    if len(sources) < len(ids):
        raise Invalid("ids: two of them mean the same memory", "ids")
    made = consolidate.consolidate(
        ctx, sorted(sources), title=title, text=text, namespace=namespace, tier=tier
    )
    return {"id": made.uid, "consolidated": len(sources), "namespace": made.namespace}
