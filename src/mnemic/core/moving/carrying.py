"""Carrying memories in from AgenticMemory's files and out into them."""

from __future__ import annotations

import os
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mnemic.core.batches import batches
from mnemic.core.context import Context
from mnemic.core.memories import SUPERSEDES, is_in_use, title_of
from mnemic.core.moving.arrivals import TITLES_TOLD
from mnemic.core.moving.documents import current_edges
from mnemic.core.sessions import TURN
from mnemic.errors import Invalid
from mnemic.formats import amem
from mnemic.formats.amem import Brain, Link, Node
from mnemic.model.graph import Edge
from mnemic.model.memory import Memory, Statement, is_beginning
from mnemic.model.values import Moment, State
from mnemic.retrieval.decay import decay
from mnemic.storage.base import Progress, Store, Writer

BATCH = 500
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
    """What was carried. *skipped* memories were there already; *notes* tell what did not come along whole."""

    memories: int = 0
    links: int = 0
    skipped: int = 0
    notes: list[str] = field(default_factory=list)
    titles: list[str] = field(default_factory=list, compare=False)
    """What the first few of those carried in are called."""


def load(path: Path) -> Brain:
    """What the `.amem` file at *path* holds; Invalid, with its name and what is wrong, if it cannot be read."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size > LARGEST_FILE:
                raise Invalid(f"larger than {LARGEST_FILE} bytes", "path")
            return amem.read(file.read(LARGEST_FILE))
    except OSError as error:
        raise Invalid(f"{path.name} cannot be read: {error.strerror}", "path") from None
    except Invalid as error:
        raise Invalid(f"{path.name}: {error}", "path") from None


def read_amem(ctx: Context, path: Path, *, progress: Progress | None = None) -> Carried:
    """Take the nodes and links of a file into the caller's namespace; what came before is skipped.

    Sessions are called after the file. Vectors stay behind, since our own model makes others.
    """
    brain = load(path)
    done = Carried()
    numbers: dict[int, int] = {}
    corrected = _corrected(brain)
    total = len(brain.nodes) + len(brain.links)
    for nodes in batches(brain.nodes, BATCH):
        with ctx.write("import") as tx:
            for node in nodes:
                numbers[node.id] = _take_node(tx, ctx, node, path.stem, corrected.get(node.id), done)
        _tell(progress, len(numbers), total)
    for place, links in enumerate(batches(brain.links, BATCH)):
        with ctx.write("import") as tx:
            done.links += sum(_take_link(tx, link, numbers) for link in links)
        _tell(progress, len(numbers) + place * BATCH + len(links), total)
    ctx.wake()
    return done


def _tell(progress: Progress | None, done: int, total: int) -> None:
    if progress:
        progress(done, total)


def _corrected(brain: Brain) -> dict[int, Moment]:
    """The nodes that others supersede, and since when."""
    return {
        link.target: link.created_at
        for link in brain.links
        if link.type == SUPERSEDES and link.source != link.target
    }


def uid_of(node: Node) -> str:
    """The uid of a node, whatever file it comes in."""
    return str(uuid.uuid5(FAMILY, f"{node.id} {node.created_at} {node.text}"))


def _take_node(
    tx: Writer, ctx: Context, node: Node, stem: str, corrected_at: Moment | None, done: Carried
) -> int:
    """The number of the memory that *node* is here."""
    uid, namespace = uid_of(node), ctx.home()
    known = tx.ids_with_uid(uid, 1)
    if known:
        done.skipped += 1
        return known[0]
    session = tx.session(namespace, f"amem:{stem}:{node.session}", node.created_at) if node.session else None
    done.memories += 1
    memory = _put(tx, node, uid, namespace, session, corrected_at)
    if len(done.titles) < TITLES_TOLD:
        done.titles.append(memory.title)
    return memory.id


def _put(
    tx: Writer,
    node: Node,
    uid: str,
    namespace: str,
    session: int | None,
    corrected_at: Moment | None,
    number: int = 0,
) -> Memory:
    # A database gives a text back only up to the first zero.
    text = node.text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    title = title_of(text) if text.strip() else f"Node {node.id}"
    return tx.take_in(
        Memory(
            id=number,
            uid=uid,
            namespace=namespace,
            title=title if corrected_at is not None else tx.unused_title(namespace, title),
            kind=node.type,
            confidence=node.confidence,
            source=SOURCE,
            session_id=session,
            created_at=node.created_at,
            updated_at=node.created_at,
            accessed_at=node.accessed_at if node.access_count else None,
            access_count=node.access_count,
            days_used=min(1, node.access_count),
            state=State.LIVING if corrected_at is None else State.SUPERSEDED,
            state_at=corrected_at,
            statements=(Statement(0, text),) if text.strip() else (),
        )
    )


def _take_link(tx: Writer, link: Link, numbers: Mapping[int, int]) -> bool:
    """Whether the link was made: not if it stands already, or leads from a node to itself."""
    source, target = numbers[link.source], numbers[link.target]
    if source == target or tx.has_edge(source, target, link.type, link.created_at):
        return False
    tx.add_edge(source, target, link.type, weight=link.weight, created_at=link.created_at)
    return True


def fill(store: Store, brain: Brain, at: Moment) -> None:
    """Put a whole file into an empty *store*. The number of a memory there is its node's plus FIRST."""
    corrected = _corrected(brain)
    numbers = {node.id: node.id + FIRST for node in brain.nodes}
    with store.write(operation="import", actor=SOURCE, at=at, durable=False) as tx:
        for node in brain.nodes:
            put = _put(tx, node, uid_of(node), SOURCE, None, corrected.get(node.id), numbers[node.id])
            if put.id != numbers[node.id]:
                raise Invalid(f"node {node.id} is numbered too far beyond the others", "path")
        for link in brain.links:
            _take_link(tx, link, numbers)


