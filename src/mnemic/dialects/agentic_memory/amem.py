"""Carrying memories in from AgenticMemory's files and out into them."""

from __future__ import annotations

import os
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from mnemic.core.context import Context
from mnemic.core.memories import SUPERSEDES, in_use
from mnemic.core.sessions import TURN
from mnemic.dialects.agentic_memory import amem_file
from mnemic.dialects.agentic_memory.amem_file import Brain, FileLink, Node
from mnemic.errors import Invalid
from mnemic.model.access import EVERYTHING
from mnemic.model.enums import State
from mnemic.model.filter import Filter
from mnemic.model.graph import Edge, EdgeDraft
from mnemic.model.memory import Memory, Statement, is_beginning, title_of
from mnemic.model.time import Moment
from mnemic.search.decay import decay
from mnemic.storage.base import Store, Writer
from mnemic.storage.queries import each_memory
from mnemic.transfer.document import current_edges
from mnemic.transfer.records import UNKNOWN, End, LinkKey, LinkRecord, MemoryRecord, Record
from mnemic.transfer.system_files import RecordSource

LARGEST_FILE = 1 << 31
FAMILY = uuid.UUID("6a3c1f0e-52b7-4d0f-9d6e-0f4b8f1f7c55")
"""Makes the uids of nodes: the same node has the same one whatever file it comes in."""
SOURCE = "agentic-memory"
FIRST = 1
"""The number of node 0 where nodes keep theirs: memories are counted from 1."""
INFERENCE, FACT, RELATED = "inference", "fact", "related_to"
OTHER_NAMES = {"derived_from": "caused_by"}
"""Types of links that a file knows by another name."""


@dataclass(slots=True)
class Carried:
    """What was written to a file; *notes* tell what did not come along whole."""

    memories: int = 0
    links: int = 0
    notes: list[str] = field(default_factory=list)


def load(path: Path) -> Brain:
    """What the `.amem` file at *path* holds; Invalid, with its name and the fault, if it cannot be read."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size > LARGEST_FILE:
                raise Invalid(f"larger than {LARGEST_FILE} bytes", "path")
            return amem_file.read(file.read(LARGEST_FILE))
    except OSError as error:
        raise Invalid(f"{path.name} cannot be read: {error.strerror}", "path") from None
    except Invalid as error:
        raise Invalid(f"{path.name}: {error}", "path") from None


def read_amem(ctx: Context, path: Path) -> RecordSource:
    """The nodes and links of a file as records in the caller's namespace.

    Sessions are called after the file. Vectors stay behind, since our own model makes others.
    """
    brain = load(path)
    return RecordSource(_records(ctx, brain, path.stem), len(brain.nodes) + len(brain.links))


def _records(ctx: Context, brain: Brain, stem: str) -> Iterator[Record]:
    namespace, corrected = ctx.home(), _corrected(brain)
    for node in brain.nodes:
        name = f"amem:{stem}:{node.session}"
        session = (namespace, name, UNKNOWN) if node.session else None
        memory = _memory(node, namespace, corrected.get(node.id))
        yield MemoryRecord(f"node {node.id}", memory, session)
    ends = {node.id: End(uid_of(node)) for node in brain.nodes}
    for link in brain.links:
        if link.source != link.target:
            edge = Edge(
                id=0, source_id=0, target_id=0, type=link.type, weight=link.weight, created_at=link.created_at
            )
            key = LinkKey(ends[link.source], ends[link.target], link.type, link.created_at)
            yield LinkRecord(f"link {link.source} {link.target}", edge, key)


def _corrected(brain: Brain) -> dict[int, Moment]:
    """The nodes that others supersede, and since when."""
    return {
        link.target: link.created_at
        for link in brain.links
        if link.type == SUPERSEDES and link.source != link.target
    }


def uid_of(node: Node) -> str:
    """The uid of a node, the same in every file."""
    return str(uuid.uuid5(FAMILY, f"{node.id} {node.created_at} {node.text}"))


def _memory(node: Node, namespace: str, corrected_at: Moment | None, number: int = 0) -> Memory:
    # A database gives a text back only up to the first zero.
    text = node.text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return Memory(
        id=number,
        uid=uid_of(node),
        namespace=namespace,
        title=title_of(text) if text.strip() else f"Node {node.id}",
        kind=node.type,
        confidence=node.confidence,
        source=SOURCE,
        created_at=node.created_at,
        updated_at=node.created_at,
        accessed_at=node.accessed_at if node.access_count else None,
        access_count=node.access_count,
        days_used=min(1, node.access_count),
        state=State.LIVING if corrected_at is None else State.SUPERSEDED,
        state_at=corrected_at,
        statements=(Statement(0, text),) if text.strip() else (),
    )


def fill(store: Store, brain: Brain, at: Moment) -> None:
    """Put a whole file into an empty *store*. The number of a memory there is its node's plus FIRST."""
    corrected = _corrected(brain)
    numbers = {node.id: node.id + FIRST for node in brain.nodes}

    def work(tx: Writer) -> None:
        for node in brain.nodes:
            put = tx.import_memory(_memory(node, SOURCE, corrected.get(node.id), numbers[node.id]))
            if put.id != numbers[node.id]:
                raise Invalid(f"node {node.id} is numbered too far beyond the others", "path")
        for link in brain.links:
            if link.source != link.target:
                ends = numbers[link.source], numbers[link.target]
                tx.insert_edge(EdgeDraft(*ends, link.type, weight=link.weight, created_at=link.created_at))

    store.change(EVERYTHING, "import", SOURCE, at, work, durable=False)


