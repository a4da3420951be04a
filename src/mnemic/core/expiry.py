"""Expiry: memories whose time is over leave, before anything else is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

from mnemic.core.context import Context
from mnemic.core.states import taken_out
from mnemic.model.access import Scope
from mnemic.model.enums import State
from mnemic.storage.base import Writer

T = TypeVar("T")

EXPIRED = "expired"


class _Overdue(Exception):
    """Something has expired and is still living."""


class _OverdueMemory(NamedTuple):
    """Where a memory is."""

    id: int
    namespace: str


def change_after_expiry(
    ctx: Context,
    operation: str,
    work: Callable[[Writer], T],
    *,
    namespaces: Iterable[str] | None = None,
    announce: Callable[[Writer], None] | None = None,
) -> T:
    """Run *work* in a transaction in which no expired memory is living: such ones are archived first, journaled apart.

    *namespaces* are as in `Context.change`. *announce* tells the Writer what *work* will need (`Writer.expect`). The
    transaction itself looks for expired memories, since a read beside it would take a tenth of the time of a write.
    """

    asked = None if namespaces is None else tuple(namespaces)

    def checked(tx: Writer) -> T:
        if announce is not None:
            announce(tx)
        if tx.overdue(ctx.now()):
            raise _Overdue
        return work(tx)

    try:
        return ctx.change(operation, checked, namespaces=asked)
    except _Overdue:
        expire(ctx)
    return ctx.change(operation, work, namespaces=asked)


def expire(ctx: Context) -> int:
    """Archive the memories of all namespaces whose time is over, or delete them if there is to be no archive.

    The result counts those that the caller may see.
    """
    now = ctx.now()
    reader = ctx.store.read()
    late = reader.look(reader.overdue(now), _OverdueMemory)
    if not late:
        return 0
    state = State.ARCHIVED if ctx.lives.archives else State.FORGOTTEN

    def work(tx: Writer) -> int:
        late = tx.get(tx.overdue(now))
        for memory in late:
            taken_out(tx, memory, state, EXPIRED, now)
        return sum(ctx.may_see(memory.namespace) for memory in late)

    scope = Scope(asked=tuple({one.namespace for one in late}))
    return ctx.store.change(scope, "expire", "mnemic", now, work)
