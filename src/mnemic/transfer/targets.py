"""Export to other systems: what their writers share. What a format cannot hold is counted, never dropped silently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from mnemic.core.context import GLOBAL, Context
from mnemic.core.memories import is_in_use
from mnemic.model.enums import State, Tier
from mnemic.model.filter import ANY_EDGE
from mnemic.model.graph import Edge, Entity, Relation
from mnemic.model.memory import Memory
from mnemic.storage.queries import each_edge, each_memory
from mnemic.transfer.system_files import ExportFile

TIMES, SOURCES, TYPES = "times", "sources", "types of links"
TOO_LONG, TO_NAMES, RENAMED = "ends of long texts", "links to mere names", "names that several bear"
TO_ITSELF = "links to itself"
ENDED = "ended links"
OF_MEMORIES: Mapping[str, Callable[[Memory], object]] = {
    "namespaces": lambda memory: memory.namespace != GLOBAL,
    "kinds": lambda memory: memory.kind != "note",
    "summaries": lambda memory: memory.summary,
    "tags": lambda memory: memory.tags,
    "priorities": lambda memory: memory.priority != 5,
    "confidences": lambda memory: memory.confidence != 1,
    "ratings": lambda memory: memory.quality is not None or memory.rating_count,
    "lifetimes": lambda memory: memory.tier is not Tier.LONG or memory.expires_at is not None,
    SOURCES: lambda memory: memory.source,
    "metadata": lambda memory: memory.metadata,
    "sessions": lambda memory: memory.session_id is not None,
    "periods of validity": lambda memory: memory.valid_from is not None or memory.valid_to is not None,
    "uses": lambda memory: memory.access_count,
    "statements apart": lambda memory: len(memory.statements) > 1,
    TIMES: lambda memory: True,
}
"""What a memory may have beyond title and text, and how to tell that it has."""
OF_LINKS: Mapping[str, Callable[[Edge], object]] = {
    "weights of links": lambda edge: edge.weight != 1,
    "reasons of links": lambda edge: edge.reason,
    "ratings of links": lambda edge: edge.quality is not None or edge.rating_count,
    "times of links": lambda edge: True,
}
GRAPH = frozenset({"kinds", "statements apart"})
"""What a graph file has a place for."""


@dataclass(frozen=True, slots=True)
class LivingGraph:
    """The living memories by id, the links between them, and the names that links point to."""

    memories: Mapping[int, Memory]
    edges: Sequence[Edge]
    names: Mapping[int, str]
    ended: int
    """How many links between them no longer hold."""

    def between_memories(self) -> list[Edge]:
        """The links whose ends are both memories."""
        return [edge for edge in self.edges if {edge.source_id, edge.target_id} <= self.memories.keys()]

    def lost(self, kept: frozenset[str], edges: Iterable[Edge]) -> Counter[str]:
        """How often each property occurs that the format does not keep."""
        lost = Counter({ENDED: self.ended})
        for what, has in OF_MEMORIES.items():
            if what not in kept:
                lost[what] = sum(bool(has(memory)) for memory in self.memories.values())
        for what, is_so in OF_LINKS.items():
            if what not in kept:
                lost[what] = sum(bool(is_so(edge)) for edge in edges)
        return lost


def export_with(write: Callable[[Context], ExportFile], ctx: Context) -> ExportFile:
    """Every living memory as a file of another system, by this writer."""
    sent = write(ctx)
    return ExportFile(sent.data, {what: count for what, count in sent.lost.items() if count})


def living_graph(ctx: Context) -> LivingGraph:
    """What an export holds, as of one moment."""
    with ctx.snapshot() as reader:
        memories: dict[int, Memory] = {}
        names: dict[int, str] = {}
        for memory in each_memory(reader):
            if is_in_use(ctx, memory):
                memories[memory.id] = memory
            elif memory.state is State.NAMED:
                names[memory.id] = memory.title
        ends = memories.keys() | names.keys()
        edges = [edge for edge in each_edge(reader, ANY_EDGE) if {edge.source_id, edge.target_id} <= ends]
    current = [edge for edge in edges if edge.is_current]
    return LivingGraph(memories, current, names, len(edges) - len(current))


def export_graph(
    ctx: Context, write: Callable[[Iterable[Entity], Iterable[Relation]], bytes], *, may_dangle: bool
) -> ExportFile:
    """The store as a graph file; links to mere names are left out unless relations *may dangle*."""
    graph = living_graph(ctx)
    titles = _names(graph.memories.values())
    edges = graph.edges if may_dangle else graph.between_memories()
    lost = graph.lost(GRAPH, edges)
    lost[RENAMED] = sum(titles[number] != memory.title for number, memory in graph.memories.items())
    lost[TO_NAMES] = len(graph.edges) - len(edges)
    entities = [
        Entity(number, titles[number], memory.kind, memory.texts) for number, memory in graph.memories.items()
    ]
    ends = {**graph.names, **titles}
    relations = [Relation(edge.id, ends[edge.source_id], ends[edge.target_id], edge.type) for edge in edges]
    return ExportFile(write(entities, relations) + b"\n", lost)


def links_to_names(ctx: Context) -> int:
    """How many links the JSON document has no place for, since it knows no names but those of memories."""
    graph = living_graph(ctx)
    return len(graph.edges) - len(graph.between_memories())


def _names(memories: Iterable[Memory]) -> dict[int, str]:
    """A name for each that no other has: its title, if need be with its namespace or its number behind it."""
    names: dict[int, str] = {}
    taken: set[str] = set()
    for memory in memories:
        tries = (memory.title, f"{memory.title} ({memory.namespace})", f"{memory.title} ({memory.id})")
        names[memory.id] = next((name for name in tries if name not in taken), memory.uid)
        taken.add(names[memory.id])
    return names


def dumped(content: Any) -> bytes:
    """*content* as indented JSON with a line break at the end."""
    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
