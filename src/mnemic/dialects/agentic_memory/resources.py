"""The graph by address: its numbers, its nodes, its sessions. Reading here is not counted as use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mnemic.core.context import Context
from mnemic.core.traversal import known_memory, links_at
from mnemic.dialects.agentic_memory.listings import MOST_IMPORTANT, MOST_RECENT, listed, stats
from mnemic.dialects.agentic_memory.types import EVENT_TYPES, edges_at, node, pretty, readable
from mnemic.dialects.framework import Resource
from mnemic.errors import Invalid, NotFound
from mnemic.model.filter import Filter
from mnemic.storage.queries import session_numbered

SHOWN = 20
"""How many of the latest and the most important nodes are shown."""
MOST_SHOWN = 1_000
DIGITS = 19
"""Numbers with more digits than this exceed any node id."""
JSON = "application/json"

Parts = Mapping[str, str]


def _number(text: str, what: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < DIGITS):
        raise Invalid(f"Invalid {what} ID: {text[:40]}", what)
    return int(text)


def _nodes(ctx: Context, wanted: Filter, order: str, limit: int) -> dict[str, Any]:
    now = ctx.now()
    nodes = [node(memory, now) for memory in listed(ctx, wanted, order, limit)]
    return {"count": len(nodes), "nodes": nodes}


def _read_stats(ctx: Context, parts: Parts) -> str:
    return pretty(stats(ctx))


def _read_recent(ctx: Context, parts: Parts) -> str:
    return pretty(_nodes(ctx, readable(ctx), MOST_RECENT, SHOWN))


def _read_important(ctx: Context, parts: Parts) -> str:
    return pretty(_nodes(ctx, readable(ctx), MOST_IMPORTANT, SHOWN))


def _read_node(ctx: Context, parts: Parts) -> str:
    number = _number(parts["id"], "node")
    try:
        memory = known_memory(ctx.read(), ctx, number)
    except NotFound:
        raise NotFound(f"Node not found: {number}") from None
    return pretty({**node(memory, ctx.now()), **edges_at(number, links_at(ctx, [number]))})


def _read_session(ctx: Context, parts: Parts) -> str:
    number = _number(parts["id"], "session")
    session = session_numbered(ctx.read(), number)
    if session is None:
        raise NotFound(f"Session not found: {number}")
    found = _nodes(ctx, readable(ctx, session_ids=(number,)), MOST_RECENT, MOST_SHOWN)
    times = {"started_at": session.started_at, "ended_at": session.ended_at}
    return pretty({"session_id": number, **times, "summary": session.summary, **found})


def _read_type(ctx: Context, parts: Parts) -> str:
    name = parts["type"]
    if name not in EVENT_TYPES:
        raise NotFound(f"Unknown event type: {name[:80]}")
    return pretty({"event_type": name, **_nodes(ctx, readable(ctx, [name]), MOST_RECENT, MOST_SHOWN)})


RESOURCES = (
    Resource(
        template="amem://graph/stats",
        name="graph-stats",
        title="Statistics",
        description="The graph in numbers.",
        mime=JSON,
        read=_read_stats,
        is_live=True,
    ),
    Resource(
        template="amem://graph/recent",
        name="graph-recent",
        title="Recent memories",
        description="The twenty newest nodes.",
        mime=JSON,
        read=_read_recent,
        is_live=True,
    ),
    Resource(
        template="amem://graph/important",
        name="graph-important",
        title="Important memories",
        description="The twenty nodes least decayed.",
        mime=JSON,
        read=_read_important,
        is_live=True,
    ),
    Resource(
        template="amem://node/{id}",
        name="node",
        title="One node",
        description="A node by its ID, with its edges.",
        mime=JSON,
        read=_read_node,
    ),
    Resource(
        template="amem://session/{id}",
        name="session",
        title="One session",
        description="A session by its ID, with its nodes, newest first.",
        mime=JSON,
        read=_read_session,
    ),
    Resource(
        template="amem://types/{type}",
        name="types",
        title="Nodes of a type",
        description="The nodes of an event type, newest first.",
        mime=JSON,
        read=_read_type,
    ),
)
