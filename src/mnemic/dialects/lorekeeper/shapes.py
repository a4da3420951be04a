"""Memories, links and hits as this vocabulary shows them, and its titles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mnemic.core.feedback import DEFAULT_LINK_QUALITY, DEFAULT_QUALITY
from mnemic.core.lookup import Link
from mnemic.model.memory import Memory
from mnemic.model.search import Hit
from mnemic.model.values import Moment, State, iso

TITLE_LENGTH = 80
LONGEST_TITLE = 120
RELATIONS = (
    "related_to",
    "used_in",
    "used_for",
    "used_by",
    "used_as",
    "contradicts",
    "supersedes",
    "depends_on",
)
UNSCORED = {"semantic": 0.0, "keyword": 0.0, "decay": 1.0}
"""The terms of a memory that was fetched and not searched for."""


def told(memory: Memory) -> dict[str, Any]:
    """A memory, with its figures as they were before this call."""
    return {
        "id": memory.uid,
        "title": memory.title,
        "description": memory.summary or "",
        "content": memory.content,
        "created_at": iso(memory.created_at),
        "updated_at": iso(memory.updated_at),
        "usage_count": memory.access_count,
        "score": DEFAULT_QUALITY if memory.quality is None else memory.quality,
        "soft_deleted": memory.state is State.FORGOTTEN,
        "confidence": memory.rating,
        "confidence_count": memory.rating_count,
        "namespace": memory.namespace,
        "last_used": _iso(memory.accessed_at),
    }


def _iso(moment: Moment | None) -> str | None:
    return None if moment is None else iso(moment)


def told_link(link: Link) -> dict[str, Any]:
    """A link. It is used when it is rated."""
    edge = link.edge
    return {
        "id": str(edge.id),
        "source_memory_id": link.source,
        "target_memory_id": link.target,
        "relation_type": edge.type,
        "reason": edge.reason or "",
        "score": DEFAULT_LINK_QUALITY if edge.quality is None else edge.quality,
        "created_at": iso(edge.created_at),
        "updated_at": iso(edge.updated_at or edge.created_at),
        "usage_count": edge.rating_count,
        "confidence": edge.rating,
        "confidence_count": edge.rating_count,
    }


def told_hit(hit: Hit, links: Sequence[Link] | None) -> dict[str, Any]:
    """A memory that was found, how relevant it is, and its links where they are asked for."""
    relevance = {
        "combined_score": hit.score,
        "semantic_score": hit.terms["semantic"],
        "keyword_score": hit.terms["keyword"],
        "decay_factor": hit.terms["decay"],
    }
    shown = {} if links is None else {"links": [told_link(link) for link in links]}
    return {"memory": told(hit.memory), "relevance": relevance, **shown}


def told_title(hit: Hit) -> dict[str, Any]:
    """A memory that was found, in short."""
    return {"id": hit.memory.uid, "title": hit.memory.title, "score": round(hit.score, 4)}


def title_of(thought: str) -> str:
    """A title made from a thought: up to the last sentence end of the first 80 characters, else whole words."""
    whole = thought.strip()
    if len(whole) <= TITLE_LENGTH:
        return whole
    head = whole[:TITLE_LENGTH]
    for mark in ".!?":
        end = head.rfind(mark)
        if end > TITLE_LENGTH // 2:
            return head[: end + 1]
    if (space := head.rfind(" ")) > 0:
        return head[:space].strip()
    space = whole.find(" ", TITLE_LENGTH, LONGEST_TITLE)
    return whole[: space if space > 0 else LONGEST_TITLE].strip()
