"""Getting memories out again by their names: open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from mnemic.core import memories
from mnemic.core.context import Context
from mnemic.dialects.framework import Example, Positional, Shape
from mnemic.dialects.native.as_of import AsOf, at
from mnemic.dialects.native.dialect import MNEMIC
from mnemic.dialects.native.types import (
    LinkShape,
    MemoryShape,
    Namespace,
    Recorded,
    Reference,
    Request,
    described,
    shown,
    shown_link,
    unlisted,
)

if TYPE_CHECKING:
    from mnemic.model.graph import Edge
    from mnemic.model.memory import Memory

MOST_LINKS = 50
"""Links shown with a memory; thousands would crowd a model's context."""


class OpenRequest(Request):
    """Which memories to read."""

    ids: Annotated[
        list[Reference],
        described("Their ids, uids or titles", min_length=1, max_length=100),
        Positional("MEMORY"),
    ]
    namespace: Annotated[
        Namespace | None, unlisted("Where titles are looked up (default: this project and global)")
    ] = None
    as_of: Annotated[AsOf, described("At that moment (default: now)")] = None
    record: Recorded = True


class OpenedLinkShape(LinkShape):
    """A link, with the title of its other end."""

    title: str


class OpenedShape(MemoryShape):
    """A memory with its links."""

    links: list[OpenedLinkShape] | None = None
    links_left: int | None = None
    """How many more there are than are shown; `explore` shows more of them."""


class OpenReply(Shape):
    """The memories, in the order asked for."""

    memories: list[OpenedShape]
    count: int
    missing: list[str] | None = None
    """Those asked for that are no memory."""


@MNEMIC.operation(
    title="Open",
    read_only=True,
    idempotent=True,
    cli="open",
    about="Show memories in full, with their links.",
    examples=[Example("", {"ids": ["12", "Deploys"]})],
)
def open_(ctx: Context, request: OpenRequest) -> OpenReply:
    """Read memories in full, with all fields and links, when you know their ids or titles."""
    ctx = at(ctx, request.as_of) if request.record else at(ctx, request.as_of).without_trace()
    opened = memories.open_all(ctx, request.ids, request.namespace)
    return OpenReply(
        memories=[_opened(ctx, memory, edges) for memory, edges in opened.memories],
        count=len(opened.memories),
        missing=[str(reference) for reference in opened.missing] or None,
    )


def _opened(ctx: Context, memory: Memory, edges: Sequence[Edge]) -> OpenedShape:
    """A memory with its links, of very many the strongest and newest."""
    strongest = sorted(edges, key=lambda edge: (-edge.weight, -edge.id))[:MOST_LINKS]
    ends = {edge.id: edge.target_id if edge.source_id == memory.id else edge.source_id for edge in strongest}
    titles = {other.id: other.title for other in ctx.read().get(sorted(set(ends.values())))}
    return OpenedShape.model_construct(
        None,
        **dict(shown(memory)),
        links=[
            OpenedLinkShape(**dict(shown_link(edge)), title=titles[ends[edge.id]])
            for edge in sorted(strongest, key=lambda edge: edge.id)
        ]
        or None,
        links_left=len(edges) - len(strongest) or None,
    )
