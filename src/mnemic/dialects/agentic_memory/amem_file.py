"""AgenticMemory's `.amem` files, version 1: a graph of events as bytes, little-endian throughout.

A header, a table of nodes by id, a table of links by source, the texts (each an LZ4 block with its length before
it) and a vector for each node. What AgenticMemory writes behind these is an index that it rebuilds when it is not
there, so it is neither read nor written.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from struct import Struct, error

from mnemic.errors import Invalid
from mnemic.model.time import LATEST, Moment

MAGIC = b"AMEM"
VERSION = 1
DIMENSION = 128
"""How many numbers a vector has where AgenticMemory makes the file."""
EVENT_TYPES = ("fact", "decision", "inference", "correction", "skill", "episode")
LINK_TYPES = (
    *("caused_by", "supports", "contradicts", "supersedes"),
    *("related_to", "part_of", "temporal_next"),
)
LONGEST_TEXT = 65_536
"""Bytes of one text."""
MOST_LINKS = 4_096
"""Links that begin at one node."""
LARGEST_SESSION = 2**32 - 1
LARGEST_ID = 2**63 - 2
MOST_TEXT = 1 << 30
"""Bytes of all texts: a small file of equal bytes can claim to hold far more than there is room for."""

_HEADER = Struct("<4sIIIQQQQQQ")
_NODE = Struct("<QB3xQIfIQfQIQH6x")
_LINK = Struct("<QQB3xfQ")
_LENGTH = Struct("<I")
_FLOAT = 4
_PLACES = 6
"""Decimals kept of a float; the rest is noise, and 0.9 is to be 0.9 again."""
_WIDEST = 65_536
_MOST_USES = 2**32 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """An event: what kind of thing, what it says, when, in which session and how it was used since."""

    id: int
    type: str
    text: str
    created_at: Moment
    session: int = 0
    confidence: float = 1.0
    access_count: int = 0
    accessed_at: Moment = 0
    decay: float = 1.0
    vector: bytes = b""
    """Its vector as the file holds it; empty if it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLink:
    """An edge from one node to another, both by id."""

    source: int
    target: int
    type: str
    weight: float = 1.0
    created_at: Moment


@dataclass(frozen=True, slots=True)
class Brain:
    """What one file holds."""

    nodes: Sequence[Node]
    links: Sequence[FileLink] = ()
    dimension: int = DIMENSION


@dataclass(frozen=True, slots=True)
class _Header:
    dimension: int
    nodes: int
    links: int
    nodes_at: int
    links_at: int
    texts_at: int
    vectors_at: int


def is_amem(head: bytes) -> bool:
    """Whether a file that begins so may be an `.amem` file."""
    return head.startswith(MAGIC)


def read(data: bytes) -> Brain:
    """What the bytes of a file mean. Invalid, with the fault, if they are damaged, newer or something else."""
    header = _header(data)
    nodes = tuple(_nodes(data, header))
    ids = {node.id for node in nodes}
    if len(ids) < len(nodes):
        raise _damaged("two nodes have the same id")
    links = tuple(_links(data, header, ids))
    return Brain(nodes, links, header.dimension)


def _damaged(what: str) -> Invalid:
    return Invalid(f"The file is damaged: {what}", "path")


def _header(data: bytes) -> _Header:
    if not is_amem(data):
        raise Invalid("This is not an .amem file: it does not begin with AMEM", "path")
    if len(data) < _HEADER.size:
        raise _damaged(f"its header is cut short ({len(data)} bytes of {_HEADER.size})")
    _, version, dimension, _, nodes, links, *places = _HEADER.unpack_from(data)
    if version > VERSION:
        raise Invalid(f"The file is of .amem version {version}; only version {VERSION} can be read", "path")
    if version < VERSION:
        raise _damaged("it has no version")
    if dimension > _WIDEST:
        raise _damaged(f"its vectors are said to have {dimension} numbers")
    header = _Header(dimension, nodes, links, *places)
    for what, start, length in (
        ("nodes", header.nodes_at, nodes * _NODE.size),
        ("links", header.links_at, links * _LINK.size),
        ("texts", header.texts_at, 0),
        ("vectors", header.vectors_at, nodes * dimension * _FLOAT),
    ):
        if start < _HEADER.size or start + length > len(data):
            raise _damaged(f"its {what} lie beyond its end")
    return header


def _nodes(data: bytes, header: _Header) -> Iterator[Node]:
    room = MOST_TEXT
    for place in range(header.nodes):
        found = _NODE.unpack_from(data, header.nodes_at + place * _NODE.size)
        number, type, created, session, confidence, uses, accessed, decay, start, length, _, _ = found
        if number > LARGEST_ID or type >= len(EVENT_TYPES) or max(created, accessed) > LATEST:
            raise _damaged(f"node {place} has an id, type or time that cannot be")
        if not (0 <= confidence <= 1 and math.isfinite(decay)):
            raise _damaged(f"node {number} has a confidence or decay that cannot be")
        text = _text(data, header.texts_at + start, length, number)
        room -= len(text)
        if room < 0:
            raise _damaged("its texts are larger together than a file may hold")
        yield Node(
            id=number,
            type=EVENT_TYPES[type],
            text=_decoded(text, number),
            created_at=created,
            session=session,
            confidence=round(confidence, _PLACES),
            access_count=uses,
            accessed_at=accessed,
            decay=decay,
            vector=_vector(data, header, place),
        )


