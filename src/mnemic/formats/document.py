"""The JSON document of an export: memories and links in one object, as ai-memory writes and reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mnemic.errors import Invalid
from mnemic.model.graph import Edge
from mnemic.model.memory import Memory
from mnemic.model.values import Moment, iso, parse_moment


def document(memories: Iterable[Memory], edges: Iterable[Edge], now: Moment) -> dict[str, Any]:
    """Everything living, in one object."""
    told = {memory.id: memory for memory in memories}
    links = [link_entry(edge, told) for edge in edges if edge.source_id in told and edge.target_id in told]
    return {
        "memories": [memory_entry(memory) for memory in told.values()],
        "links": links,
        "count": len(told),
        "exported_at": iso(now),
    }


def memory_entry(memory: Memory) -> dict[str, Any]:
    """A memory in the document; what is unset stays out."""
    entry: dict[str, Any] = {
        "id": memory.uid,
        "tier": str(memory.tier),
        "namespace": memory.namespace,
        "title": memory.title,
        "content": memory.content,
        "tags": list(memory.tags),
        "priority": memory.priority,
        "confidence": memory.confidence,
        "source": memory.source or "mnemic",
        "access_count": memory.access_count,
        "created_at": iso(memory.created_at),
        "updated_at": iso(memory.updated_at),
        "metadata": dict(memory.metadata),
        "kind": memory.kind,
    }
    if memory.accessed_at is not None:
        entry["last_accessed_at"] = iso(memory.accessed_at)
    if memory.expires_at is not None:
        entry["expires_at"] = iso(memory.expires_at)
    return entry


def link_entry(edge: Edge, memories: Mapping[int, Memory]) -> dict[str, Any]:
    """A link in the document."""
    return {
        "source_id": memories[edge.source_id].uid,
        "target_id": memories[edge.target_id].uid,
        "relation": edge.type,
        "created_at": iso(edge.created_at),
    }


def moment(entry: Mapping[str, Any], name: str, now: Moment) -> Moment | None:
    """The moment an entry gives under *name*, or None."""
    text = entry.get(name)
    if text is None:
        return None
    if not isinstance(text, str):
        raise Invalid(f"{name}: must be a text", name)
    return parse_moment(text, name, now)
