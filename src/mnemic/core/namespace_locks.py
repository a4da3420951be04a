"""Which namespaces a change is made under the locks of: those it expects to write to, and those it turns out to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from mnemic.model.access import Scope
from mnemic.model.time import Moment
from mnemic.storage.base import NotLocked, Store, Writer

T = TypeVar("T")

MOST_TRIES = 8
"""After so many tries the whole store is locked."""


def change_locked(
    store: Store,
    scope: Scope,
    operation: str,
    actor: str,
    at: Moment,
    work: Callable[[Writer], T],
    *,
    durable: bool = True,
    waits: bool = True,
) -> T:
    """`store.change` under the locks that *scope* names, and again with one more for each that *work* lacks.

    The memory that a reference means is known only inside of the transaction. Most are in the caller's namespace;
    for the others it is rolled back and begun again, so that what it read was read under the lock.
    """
    for _ in range(MOST_TRIES):
        try:
            return store.change(scope, operation, actor, at, work, durable=durable, waits=waits)
        except NotLocked as error:
            scope = replace(scope, asked=_with(scope.asked, error.namespace))
    everything = replace(scope, asked=None)
    return store.change(everything, operation, actor, at, work, durable=durable, waits=waits)


def _with(asked: tuple[str, ...] | None, namespace: str | None) -> tuple[str, ...] | None:
    return None if asked is None or namespace is None else (*asked, namespace)
