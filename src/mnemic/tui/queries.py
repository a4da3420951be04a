"""What the terminal interface reads: hits while one types, the newest memories, and one memory with its links."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.core import memories
from mnemic.core.context import Context
from mnemic.core.embedding_queue import embed_backlog
from mnemic.core.recall import ordered, vector_of
from mnemic.model.filter import Filter, Hit, Order, Query
from mnemic.model.graph import Edge
from mnemic.model.limits import MAX_QUERY_CHARACTERS
from mnemic.model.memory import Memory
from mnemic.search.ranking import NATIVE

MOST_ROWS = 50


@dataclass(frozen=True, slots=True)
class Row:
    """A memory in a list, and the hit it is, if it answers a question."""

    memory: Memory
    hit: Hit | None = None


@dataclass(frozen=True, slots=True)
class Details:
    """A memory, the hit it is, and its links with the memory at the other end."""

    row: Row
    links: tuple[tuple[Edge, Memory], ...]


def search(ctx: Context, text: str) -> list[Row]:
    """The hits of *text*, best first; the newest memories if it is empty. Counts no use, unlike a recall."""
    asked = text.strip()[:MAX_QUERY_CHARACTERS]
    wanted = Filter(namespaces=ctx.scope(), alive_at=ctx.now())
    if not asked:
        reader = ctx.read()
        return [Row(one) for one in reader.get(reader.select(wanted, limit=MOST_ROWS, order=Order.NEWEST))]
    embed_backlog(ctx, wanted)
    query = Query(text=asked, filter=wanted, limit=MOST_ROWS, now=ctx.now())
    return [Row(hit.memory, hit) for hit in ordered(ctx, query, vector_of(ctx, asked, wanted), NATIVE)]


def details(ctx: Context, row: Row) -> Details:
    """The present memory of *row*, with its links."""
    reader = ctx.read()
    memory = memories.find(ctx, row.memory.id)
    edges = memories.links_of(reader, ctx, memory)
    ends = {edge.id: _other_end(edge, memory.id) for edge in edges}
    found = {one.id: one for one in reader.get(sorted(set(ends.values())))}
    links = tuple((edge, found[ends[edge.id]]) for edge in edges if ends[edge.id] in found)
    return Details(Row(memory, row.hit), links)


def _other_end(edge: Edge, number: int) -> int:
    return edge.target_id if edge.source_id == number else edge.source_id
