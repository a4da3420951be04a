"""What its answers share: nodes, edges, the closed sets of their types, and the error for a node that is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import orjson
from pydantic import Field

from mnemic.core.context import Context
from mnemic.core.memories import KNOWN
from mnemic.core.sessions import TURN, turn_of
from mnemic.dialects.agentic_memory.amem_file import LONGEST_TEXT
from mnemic.errors import Invalid, NotFound
from mnemic.model.enums import State
from mnemic.model.filter import Filter
from mnemic.model.graph import Edge, Link
from mnemic.model.memory import Memory, is_beginning
from mnemic.model.time import Moment
from mnemic.search.decay import decay

FACT, INFERENCE = "fact", "inference"
EVENT_TYPES = (FACT, "decision", INFERENCE, "correction", "skill", "episode")
EDGE_TYPES = (
    *("caused_by", "derived_from", "supports", "contradicts"),
    *("supersedes", "related_to", "part_of", "temporal_next"),
)
LARGEST = 2**63 - 1
MOST_RESULTS = 100_000
CONVERSATION = "[conversation_meta] "
CHANNEL = "conversation"

Number = Annotated[int, Field(ge=0, le=LARGEST)]
"""Of a node or a session."""
Microseconds = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
"""Since 1970, or before."""
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0, le=MOST_RESULTS)]


def event_type(kind: str) -> str:
    """What a memory of this kind is here: a turn of a conversation is an inference, an unknown kind a fact."""
    if kind == TURN:
        return INFERENCE
    return kind if kind in EVENT_TYPES else FACT


def content_of(memory: Memory) -> str:
    """What *memory* says: of a turn who said what, of a mere name the name."""
    turn = turn_of(memory)
    if turn is None:
        return memory.content or memory.title
    entry = {"channel": CHANNEL, "version": 1}
    fields = {key: turn.get(key) for key in ("topic", "user_message", "agent_response")}
    return CONVERSATION + orjson.dumps(entry | fields).decode()


def summary(memory: Memory) -> dict[str, Any]:
    """A node in short, as the reports on other things show it; what was given a name has it as its title."""
    is_named = not is_beginning(memory.title, memory.content or memory.title)
    return {
        "id": memory.id,
        "event_type": event_type(memory.kind),
        **({"title": memory.title} if is_named else {}),
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


def by_node_id(shown: dict[str, Any]) -> dict[str, Any]:
    """A node as answers show it that are no lists of nodes: its id goes by `node_id`."""
    return {"node_id": shown["id"], **{name: value for name, value in shown.items() if name != "id"}}


def edges_at(number: int, links: Sequence[Link]) -> dict[str, Any]:
    """Those of *links* that begin and that end at a node."""
    return {
        "outgoing_edges": [edge(link) for link in links if link.source_id == number],
        "incoming_edges": [edge(link) for link in links if link.target_id == number],
    }


def edge(link: Edge | Link) -> dict[str, Any]:
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


def of_types(names: Sequence[str] | None) -> dict[str, Any]:
    """Filter fields that select these event types. Unknown types are ignored; no known type selects everything.

    Kinds that are no event type count as facts, so facts are selected by excluding the other types.
    """
    wanted = {name for name in names or () if name in EVENT_TYPES}
    if not wanted:
        return {}
    if FACT in wanted:
        return {"not_kinds": _kinds(set(EVENT_TYPES) - wanted)}
    return {"kinds": _kinds(wanted)}


def _kinds(types: set[str]) -> tuple[str, ...]:
    return (*sorted(types), *((TURN,) if INFERENCE in types else ()))


def readable(ctx: Context, types: Sequence[str] | None = None, **more: Any) -> Filter:
    """What this dialect shows: the living and what they have superseded, of these types of events."""
    return Filter(namespaces=ctx.scope(), states=KNOWN, alive_at=ctx.now(), **of_types(types), **more)


def findable(ctx: Context, types: Sequence[str] | None = None) -> Filter:
    """What can be searched for: the living, of these types of events."""
    return Filter(namespaces=ctx.scope(), alive_at=ctx.now(), **of_types(types))


def missing(operation: str, number: int) -> NotFound:
    """Message for a node that does not exist."""
    return NotFound(f"AgenticMemory error: {operation} failed: Node ID {number} not found")


def fitting(text: str | None, field: str) -> None:
    """Invalid if *text* is too long for a node."""
    length = len((text or "").encode())
    if length > LONGEST_TEXT:
        raise Invalid(f"{field} must not be longer than {LONGEST_TEXT} bytes, got {length}", field)


def pretty(content: object) -> str:
    """*content* as JSON over several lines."""
    return orjson.dumps(content, option=orjson.OPT_INDENT_2).decode()
