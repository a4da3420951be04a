"""Errors that every engine raises, and the decorator by which readers raise ours instead of the driver's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, TypeVar

from mnemic.errors import Busy, Cancelled, Denied, MnemicError, StoreUnusable

T = TypeVar("T")
Method = Callable[..., Any]


def busy() -> MnemicError:
    """The refusal of a write while somebody else is writing."""
    return Busy("The memory is busy: another process kept it locked. Nothing was written; try again.")


def cancelled() -> MnemicError:
    """What ends the work for a caller who has left."""
    return Cancelled("The caller left before the answer. Nothing was written.")


def closed() -> MnemicError:
    """The error for calls on a closed store."""
    return StoreUnusable("The memory has been closed.")


def past_unwritable() -> MnemicError:
    """The refusal to change the past."""
    return Denied("The past cannot be changed: leave as_of out to write.")


def past_without_backup() -> MnemicError:
    """The refusal to back up the past."""
    return Denied("The past cannot be backed up: leave as_of out.")


def each_method(shared: Sequence[type], changed: Callable[[Method], Method], reader: type[T]) -> type[T]:
    """*reader* with each public method as *changed* makes it, its own and those it has from the *shared* classes."""
    own = vars(reader)
    methods = {name: one for family in shared for name, one in vars(family).items() if name not in own} | own
    for name, method in methods.items():
        if isinstance(method, FunctionType) and not name.startswith("_"):
            setattr(reader, name, changed(method))
    return reader
