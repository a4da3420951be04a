"""Relating memories: links between two, one in the place of many."""

from __future__ import annotations

from typing_extensions import TypedDict

from mnemic.core import graph
from mnemic.core.context import Context
from mnemic.core.tidying import condensing
from mnemic.dialects.ai_memory import rules
from mnemic.dialects.ai_memory.endpoints.shapes import (
    Asked,
    LinkEntry,
    One,
    Relation,
    Text,
    Texts,
    TierName,
    required,
    shown_links,
)
from mnemic.dialects.ai_memory.naming import meant
from mnemic.dialects.ai_memory.vocabulary import AI_MEMORY
from mnemic.dialects.operation import Example
from mnemic.errors import Invalid
from mnemic.model.memory import Memory
from mnemic.model.values import Tier


class LinkRequest(Asked):
    """Two memories, which are required, and how they are related."""

    source_id: Text = None
    target_id: Text = None
    relation: Relation = "related_to"


class Linked(TypedDict):
    """The link that stands."""

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
    """Link two memories; a link that stands is left as it is."""
    relation = rules.relation("related_to" if request.relation is None else request.relation)
    source, target = (_end(ctx, request, end) for end in ("source", "target"))
    if source.id == target.id:
        raise Invalid("cannot link a memory to itself", "target_id")
    graph.link(ctx, source.id, target.id, relation, keeps=True)
    return {"linked": True, "source_id": source.uid, "target_id": target.uid, "relation": relation}


def _end(ctx: Context, request: LinkRequest, end: str) -> Memory:
    field = f"{end}_id"
    id = rules.identifier(required(getattr(request, field), field), field)
    return meant(ctx, id, missing=f"{end} memory not found: {id}")


class Links(TypedDict):
    """The links of a memory."""

    links: list[LinkEntry]
    count: int


@AI_MEMORY.endpoint("GET /links/{id}", title="Read the links of a memory")
def get_links(ctx: Context, request: One) -> Links:
    """The links to and from a memory."""
    links = shown_links(ctx, meant(ctx, request.id, missing="not found"))
    return {"links": links, "count": len(links)}


class ConsolidateRequest(Asked):
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
    ids = rules.consolidated(required(request.ids, "ids"))
    title = rules.title(required(request.title, "title"))
    text = rules.content(required(request.summary, "summary"), "summary")
    namespace = None if request.namespace is None else rules.namespace(request.namespace)
    tier = Tier.LONG if request.tier is None else rules.tier(request.tier)
    sources = {meant(ctx, id, missing=f"memory not found: {id}").id for id in ids}
    if len(sources) < len(ids):
        raise Invalid("ids: two of them mean the same memory", "ids")
    made = condensing.consolidate(
        ctx, sorted(sources), title=title, text=text, namespace=namespace, tier=tier
    )
    return {"id": made.uid, "consolidated": len(sources), "namespace": made.namespace}
