"""Merging: one memory folded into another."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.core.context import Context
from mnemic.core.expiry import change_after_expiry
from mnemic.core.graph import link_once
from mnemic.core.memories import locate, must_live
from mnemic.core.states import taken_out
from mnemic.errors import Invalid
from mnemic.model.enums import State
from mnemic.model.filter import EdgeFilter
from mnemic.model.graph import Edge
from mnemic.model.memory import Memory, MemoryPatch
from mnemic.storage.base import Reader, Writer


def merge(ctx: Context, reference: int | str, into: int | str) -> tuple[Memory, Memory]:
    """Give one memory's statements, tags and links to another and forget it: the one that is left, and the other."""
    left, (gone,) = merge_all(ctx, [reference], into)
    return left, gone


def merge_all(
    ctx: Context, references: Sequence[int | str], into: int | str
) -> tuple[Memory, tuple[Memory, ...]]:
    """Merge several memories into one: the one that is left, and the others.

    One transaction, so one undo brings everything back.
    """

    def work(tx: Writer) -> tuple[Memory, tuple[Memory, ...]]:
        gone = tuple(_merged(tx, ctx, reference, into) for reference in references)
        return locate(tx, ctx, into), gone

    merged = change_after_expiry(ctx, "merge", work, namespaces=ctx.usual)
    ctx.wake()
    return merged


def _merged(tx: Writer, ctx: Context, reference: int | str, into: int | str) -> Memory:
    """The memory that was merged into another and is forgotten now."""
    gone, left = _both(tx, ctx, reference, into)
    for edge in tx.edges(EdgeFilter(at=(gone.id,))):
        _take_over(tx, edge, gone.id, left.id)
    tags = tuple(dict.fromkeys((*left.tags, *gone.tags)))
    tx.update(left, MemoryPatch(texts=_together(gone, left), tags=tags))
    return taken_out(tx, gone, State.FORGOTTEN, f"merged into {left.id}", ctx.now())


def propose(ctx: Context, reference: int | str, into: int | str) -> tuple[Memory, tuple[str, ...]]:
    """The memory that `merge` would leave, and what it would say. Refuses what `merge` refuses."""
    gone, left = _both(ctx.read(), ctx, reference, into)
    return left, _together(gone, left)


def _both(reader: Reader, ctx: Context, reference: int | str, into: int | str) -> tuple[Memory, Memory]:
    """The memory to merge and the one that remains: two different living ones."""
    gone, left = locate(reader, ctx, reference), locate(reader, ctx, into)
    must_live(gone)
    must_live(left)
    if gone.id == left.id:
        raise Invalid("into: a memory cannot be merged into itself", "into")
    return gone, left


def _together(gone: Memory, left: Memory) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*left.texts, *gone.texts)))


def _take_over(tx: Writer, edge: Edge, gone: int, left: int) -> None:
    """The same link at *left*, unless it has ended, exists already or would link it to itself."""
    source = left if edge.source_id == gone else edge.source_id
    target = left if edge.target_id == gone else edge.target_id
    if edge.is_current and source != target:
        link_once(tx, source, target, edge.type, edge.weight, edge.reason)
