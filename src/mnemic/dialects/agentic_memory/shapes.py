"""What its answers share: nodes, edges, the closed sets of their types, and what is said of a node there is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from mnemic.core.sessions import TURN, TURN_OF
from mnemic.errors import Invalid, NotFound
from mnemic.model.graph import Edge
from mnemic.model.memory import Memory
from mnemic.model.values import Moment, State
from mnemic.retrieval.decay import decay

FACT, INFERENCE = "fact", "inference"
EVENT_TYPES = (FACT, "decision", INFERENCE, "correction", "skill", "episode")
EDGE_TYPES = (
    *("caused_by", "derived_from", "supports", "contradicts"),
    *("supersedes", "related_to", "part_of", "temporal_next"),
)
CONVERSATION = "[conversation_meta] "
CHANNEL = "conversation"


def event_type(kind: str) -> str:
    """What a memory of this kind is here: a turn of a conversation is an inference, an unknown kind a fact."""
    if kind == TURN:
        return INFERENCE
    return kind if kind in EVENT_TYPES else FACT


def event_type_of(memory: Memory) -> str:
    """What *memory* is here."""
    return event_type(memory.kind)


def content_of(memory: Memory) -> str:
    """What *memory* says: of a turn who said what, of a mere name the name."""
    told = memory.metadata.get(TURN_OF) if memory.kind == TURN else None
    if not isinstance(told, dict):
        return memory.content or memory.title
    entry = {"channel": CHANNEL, "version": 1}
    said = {key: told.get(key) for key in ("topic", "user_message", "agent_response")}
    return CONVERSATION + orjson.dumps(entry | said).decode()


def summary(memory: Memory) -> dict[str, Any]:
    """A node in short, as the reports on other things show it."""
    return {
        "id": memory.id,
        "event_type": event_type_of(memory),
        "content": content_of(memory),
        "confidence": memory.confidence,
        **({"superseded": True} if memory.state is State.SUPERSEDED else {}),
    }


def node(memory: Memory, now: Moment) -> dict[str, Any]:
    """A node as memory_query shows it. What belongs to no session belongs to session 0."""
    return {
        **summary(memory),
        "session_id": memory.session_id or 0,
        "created_at": memory.created_at,
        "decay_score": round(decay(memory, now), 4),
        "access_count": memory.access_count,
    }


def edge(link: Edge) -> dict[str, Any]:
    """A link by the numbers of its ends."""
    return {
        "source_id": link.source_id,
        "target_id": link.target_id,
        "edge_type": link.type,
        "weight": link.weight,
    }


def known_edge_type(name: str) -> str:
    """*name*, or Invalid if there is no such type of edge."""
    if name not in EDGE_TYPES:
        raise Invalid(f"Unknown edge type: {name[:80]}", "edge_type")
    return name


def known_event_type(name: str) -> str:
    """*name*, or Invalid if there is no such type of event."""
    if name not in EVENT_TYPES:
        raise Invalid(f"Unknown event type: {name[:80]}", "event_type")
    return name


def known_event_types(names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Those of *names* that are types of events; None, which does not restrict, if none is."""
    return tuple(dict.fromkeys(name for name in names or () if name in EVENT_TYPES)) or None


def missing(operation: str, number: int) -> NotFound:
    """What is said of a node that an operation looked for in vain."""
    return NotFound(f"AgenticMemory error: {operation} failed: Node ID {number} not found")
