"""The export of Lorekeeper's dashboard: memories and links in one JSON object, which it also imports."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from mnemic.model.enums import State
from mnemic.model.graph import Edge
from mnemic.model.memory import Memory
from mnemic.model.time import Moment, iso

VERSION = "2"
REFLECTION_TITLE = "Reflection on session {}"
REFLECTS_ON = "session"
"""Where the metadata of a reflection say which session it is about."""
SPOKEN = (
    "related_to",
    "used_in",
    "used_for",
    "used_by",
    "used_as",
    "contradicts",
    "supersedes",
    "depends_on",
)
"""The relations that its tools accept."""
RELATIONS = frozenset((*SPOKEN, "references", "part_of", "derived_from", "causes"))
"""The relations that its database accepts."""
RELATED = "related_to"
SOURCE_TYPE, OBSERVED = "source_type", "observed"
SOURCE_TYPES = frozenset({OBSERVED, "inferred", "user_stated", "consolidated", "injected"})
FAMILY = uuid.UUID("b7b4a3f2-5a0f-4f43-8f0a-6a1a2f7c9d10")
"""Makes the ids of links: the same link has the same one in every export."""


def document(memories: Iterable[Memory], edges: Iterable[Edge], now: Moment) -> dict[str, Any]:
    """Everything in one object; *edges* lie between *memories*."""
    by_id = {memory.id: memory for memory in memories}
    return {
        "version": VERSION,
        "exported_at": iso(now),
        "memories": [_memory(memory) for memory in by_id.values()],
        "links": [_link(edge, by_id) for edge in edges],
    }


def memory_entry(memory: Memory) -> dict[str, Any]:
    """A memory as Lorekeeper tells it."""
    return {
        "id": memory.uid,
        "title": memory.title,
        "description": memory.summary or "",
        "content": memory.content,
        "created_at": iso(memory.created_at),
        "updated_at": iso(memory.updated_at),
        "usage_count": memory.access_count,
        "score": memory.worth,
        "soft_deleted": memory.state is State.FORGOTTEN,
        "confidence": memory.rating,
        "confidence_count": memory.rating_count,
        "namespace": memory.namespace,
        "last_used": None if memory.accessed_at is None else iso(memory.accessed_at),
    }


def link_entry(edge: Edge, id: str, source: str, target: str) -> dict[str, Any]:
    """A link between two memories by their ids, as Lorekeeper tells it. It is used when it is rated."""
    return {
        "id": id,
        "source_memory_id": source,
        "target_memory_id": target,
        "relation_type": edge.type,
        "reason": edge.reason or "",
        "score": edge.worth,
        "created_at": iso(edge.created_at),
        "updated_at": iso(edge.updated_at or edge.created_at),
        "usage_count": edge.rating_count,
        "confidence": edge.rating,
        "confidence_count": edge.rating_count,
    }


def _memory(memory: Memory) -> dict[str, Any]:
    source = memory.metadata.get(SOURCE_TYPE)
    return {**memory_entry(memory), "source_type": source if source in SOURCE_TYPES else OBSERVED}


def _link(edge: Edge, memories: Mapping[int, Memory]) -> dict[str, Any]:
    source, target = memories[edge.source_id].uid, memories[edge.target_id].uid
    known = edge if edge.type in RELATIONS else replace(edge, type=RELATED)
    id = uuid.uuid5(FAMILY, f"{source} {target} {known.type}")
    return link_entry(known, str(id), source, target)
