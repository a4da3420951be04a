"""Merging: one memory folded into another."""

from __future__ import annotations

from mnemic.core.context import Context
from mnemic.core.graph import link_once
from mnemic.core.leaving import taken_out
from mnemic.core.memories import locate, must_live
from mnemic.core.upkeep import write_after_expiry
from mnemic.errors import Invalid
from mnemic.model.graph import Direction, Edge
from mnemic.model.memory import Memory
from mnemic.model.values import State
from mnemic.storage.base import Reader, Writer


def merge(ctx: Context, reference: int | str, into: int | str) -> tuple[Memory, Memory]:
    """Give one memory's statements, tags and links to another and forget it: the one that is left, and the other.

    One transaction, so one undo brings everything back.
    """
    with write_after_expiry(ctx, "merge") as tx:
        gone, left = _both(tx, ctx, reference, into)
        for edge in tx.edges([gone.id], Direction.BOTH):
            _take_over(tx, edge, gone.id, left.id)
        left = tx.change(
            left,
            texts=_together(gone, left),
            tags=tuple(dict.fromkeys((*left.tags, *gone.tags))),
        )
        gone = taken_out(tx, gone, State.FORGOTTEN, f"merged into {left.id}", ctx.now())
    ctx.wake()
    return left, gone


def propose(ctx: Context, reference: int | str, into: int | str) -> tuple[Memory, tuple[str, ...]]:
    """The memory that `merge` would leave, and what it would say. Refuses what `merge` refuses."""
    gone, left = _both(ctx.store.read(), ctx, reference, into)
    return left, _together(gone, left)


def _both(reader: Reader, ctx: Context, reference: int | str, into: int | str) -> tuple[Memory, Memory]:
    """The memory that goes and the one that is left: two, and both in use."""
    gone, left = locate(reader, ctx, reference), locate(reader, ctx, into)
    must_live(gone)
    must_live(left)
    if gone.id == left.id:
        raise Invalid("into: a memory cannot be merged into itself", "into")
    return gone, left


def _together(gone: Memory, left: Memory) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*left.texts, *gone.texts)))


def _take_over(tx: Writer, edge: Edge, gone: int, left: int) -> None:
    """The same link at *left*, unless it has ended, stands there already or would lead to itself."""
    source = left if edge.source_id == gone else edge.source_id
    target = left if edge.target_id == gone else edge.target_id
    if edge.is_current and source != target:
        link_once(tx, source, target, edge.type, edge.weight, edge.reason)
