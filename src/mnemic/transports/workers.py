"""The daemon's worker threads, shared fairly between clients; work of a client that left is cancelled."""

from __future__ import annotations

import asyncio
import functools
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from starlette.requests import ClientDisconnect

from mnemic.errors import MnemicError
from mnemic.storage.cancellation import Cancellation

P = ParamSpec("P")
R = TypeVar("R")

THREADS = 8
"""Concurrent calls; more would only contend."""
MAX_PER_CLIENT = 6
"""Threads one client may occupy, so that another never waits for all of its work."""
MAX_QUEUED = 256
"""Queued calls per client."""


class TooMany(MnemicError):
    """The client exceeds its share of concurrent work."""

    code = "too_many"


@dataclass(slots=True, eq=False)
class _Task:
    client: str
    work: Callable[[], Any]
    result: Future[Any] = field(default_factory=Future)
    cancellation: Cancellation = field(default_factory=Cancellation)

    def run(self) -> None:
        if not self.result.set_running_or_notify_cancel():
            return
        try:
            self.result.set_result(self.cancellation.run(self.work))
        except BaseException as error:
            self.result.set_exception(error)

    def cancel(self) -> None:
        """Drop the call if queued; cancel it at its next store access if running."""
        self.cancellation.set()
        self.result.cancel()


class Workers:
    """Threads that serve clients round-robin, one call each. They do not keep the process alive."""

    def __init__(self, threads: int = THREADS, per_client: int = MAX_PER_CLIENT):
        self._threads = threads
        self._per_client = per_client
        self._changed = threading.Condition()
        self._queues: OrderedDict[str, deque[_Task]] = OrderedDict()
        self._running: dict[_Task, None] = {}
        self._of_client: Counter[str] = Counter()
        self._started = 0
        self._is_closed = False

    def submit(self, client: str, work: Callable[[], Any]) -> _Task:
        """Queue *work* for *client*; TooMany if its queue is full."""
        task = _Task(client, work)
        with self._changed:
            queue = self._queues.setdefault(client, deque())
            if len(queue) >= MAX_QUEUED:
                self._queues[client] = queue = deque(one for one in queue if not one.result.cancelled())
            if len(queue) >= MAX_QUEUED or self._is_closed:
                raise TooMany("Too many requests at once: wait for an answer, then try again.")
            queue.append(task)
            self._start()
            self._changed.notify()
        return task

    def close(self, seconds: float = 0.0) -> None:
        """Drop queued calls, cancel running ones, and wait at most this long."""
        ends_at = time.monotonic() + seconds
        with self._changed:
            self._is_closed = True
            for task in (*(one for queue in self._queues.values() for one in queue), *self._running):
                task.cancel()
            self._changed.notify_all()
            while self._running and (left := ends_at - time.monotonic()) > 0:
                self._changed.wait(left)

    def _start(self) -> None:
        if self._started < self._threads:
            self._started += 1
            threading.Thread(target=self._work, name=f"mnemic-call-{self._started}", daemon=True).start()

    def _work(self) -> None:
        while (task := self._taken()) is not None:
            task.run()
            with self._changed:
                del self._running[task]
                self._of_client[task.client] -= 1
                if not self._of_client[task.client]:
                    del self._of_client[task.client]
                if self._is_closed:
                    self._changed.notify_all()

    def _taken(self) -> _Task | None:
        """The next call; None at shutdown."""
        with self._changed:
            while (task := self._next()) is None:
                if self._is_closed:
                    return None
                self._changed.wait()
            self._running[task] = None
            self._of_client[task.client] += 1
            return task

    def _next(self) -> _Task | None:
        """First call of the client whose turn is next."""
        for client in list(self._queues):
            queue = self._queues[client]
            while queue and queue[0].result.cancelled():
                queue.popleft()
            if not queue:
                del self._queues[client]
            elif self._of_client[client] < self._per_client:
                self._queues.move_to_end(client)
                return queue.popleft()
        return None


@dataclass(frozen=True, slots=True)
class Caller:
    """The client of a request and how its work is run."""

    client: str
    workers: Workers
    has_left: Callable[[], Awaitable[None]] | None = None
    """Returns when the client has disconnected; awaited after the body was read."""

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """The result of *function* in a worker thread; ClientDisconnect and cancellation when the client leaves."""
        task = self.workers.submit(self.client, functools.partial(function, *args, **kwargs))
        result: asyncio.Future[R] = asyncio.wrap_future(task.result)
        try:
            return await (result if self.has_left is None else _unless_left(result, self.has_left()))
        finally:
            task.cancel()
            result.cancel()  # the result is discarded


async def _unless_left(result: asyncio.Future[R], leaving: Awaitable[None]) -> R:
    left = asyncio.ensure_future(leaving)
    try:
        await asyncio.wait((result, left), return_when=asyncio.FIRST_COMPLETED)
        if result.done():
            return result.result()
        left.result()
        raise ClientDisconnect
    finally:
        left.cancel()