def packed(ctx: Context) -> tuple[bytes, Carried]:
    """The living memories, and what they correct, as the bytes of a file, and what did not fit into it.

    A kind that AgenticMemory does not have becomes a fact, such a link `related_to`; a title that is not the beginning
    of its text is put before it.
    """
    done = Carried()
    with ctx.snapshot() as reader:
        edges = list(current_edges(reader))
        kept = set(reader.select(in_use(ctx)))
        kept |= _corrected_by(kept, edges, set(reader.select(Filter(states=frozenset({State.SUPERSEDED})))))
        nodes = {
            memory.id: _node(memory, ctx.now(), done) for memory in each_memory(reader) if memory.id in kept
        }
        links = _links((edge for edge in edges if {edge.source_id, edge.target_id} <= kept), done)
    done.memories, done.links = len(nodes), len(links)
    return amem_file.write(Brain(tuple(nodes.values()), links)), done


def _corrected_by(kept: Set[int], edges: Sequence[Edge], superseded: Set[int]) -> set[int]:
    """Those *superseded* by the *kept*, directly or in turn. A file knows them by the link alone."""
    corrects = defaultdict[int, list[int]](list)
    for edge in edges:
        if edge.type == SUPERSEDES and edge.target_id in superseded:
            corrects[edge.source_id].append(edge.target_id)
    found, ahead = set[int](), list(kept)
    while ahead:
        news = [old for old in corrects[ahead.pop()] if old not in found]
        found.update(news)
        ahead.extend(news)
    return found


def _node(memory: Memory, now: Moment, done: Carried) -> Node:
    session = memory.session_id or 0
    return Node(
        id=memory.id,
        type=_event_type(memory.kind),
        text=_fitted(memory, done),
        created_at=max(0, memory.created_at),
        session=session if session <= amem_file.LARGEST_SESSION else 0,
        confidence=min(1.0, max(0.0, memory.confidence)),
        access_count=memory.access_count,
        accessed_at=max(0, memory.accessed_at or memory.created_at),
        decay=decay(memory, now),
    )


def _event_type(kind: str) -> str:
    if kind == TURN:
        return INFERENCE
    return kind if kind in amem_file.EVENT_TYPES else FACT


def _fitted(memory: Memory, done: Carried) -> str:
    body = memory.content
    is_made = body.startswith(memory.title) or is_beginning(memory.title, body)
    text = body if is_made else f"{memory.title}\n{body}".rstrip("\n")
    data = text.encode()
    if len(data) <= amem_file.LONGEST_TEXT:
        return text
    done.notes.append(f"memory {memory.id}: cut to {amem_file.LONGEST_TEXT} of {len(data)} bytes")
    return data[: amem_file.LONGEST_TEXT].decode(errors="ignore")


def _links(edges: Iterable[Edge], done: Carried) -> list[FileLink]:
    links, begun = [], Counter[int]()
    for edge in edges:
        if edge.source_id == edge.target_id:
            continue
        begun[edge.source_id] += 1
        if begun[edge.source_id] <= amem_file.MOST_LINKS:
            links.append(_link(edge))
    done.notes.extend(
        f"memory {number}: {count - amem_file.MOST_LINKS} of {count} links left out"
        for number, count in begun.items()
        if count > amem_file.MOST_LINKS
    )
    return links


def _link(edge: Edge) -> FileLink:
    type = OTHER_NAMES.get(edge.type, edge.type)
    return FileLink(
        source=edge.source_id,
        target=edge.target_id,
        type=type if type in amem_file.LINK_TYPES else RELATED,
        weight=min(1.0, max(0.0, edge.weight)),
        created_at=max(0, edge.created_at),
    )
