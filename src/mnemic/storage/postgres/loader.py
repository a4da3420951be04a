"""Loading of many rows: the server takes in a batch, and sends the next ones, while the client works on another."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self, TypeVar

from mnemic.storage.postgres.connection import Row

T = TypeVar("T")
Load = Callable[[str, Iterable[str], Iterable[Row]], None]
"""Puts rows into the columns of a table."""

MOST_WAITING = 2
"""So many batches wait for the server; then the client waits."""


class Loader:
    """Loads batches in their order in one thread. At the end of the block all are loaded, or the error is raised."""

    def __init__(self, load: Load):
        self._load = load
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="mnemic-load")
        self._waiting: deque[Future[None]] = deque()

    def __enter__(self) -> Self:
        return self

    def put(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Load *rows* soon."""
        while len(self._waiting) >= MOST_WAITING:
            self._waiting.popleft().result()
        self._waiting.append(self._thread.submit(self._load, table, columns, rows))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.shutdown(cancel_futures=kind is not None)
        if kind is None:
            for one in self._waiting:
                one.result()


def read_ahead(batches: Iterator[T]) -> Iterator[T]:
    """*batches*, of which the next one is read in a thread while one is worked on."""
    with ThreadPoolExecutor(1, thread_name_prefix="mnemic-read") as thread:
        coming: Future[Any] = thread.submit(next, batches, None)
        while (one := coming.result()) is not None:
            coming = thread.submit(next, batches, None)
            yield one
