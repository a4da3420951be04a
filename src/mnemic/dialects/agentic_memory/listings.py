"""What tools and resources both read: lists of nodes in an order, and the graph in numbers."""

from __future__ import annotations

import heapq
from collections import Counter
from typing import Any

from mnemic.core import sessions
from mnemic.core.context import Context
from mnemic.dialects.agentic_memory import similar
from mnemic.dialects.agentic_memory.types import EVENT_TYPES, event_type, readable
from mnemic.model.filter import EdgeFilter, Filter, Order, SessionFilter
from mnemic.model.memory import Memory
from mnemic.model.shapes import Standing
from mnemic.search.decay import decay
from mnemic.storage.queries import count

MOST_RECENT, MOST_IMPORTANT = "most_recent", "most_important"
ORDERS = {
    MOST_RECENT: Order.NEWEST,
    "highest_confidence": Order.CONFIDENCE,
    "most_accessed": Order.USE,
}


def listed(ctx: Context, wanted: Filter, order: str, limit: int) -> list[Memory]:
    """The first *limit* memories that pass *wanted* in this order; the most important are those least decayed."""
    reader = ctx.read()
    if order in ORDERS:
        return reader.get(reader.select(wanted, limit=limit, order=ORDERS[order]))
    now = ctx.now()
    best = heapq.nlargest(limit, reader.look(wanted, Standing), key=lambda one: (decay(one, now), one.id))
    return reader.get([one.id for one in best])


def stats(ctx: Context) -> dict[str, Any]:
    """The graph in numbers."""
    reader, shown = ctx.read(), readable(ctx)
    types = Counter(dict.fromkeys(EVENT_TYPES, 0))
    for kind, of_kind in reader.tally(shown, "kind").items():
        types[event_type(kind)] += of_kind
    return {
        "node_count": types.total(),
        "edge_count": count(reader, EdgeFilter(ends=shown, is_current=True)),
        "dimension": similar.dimension(ctx),
        "session_count": count(reader, SessionFilter(namespaces=ctx.scope())),
        "type_counts": dict(types),
        "file_size_bytes": reader.size_bytes(),
        "current_session": sessions.current(ctx) or 0,
        "file_path": ctx.store.location,
    }
