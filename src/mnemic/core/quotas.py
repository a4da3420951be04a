"""Quotas of a token: how many memories, and how many bytes, its namespaces may hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, TypeVar

from mnemic.errors import Denied
from mnemic.model.access import Grant, Scope
from mnemic.model.filter import Filter
from mnemic.storage.base import Reader, Writer

T = TypeVar("T")


class TextSize(NamedTuple):
    """The bytes of a memory's title and text."""

    id: int
    size_bytes: int


def within_quota(grant: Grant, work: Callable[[Writer], T]) -> Callable[[Writer], T]:
    """*work*, refused at its end if it grew what the namespaces of *grant* hold beyond the quota."""
    quota, wanted = grant.quota, Filter(namespaces=grant.namespaces)
    if quota.memories is None and quota.bytes is None:
        return work

    def bounded(tx: Writer) -> T:
        before = _held(tx, wanted, quota.bytes is not None)
        result = work(tx)
        after = _held(tx, wanted, quota.bytes is not None)
        _check("memories", quota.memories, before[0], after[0])
        _check("bytes", quota.bytes, before[1], after[1])
        return result

    return bounded


def counted(grant: Grant, scope: Scope) -> Scope:
    """*scope* of a change that counts against *grant*: no other may write what it counts."""
    quota = grant.quota
    if scope.asked is None or (quota.memories is None and quota.bytes is None):
        return scope
    every = None if grant.namespaces is None else tuple(dict.fromkeys((*scope.asked, *grant.namespaces)))
    return replace(scope, asked=every)


def _held(reader: Reader, wanted: Filter, with_bytes: bool) -> tuple[int, int]:
    """How many memories, and how many bytes of text, there are."""
    count = sum(reader.tally(wanted, "state").values())
    return count, sum(one.size_bytes for one in reader.look(wanted, TextSize)) if with_bytes else 0


def _check(what: str, bound: int | None, before: int, after: int) -> None:
    if bound is not None and after > bound and after > before:
        raise Denied(
            f"The quota of this token is {bound} {what}; its namespaces would hold {after}. Nothing was stored. "
            "Delete what is no longer needed, or ask the owner of the store for a larger quota."
        )
