"""Long pieces of work, a few at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """*items* in order, *size* at a time."""
    return (items[start : start + size] for start in range(0, len(items), size))