def packed(ctx: Context) -> tuple[bytes, Carried]:
    """What is living as the bytes of a file, and what of it did not come along whole.

    A kind that AgenticMemory does not have becomes a fact, such a link `related_to`; a title that is not the beginning
    of its text is put before it.
    """
    done = Carried()
    with ctx.store.snapshot() as reader:
        living = (memory for memory in reader.all_memories() if is_in_use(ctx, memory))
        nodes = {memory.id: _node(memory, ctx.now(), done) for memory in living}
        standing = current_edges(reader)
        between = (edge for edge in standing if edge.source_id in nodes and edge.target_id in nodes)
        links = _links(between, done)
    done.memories, done.links = len(nodes), len(links)
    return amem.write(Brain(tuple(nodes.values()), links)), done


def _node(memory: Memory, now: Moment, done: Carried) -> Node:
    session = memory.session_id or 0
    return Node(
        id=memory.id,
        type=_event_type(memory.kind),
        text=_fitted(memory, done),
        created_at=max(0, memory.created_at),
        session=session if session <= amem.LARGEST_SESSION else 0,
        confidence=min(1.0, max(0.0, memory.confidence)),
        access_count=memory.access_count,
        accessed_at=max(0, memory.accessed_at or memory.created_at),
        decay=decay(memory, now),
    )


def _event_type(kind: str) -> str:
    if kind == TURN:
        return INFERENCE
    return kind if kind in amem.EVENT_TYPES else FACT


def _fitted(memory: Memory, done: Carried) -> str:
    body = memory.content
    is_made = body.startswith(memory.title) or is_beginning(memory.title, body)
    text = body if is_made else f"{memory.title}\n{body}".rstrip("\n")
    data = text.encode()
    if len(data) <= amem.LONGEST_TEXT:
        return text
    done.notes.append(f"memory {memory.id}: cut to {amem.LONGEST_TEXT} of {len(data)} bytes")
    return data[: amem.LONGEST_TEXT].decode(errors="ignore")


def _links(edges: Iterable[Edge], done: Carried) -> list[Link]:
    links, begun = [], Counter[int]()
    for edge in edges:
        if edge.source_id == edge.target_id:
            continue
        begun[edge.source_id] += 1
        if begun[edge.source_id] <= amem.MOST_LINKS:
            links.append(_link(edge))
    done.notes.extend(
        f"memory {number}: {count - amem.MOST_LINKS} of {count} links left out"
        for number, count in begun.items()
        if count > amem.MOST_LINKS
    )
    return links


def _link(edge: Edge) -> Link:
    type = OTHER_NAMES.get(edge.type, edge.type)
    return Link(
        source=edge.source_id,
        target=edge.target_id,
        type=type if type in amem.LINK_TYPES else RELATED,
        weight=min(1.0, max(0.0, edge.weight)),
        created_at=max(0, edge.created_at),
    )
