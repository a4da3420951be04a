"""Links between memories: making, ending and finding them."""

from __future__ import annotations

from mnemic.core.context import Context
from mnemic.core.memories import locate, must_live
from mnemic.core.states import retire
from mnemic.errors import NotFound
from mnemic.model.enums import State
from mnemic.model.graph import Edge, EdgeDraft, EdgePatch
from mnemic.model.limits import not_itself
from mnemic.storage.base import Reader, Writer
from mnemic.storage.queries import edge_between, edge_numbered


def link(
    ctx: Context,
    source: int | str,
    target: int | str,
    type: str,
    weight: float = 1.0,
    reason: str | None = None,
    *,
    keeps: bool = False,
    supersedes: bool = False,
) -> Edge:
    """Link two memories; an existing link gets the new weight and reason.

    With *keeps* it stays unchanged. With *supersedes* the target is superseded in the same transaction.
    """

    def work(tx: Writer) -> Edge:
        start, end = locate(tx, ctx, source), locate(tx, ctx, target)
        must_live(start)
        must_live(end)
        not_itself(start.id, end.id)
        standing = edge_between(tx, start.id, end.id, type)
        if standing and keeps:
            return standing
        if standing:
            chosen = reason if reason is not None else standing.reason
            edge = tx.update_edge(standing, EdgePatch(weight=weight, reason=chosen))
        else:
            edge = tx.insert_edge(EdgeDraft(start.id, end.id, type, weight=weight, reason=reason))
        if supersedes:
            retire(tx, [end.id], reason, ctx.now())
        return edge

    return ctx.change("link", work, namespaces=ctx.usual)


def link_once(
    tx: Writer, source_id: int, target_id: int, type: str, weight: float = 1.0, reason: str | None = None
) -> bool:
    """Link two memories unless they are; whether a link was made."""
    not_itself(source_id, target_id)
    if edge_between(tx, source_id, target_id, type):
        return False
    tx.insert_edge(EdgeDraft(source_id, target_id, type, weight=weight, reason=reason))
    return True


def end_link(ctx: Context, source: int | str, target: int | str, type: str) -> Edge:
    """End the link of this type; it stays in the store as something that was true until now."""

    def work(tx: Writer) -> Edge:
        start, end = locate(tx, ctx, source), locate(tx, ctx, target)
        standing = edge_between(tx, start.id, end.id, type)
        if standing is None:
            raise NotFound(f"No link {type!r} from memory {start.id} to {end.id}")
        return tx.update_edge(standing, EdgePatch(valid_to=ctx.now()))

    return ctx.change("end_link", work, namespaces=ctx.usual)


def find_link(reader: Reader, ctx: Context, number: int) -> Edge:
    """The living link with this number, whose ends the caller may see, or NotFound."""
    edge = edge_numbered(reader, number)
    ends = reader.get([edge.source_id, edge.target_id]) if edge and edge.state is State.LIVING else []
    if edge is None or not ends:
        raise NotFound(f"No link {number}")
    return edge