def _text(data: bytes, start: int, length: int, number: int) -> bytes:
    if not length:
        return b""
    if start + length > len(data) or length < _LENGTH.size:
        raise _damaged(f"the text of node {number} lies beyond its end")
    (claimed,) = _LENGTH.unpack_from(data, start)
    if claimed > LONGEST_TEXT:
        raise _damaged(f"the text of node {number} is said to have {claimed} bytes")
    from lz4.block import LZ4BlockError, decompress  # type: ignore[import-untyped]

    try:
        text: bytes = decompress(data[start : start + length])
    except (LZ4BlockError, ValueError):
        raise _damaged(f"the text of node {number} cannot be unpacked") from None
    if len(text) != claimed:
        raise _damaged(f"the text of node {number} has {len(text)} bytes instead of {claimed}")
    return text


def _decoded(text: bytes, number: int) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise _damaged(f"the text of node {number} is not UTF-8") from None


def _vector(data: bytes, header: _Header, place: int) -> bytes:
    width = header.dimension * _FLOAT
    start = header.vectors_at + place * width
    vector = data[start : start + width]
    return vector if vector.strip(b"\0") else b""


def _links(data: bytes, header: _Header, ids: set[int]) -> Iterator[FileLink]:
    for place in range(header.links):
        source, target, type, weight, created = _LINK.unpack_from(data, header.links_at + place * _LINK.size)
        if source not in ids or target not in ids:
            raise _damaged(f"link {place} leads from {source} to {target}, and one of them is not there")
        if type >= len(LINK_TYPES) or not math.isfinite(weight) or created > LATEST:
            raise _damaged(f"link {place} has a type, weight or time that cannot be")
        yield FileLink(
            source=source,
            target=target,
            type=LINK_TYPES[type],
            weight=round(weight, _PLACES),
            created_at=created,
        )


def write(brain: Brain) -> bytes:
    """*brain* as the bytes of a file. Invalid if there is something in it that a file cannot hold."""
    nodes = sorted(brain.nodes, key=lambda node: node.id)
    links = sorted(brain.links, key=lambda link: (link.source, link.target))
    _check(nodes, links, brain.dimension)
    texts = [_packed(node.text) for node in nodes]
    try:
        table, links_at = _node_table(nodes, texts, Counter(link.source for link in links))
        edges = b"".join(map(_link_row, links))
    except (error, ValueError, OverflowError):
        raise Invalid("nodes, links: one has a number or a type that a file cannot hold", "nodes") from None
    texts_at = links_at + len(edges)
    packed = b"".join(texts)
    vectors_at = texts_at + len(packed)
    header = _HEADER.pack(
        *(MAGIC, VERSION, brain.dimension, 0, len(nodes), len(links)),
        *(_HEADER.size, links_at, texts_at, vectors_at),
    )
    width = brain.dimension * _FLOAT
    vectors = b"".join(node.vector.ljust(width, b"\0") for node in nodes)
    return header + table + edges + packed + vectors


def _check(nodes: Sequence[Node], links: Sequence[FileLink], dimension: int) -> None:
    ids = {node.id for node in nodes}
    if len(ids) < len(nodes):
        raise Invalid("nodes: two have the same id", "nodes")
    if any(len(node.vector) not in (0, dimension * _FLOAT) for node in nodes):
        raise Invalid(f"nodes: a vector must have {dimension} numbers", "nodes")
    if any(link.source not in ids or link.target not in ids for link in links):
        raise Invalid("links: one leads to a node that is not there", "links")
    if max(Counter(link.source for link in links).values(), default=0) > MOST_LINKS:
        raise Invalid(f"links: more than {MOST_LINKS} begin at one node", "links")


def _packed(text: str) -> bytes:
    from lz4.block import compress

    data = text.encode()
    if len(data) > LONGEST_TEXT:
        raise Invalid(f"text: longer than {LONGEST_TEXT} bytes", "text")
    packed: bytes = compress(data, store_size=True)
    return packed


def _node_table(nodes: Sequence[Node], texts: Sequence[bytes], links: Mapping[int, int]) -> tuple[bytes, int]:
    """The table of the nodes, and where in the file it ends."""
    rows, start, edge = [], 0, 0
    for node, text in zip(nodes, texts, strict=True):
        rows.append(
            _NODE.pack(
                *(node.id, EVENT_TYPES.index(node.type), node.created_at, node.session, node.confidence),
                *(min(node.access_count, _MOST_USES), node.accessed_at or node.created_at, node.decay),
                *(start, len(text), edge * _LINK.size, links[node.id]),
            )
        )
        start += len(text)
        edge += links[node.id]
    table = b"".join(rows)
    return table, _HEADER.size + len(table)


def _link_row(link: FileLink) -> bytes:
    type = LINK_TYPES.index(link.type)
    return _LINK.pack(link.source, link.target, type, link.weight, link.created_at)
