"""Which namespaces a change holds the locks of: those it expects to write to, and those it turns out to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from mnemic.model.access import Scope

T = TypeVar("T")

MOST_TRIES = 8
"""After so many tries the whole store is locked."""


class NotLocked(Exception):
    """A change writes to a namespace that it did not name (None: to the whole store); nothing of it was kept."""

    def __init__(self, namespace: str | None):
        super().__init__(f"namespace {namespace!r} is not locked" if namespace else "the store is not locked")
        self.namespace = namespace


def locked(scope: Scope, change: Callable[[Scope], T]) -> T:
    """What *change* gives under the locks that *scope* names, and again with one more for each that it lacks.

    The memory that a reference means is known only inside of the transaction. Most are in the caller's namespace;
    for the others it is rolled back and begun again, so that what it read was read under the lock.
    """
    for _ in range(MOST_TRIES):
        try:
            return change(scope)
        except NotLocked as error:
            scope = replace(scope, asked=_with(scope.asked, error.namespace))
    return change(replace(scope, asked=None))


def _with(asked: tuple[str, ...] | None, namespace: str | None) -> tuple[str, ...] | None:
    return None if asked is None or namespace is None else (*asked, namespace)
