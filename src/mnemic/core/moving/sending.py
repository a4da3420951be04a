"""Sending memories to other systems: what each of them reads, and what it has no place for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from mnemic.core.context import GLOBAL, Context
from mnemic.core.memories import is_in_use
from mnemic.core.moving import carrying
from mnemic.core.moving.documents import current_edges, export_json
from mnemic.formats import amem, graphs, lore
from mnemic.formats.document import CONTROL, RELATIONS
from mnemic.model.graph import Edge, Entity, Relation
from mnemic.model.memory import Memory, Statement
from mnemic.model.texts import cut
from mnemic.model.values import State, Tier

TIMES, SOURCES, TYPES = "times", "sources", "types of links"
TOO_LONG, TO_NAMES, RENAMED = "ends of long texts", "links to mere names", "names that several bear"
TO_ITSELF = "links to itself"
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
"""What each kind of file has a place for."""
AI_MEMORY = frozenset(
    {"namespaces", "tags", "priorities", "confidences", "lifetimes", SOURCES, "metadata", "uses", TIMES}
    | {"times of links"}
)
LOREKEEPER = frozenset(
    {"namespaces", "summaries", "ratings", "uses", TIMES}
    | {"reasons of links", "ratings of links", "times of links"}
)
AGENTIC_MEMORY = frozenset({"sessions", "confidences", "uses", TIMES, "weights of links", "times of links"})
# ai-memory refuses what is larger, or named or related otherwise.
LONGEST_TITLE, LONGEST_CONTENT, MOST_TAGS, LONGEST_NAME = 512, 65_536, 50, 128
AI_SOURCES = frozenset({"user", "claude", "hook", "api", "cli", "import", "consolidation", "system"})
BROUGHT = "import"
RELATED = "related_to"
_UNNAMEABLE = re.compile(r"[\s/\\\x00-\x1f\x7f]+")


@dataclass(frozen=True, slots=True)
class Sent:
    """The bytes of a file that another system reads, and how often what has no place there."""

    data: bytes
    lost: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Stock:
    """What is living, by number, the links between, and the names that links point to."""

    memories: Mapping[int, Memory]
    edges: Sequence[Edge]
    names: Mapping[int, str]

    def between_memories(self) -> list[Edge]:
        return [edge for edge in self.edges if {edge.source_id, edge.target_id} <= self.memories.keys()]

    def lost(self, kept: frozenset[str], edges: Iterable[Edge]) -> Counter[str]:
        """How often each of the things occurs that are not *kept*."""
        lost = Counter[str]()
        for what, has in OF_MEMORIES.items():
            if what not in kept:
                lost[what] = sum(bool(has(memory)) for memory in self.memories.values())
        for what, is_so in OF_LINKS.items():
            if what not in kept:
                lost[what] = sum(bool(is_so(edge)) for edge in edges)
        return lost


def send(ctx: Context, system: str) -> Sent:
    """Everything living as a file that *system* reads."""
    sent = WRITERS[system](ctx)
    return Sent(sent.data, {what: count for what, count in sent.lost.items() if count})


def _stock(ctx: Context) -> _Stock:
    with ctx.store.snapshot() as reader:
        memories: dict[int, Memory] = {}
        names: dict[int, str] = {}
        for memory in reader.all_memories():
            if is_in_use(ctx, memory):
                memories[memory.id] = memory
            elif memory.state is State.NAMED and ctx.may_see(memory.namespace):
                names[memory.id] = memory.title
        ends = memories.keys() | names.keys()
        edges = [edge for edge in current_edges(reader) if {edge.source_id, edge.target_id} <= ends]
    return _Stock(memories, edges, names)


# -- graphs


def _anthropic(ctx: Context) -> Sent:
    return _graph(ctx, graphs.write_lines, may_dangle=True)


def _simple_memory(ctx: Context) -> Sent:
    return _graph(ctx, graphs.write_document, may_dangle=True)


def _mcp_memory(ctx: Context) -> Sent:
    return _graph(ctx, graphs.write_lines, may_dangle=False)


def _graph(
    ctx: Context, write: Callable[[Iterable[Entity], Iterable[Relation]], bytes], *, may_dangle: bool
) -> Sent:
    stock = _stock(ctx)
    titles = _names(stock.memories.values())
    edges = stock.edges if may_dangle else stock.between_memories()
    lost = stock.lost(GRAPH, edges)
    lost[RENAMED] = sum(titles[number] != memory.title for number, memory in stock.memories.items())
    lost[TO_NAMES] = len(stock.edges) - len(edges)
    entities = [
        Entity(number, titles[number], memory.kind, memory.texts) for number, memory in stock.memories.items()
    ]
    ends = {**stock.names, **titles}
    relations = [Relation(edge.id, ends[edge.source_id], ends[edge.target_id], edge.type) for edge in edges]
    return Sent(write(entities, relations) + b"\n", lost)


def links_to_names(ctx: Context) -> int:
    """How many links the JSON document has no place for, since it knows no names but those of memories."""
    stock = _stock(ctx)
    return len(stock.edges) - len(stock.between_memories())


def _names(memories: Iterable[Memory]) -> dict[int, str]:
    """A name for each that no other has: its title, if need be with its namespace or its number behind it."""
    names: dict[int, str] = {}
    taken: set[str] = set()
    for memory in memories:
        tries = (memory.title, f"{memory.title} ({memory.namespace})", f"{memory.title} ({memory.id})")
        names[memory.id] = next((name for name in tries if name not in taken), memory.uid)
        taken.add(names[memory.id])
    return names


# -- memories


def _ai_memory(ctx: Context) -> Sent:
    """The JSON document. What ai-memory has no word for stands there under names that it passes over."""
    stock = _stock(ctx)
    lost = stock.lost(AI_MEMORY, stock.between_memories())
    lost[TO_NAMES] = len(stock.edges) - len(stock.between_memories())
    lost[SOURCES] = sum((memory.source or BROUGHT) not in AI_SOURCES for memory in stock.memories.values())
    content = export_json(ctx)
    for entry in content["memories"]:
        _fit(entry, lost)
    links = [link for link in content["links"] if link["source_id"] != link["target_id"]]
    lost[TO_ITSELF] = len(content["links"]) - len(links)
    for link in links:
        if link["relation"] not in RELATIONS:
            lost[TYPES] += 1
            link["relation"] = RELATED
    return Sent(_dumped({**content, "links": links}), lost)


def _fit(entry: dict[str, Any], lost: Counter[str]) -> None:
    """Make of *entry* what ai-memory accepts: none of its texts empty or too long, a namespace of one word."""
    before = (entry["title"], entry["content"], entry["namespace"], entry["tags"])
    title = cut(CONTROL.sub("", entry["title"]), LONGEST_TITLE)
    content = cut(CONTROL.sub("", entry["content"]), LONGEST_CONTENT)
    plain = (CONTROL.sub("", tag) for tag in entry["tags"])
    tags = [cut(tag, LONGEST_NAME) for tag in plain if tag.strip()][:MOST_TAGS]
    namespace = cut(_UNNAMEABLE.sub("-", entry["namespace"]), LONGEST_NAME)
    entry |= {"title": title, "content": content if content.strip() else title}
    entry |= {"namespace": namespace or GLOBAL, "tags": tags}
    if entry["source"] not in AI_SOURCES:
        entry["source"] = BROUGHT
    if content != before[1] or title != before[0] or tags != before[3]:
        lost[TOO_LONG] += 1
    if namespace != before[2]:
        lost["namespaces"] += 1


def _lorekeeper(ctx: Context) -> Sent:
    stock = _stock(ctx)
    edges = _once(stock.between_memories())
    lost = stock.lost(LOREKEEPER, edges)
    lost[TO_NAMES] = len(stock.edges) - len(stock.between_memories())
    lost[TYPES] = sum(edge.type not in lore.RELATIONS for edge in edges)
    memories = map(_with_text, stock.memories.values())
    return Sent(_dumped(lore.document(memories, edges, ctx.now())), lost)


def _once(edges: Iterable[Edge]) -> list[Edge]:
    """Each link once: a database of Lorekeeper holds no two of the same ends and type."""
    return list({(edge.source_id, edge.target_id, edge.type): edge for edge in edges}.values())


def _with_text(memory: Memory) -> Memory:
    """*memory*, its title as its text if it has no other."""
    return memory if memory.content.strip() else replace(memory, statements=(Statement(0, memory.title),))


def _agentic_memory(ctx: Context) -> Sent:
    stock = _stock(ctx)
    edges = stock.between_memories()
    lost = stock.lost(AGENTIC_MEMORY, edges)
    lost[TO_ITSELF] = sum(edge.source_id == edge.target_id for edge in edges)
    lost["kinds"] = sum(memory.kind not in (*amem.EVENT_TYPES, "note") for memory in stock.memories.values())
    known = {*amem.LINK_TYPES, *carrying.OTHER_NAMES}
    lost[TYPES] = sum(edge.type not in known for edge in edges)
    lost[TO_NAMES] = len(stock.edges) - len(edges)
    data, done = carrying.packed(ctx)
    lost[TOO_LONG] = len(done.notes)
    return Sent(data, lost)


def _dumped(content: Any) -> bytes:
    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


WRITERS: Mapping[str, Callable[[Context], Sent]] = {
    "anthropic": _anthropic,
    "simple-memory": _simple_memory,
    "mcp-memory": _mcp_memory,
    "ai-memory": _ai_memory,
    "lorekeeper": _lorekeeper,
    "agentic-memory": _agentic_memory,
}
"""Who writes what each system reads."""
