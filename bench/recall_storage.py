"""What storage costs of a recall on PostgreSQL: CPU of the server, and of this process while it asks the store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import psycopg

from bench import texts
from bench.figures import Figure, timed
from bench.generated_vectors import GeneratedEmbedder
from bench.postgres import Clock, server
from bench.run import Bench
from bench.store_copy import copied
from bench.stores import namespace, open_store, wait_idle
from bench.tenants import SUPERUSER
from bench.timer import Spent, interleaved
from mnemic.app import open_app
from mnemic.core.context import Context
from mnemic.core.recall import recall
from mnemic.core.usage import Uses
from mnemic.model.filter import Filter, Query
from mnemic.settings import Settings
from mnemic.transports.background import Settler

LARGE, SMALL = "global", namespace(0)
"""The namespaces that hold 90 and 1 in 100 memories."""
CALLS = 60
QUIET_SECONDS = 0.1
"""A server that took less meanwhile has only looked after itself."""
FROM = {"database": 0, "index": 1024}
"""Who answers, and how many megabytes the index may take for it."""


class StorageClock:
    """CPU seconds of a server, and of this thread inside of calls of the store."""

    def __init__(self, whole: Clock):
        self._whole = whole
        self._inside = 0.0

    def __call__(self) -> float:
        return self._whole.server_seconds() + self._inside

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count the block."""
        before = time.thread_time()
        try:
            yield
        finally:
            self._inside += time.thread_time() - before


class Watched:
    """A store or reader whose methods are counted, and those of the readers it gives."""

    def __init__(self, watched: Any, clock: StorageClock):
        self._watched = watched
        self._clock = clock

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._watched, name)
        return partial(self._call, name, found) if callable(found) else found

    def _call(self, name: str, method: Callable[..., Any], *args: Any, **named: Any) -> Any:
        with self._clock.counted():
            answer = method(*args, **named)
        if name == "read":
            return Watched(answer, self._clock)
        if name in ("at_one_moment", "snapshot"):
            return self._block(answer)
        return list(answer) if hasattr(answer, "__next__") else answer

    @contextmanager
    def _block(self, manager: Any) -> Iterator[Any]:
        with self._clock.counted():
            entered = manager.__enter__()
        try:
            yield None if entered is None else Watched(entered, self._clock)
        finally:
            with self._clock.counted():
                manager.__exit__(None, None, None)


def recall_storage(bench: Bench) -> Iterator[Figure]:
    """Recall in the largest namespace and in one of a hundredth, answered by the server and by the index."""
    size = bench.sizes[-1]
    with server() as (url, clock):
        with psycopg.connect(url, user=SUPERUSER, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        copied(str(bench.stores.ours(size)), url)
        with open_store(url) as app:
            app.ctx.engines.upkeep(app.ctx.store)
        for source, megabytes in FROM.items():
            for space, count in ((SMALL, size // 100), (LARGE, size * 9 // 10)):
                spent = _asked(url, clock, megabytes, space)
                yield timed(
                    f"storage of a recall in {count:,}, PostgreSQL, from the {source}",
                    spent,
                    f"recall storage {'small' if space == SMALL else source}",
                )


def _asked(url: str, server_clock: Clock, megabytes: int, space: str) -> Spent:
    clock = StorageClock(server_clock)
    with open_app(Settings(db=url, embedder="none", index_mb=megabytes), actor="bench") as app:
        embedder = GeneratedEmbedder()
        embedder.embed([texts.text(0)])  # which loads the model
        app.ctx.store.use_models(embedder.name)
        store: Any = Watched(app.ctx.store, clock)
        ctx = replace(app.ctx, embedder=embedder, uses=(uses := Uses()), deferred=uses)
        with _settled(ctx):
            ctx = replace(ctx, store=store)
            for number in range(8):
                _ask(ctx, space, number)
            _wait_until_read(server_clock)
            calls = [partial(_ask, ctx, space, 100 + number) for number in range(CALLS)]
            return interleaved([calls], [clock])[0]


@contextmanager
def _settled(ctx: Context) -> Iterator[None]:
    """Uses are written down as a daemon does, some of them together."""
    settler = Settler(ctx)
    settler.start()
    try:
        yield
    finally:
        settler.stop()


def _wait_until_read(server_clock: Clock) -> None:
    """Return when neither this process nor the server reads ahead any more."""
    busy = True
    while busy:
        before = server_clock.server_seconds()
        wait_idle()
        busy = server_clock.server_seconds() - before > QUIET_SECONDS


def _ask(ctx: Context, space: str, number: int) -> object:
    wanted = Filter(namespaces=(space,), alive_at=ctx.now())
    return recall(ctx, Query(text=texts.question(number), filter=wanted, limit=10, now=ctx.now()))
