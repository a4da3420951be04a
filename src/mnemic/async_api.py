"""The Python API for asyncio: the same methods as `mnemic.api.Memories`, run on a thread of their own."""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Concatenate, ParamSpec, TypeVar

from mnemic.api import Memories, When, open_memories

P = ParamSpec("P")
R = TypeVar("R")


def _awaited(
    method: Callable[Concatenate[Memories, P], R],
) -> Callable[Concatenate[AsyncMemories, P], Awaitable[R]]:
    """*method* as a coroutine with the same parameters and the same result."""

    async def call(self: AsyncMemories, /, *args: P.args, **keywords: P.kwargs) -> R:
        return await self._run(functools.partial(method, self._memories, *args, **keywords))

    functools.update_wrapper(call, method)
    return call


class AsyncMemories:
    """An open memory for asyncio. Every method of `Memories` is here and is awaited.

    Calls run one after another on one thread, so the event loop never waits for the disk or the model.
    """

    def __init__(self, memories: Memories, thread: ThreadPoolExecutor):
        self._memories = memories
        self._thread = thread

    async def __aenter__(self) -> AsyncMemories:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the database."""
        await self._run(self._memories.close)
        self._thread.shutdown(wait=False)

    async def as_of(self, when: When) -> AsyncMemories:
        """The memory as it was at a moment, to read from."""
        past = await self._run(functools.partial(self._memories.as_of, when))
        return AsyncMemories(past, self._thread)

    async def _run(self, work: Callable[[], R]) -> R:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    remember = _awaited(Memories.remember)
    remember_all = _awaited(Memories.remember_all)
    upsert = _awaited(Memories.upsert)
    recall = _awaited(Memories.recall)
    explain = _awaited(Memories.explain)
    list = _awaited(Memories.list)
    namespaces = _awaited(Memories.namespaces)
    open = _awaited(Memories.open)
    get = _awaited(Memories.get)
    revise = _awaited(Memories.revise)
    supersede = _awaited(Memories.supersede)
    forget = _awaited(Memories.forget)
    restore = _awaited(Memories.restore)
    link = _awaited(Memories.link)
    end_link = _awaited(Memories.end_link)
    explore = _awaited(Memories.explore)
    path = _awaited(Memories.path)
    start_session = _awaited(Memories.start_session)
    end_session = _awaited(Memories.end_session)
    resume_session = _awaited(Memories.resume_session)
    log_turn = _awaited(Memories.log_turn)
    rate = _awaited(Memories.rate)
    verify = _awaited(Memories.verify)
    history = _awaited(Memories.history)
    undo = _awaited(Memories.undo)
    undo_since = _awaited(Memories.undo_since)
    stats = _awaited(Memories.stats)
    embed = _awaited(Memories.embed)
    export_file = _awaited(Memories.export_file)
    import_file = _awaited(Memories.import_file)


class OpeningMemories:
    """What `mnemic.open_async` returns: to be awaited, or used in an `async with` block."""

    def __init__(self, path: str | os.PathLike[str] | None, *, namespace: str | None, embedder: str | None):
        self._open = functools.partial(open_memories, path, namespace=namespace, embedder=embedder)
        self._opened: AsyncMemories | None = None

    def __await__(self) -> Generator[object, object, AsyncMemories]:
        return self._start().__await__()

    async def _start(self) -> AsyncMemories:
        thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mnemic")
        try:
            memories = await asyncio.get_running_loop().run_in_executor(thread, self._open)
        except BaseException:
            thread.shutdown(wait=False)
            raise
        return AsyncMemories(memories, thread)

    async def __aenter__(self) -> AsyncMemories:
        self._opened = await self._start()
        return self._opened

    async def __aexit__(self, *exception: object) -> None:
        if self._opened is not None:
            await self._opened.close()
