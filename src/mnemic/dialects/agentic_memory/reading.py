"""What tools and resources both read: lists of nodes in an order, and the graph in numbers."""

from __future__ import annotations

import heapq
from collections import Counter
from typing import Any

from mnemic.core import resemblance, sessions
from mnemic.core.context import Context
from mnemic.dialects.agentic_memory.shapes import EVENT_TYPES, event_type, readable
from mnemic.model.memory import Memory
from mnemic.model.search import Filter, Order
from mnemic.retrieval.decay import decay

MOST_RECENT, MOST_IMPORTANT = "most_recent", "most_important"
ORDERS = {
    MOST_RECENT: Order.NEWEST,
    "highest_confidence": Order.CONFIDENCE,
    "most_accessed": Order.USE,
}


def listed(ctx: Context, wanted: Filter, order: str, limit: int) -> list[Memory]:
    """The first *limit* memories that pass *wanted* in this order; the most important are those least decayed."""
    reader = ctx.store.read()
    if order in ORDERS:
        return reader.memories(reader.select(wanted, limit=limit, order=ORDERS[order]))
    now = ctx.now()
    best = heapq.nlargest(limit, reader.standings(wanted), key=lambda one: (decay(one, now), one.memory_id))
    return reader.memories([one.memory_id for one in best])


def stats(ctx: Context) -> dict[str, Any]:
    """The graph in numbers."""
    reader, shown = ctx.store.read(), readable(ctx)
    types = Counter(dict.fromkeys(EVENT_TYPES, 0))
    for kind, count in reader.tally(shown).items():
        types[event_type(kind)] += count
    return {
        "node_count": types.total(),
        "edge_count": sum(reader.edge_tally(shown).values()),
        "dimension": resemblance.dimension(ctx),
        "session_count": reader.session_count(ctx.scope()),
        "type_counts": dict(types),
        "file_size_bytes": reader.size_bytes() if ctx.granted is None else 0,
        "current_session": sessions.current(ctx) or 0,
        "file_path": ctx.store.location,
    }
