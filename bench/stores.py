"""Stores to measure on: built once through the product's own write path, kept between runs, copied for each use."""

from __future__ import annotations

import hashlib
import random
import shutil
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from uuid import UUID

from bench import reference, texts
from bench.floor import Floor
from bench.generated_vectors import GeneratedEmbedder
from mnemic.app import App, open_app
from mnemic.core.context import Context
from mnemic.core.embedding_queue import embed_pending
from mnemic.core.memories import Note, Revision, forget, remember, revise
from mnemic.core.recall import recall
from mnemic.dialects.ai_memory.recall import search
from mnemic.embedding.local import ENGLISH
from mnemic.model.filter import Filter, Query
from mnemic.model.time import DAY, MINUTE, Moment
from mnemic.settings import Settings
from mnemic.storage.fingerprint import marks
from mnemic.storage.sqlite.schema import MIGRATIONS
from mnemic.transports.background import Worker

BATCH = 1_000
BEGINNING: Moment = 1_750_000_000_000_000
BATCHES_AHEAD = 4
WORTH_TELLING = 20_000
"""Progress is reported after so many memories."""
WARM_UP_QUESTIONS = 8
IDLE_SECONDS = 1.5
"""Longer than a process waits before it warms its caches."""
SMALL_NAMESPACES = 10
"""Each holds one memory in a hundred; the rest are in `global`."""


def open_store(path: Path | str, embedder: str = "none") -> App:
    """The store at *path*, a file or an address, without background worker, as a command opens it."""
    return open_app(Settings(db=str(path), embedder=embedder), actor="bench")


@contextmanager
def product(path: Path) -> Iterator[Context]:
    """The default product on *path*, warm: the embedder loaded, the background worker started, caches filled."""
    with open_store(path, "local") as app:
        worker = Worker(app.ctx)
        worker.start()
        ctx = replace(app.ctx, wake=worker.wake)
        try:
            warm_up(ctx)
            yield ctx
        finally:
            worker.stop()


def warm_up(ctx: Context) -> None:
    """Ask as a client would, then wait until no thread of this process works."""
    for number in range(WARM_UP_QUESTIONS):
        query = Query(text=texts.question(number), filter=Filter(), limit=10, now=ctx.now())
        recall(ctx, query)
        search(ctx, replace(query, text=" ".join(texts.key_words(number, 2))))
    wait_idle()


def wait_idle(at_most_seconds: float = 120.0) -> None:
    """Return when this process has used next to no CPU for a while: caches are warm, background work is done."""
    end = time.monotonic() + at_most_seconds
    while time.monotonic() < end:
        before = time.process_time()
        time.sleep(IDLE_SECONDS)
        if time.process_time() - before < IDLE_SECONDS / 20:
            return


def namespace(number: int) -> str:
    """The namespace of memory *number*."""
    return f"project-{number % 100}" if number % 100 < SMALL_NAMESPACES else "global"


def notes(count: int, first: int = 0) -> list[Note]:
    """The notes of *count* memories from number *first* on."""
    return [Note(text=texts.text(n), namespace=namespace(n)) for n in range(first, first + count)]


class Stores:
    """Built stores in a folder named by a hash of schema, texts, model and fingerprints: a change of any rebuilds."""

    def __init__(self, folder: Path):
        content = repr((MIGRATIONS, texts.VERSION, ENGLISH.name, marks(texts.text(0)))).encode()
        self._folder = folder / hashlib.sha256(content).hexdigest()[:16]
        self._folder.mkdir(parents=True, exist_ok=True)

    def ours(self, size: int) -> Path:
        """A store of ours with *size* memories and their vectors."""
        return self.kept(f"ours-{size}.db", lambda path: build_ours(path, size))

    def history(self, size: int) -> Path:
        """The same after one memory in a hundred was revised and another one deleted."""
        return self.kept(f"history-{size}.db", lambda path: build_history(path, self.ours(size), size))

    def floor(self, size: int) -> Path:
        """The same texts in plain SQLite."""
        return self.kept(f"floor-{size}.db", lambda path: build_floor(path, size))

    def reference(self, size: int) -> Path:
        """The same texts in the reference server's file."""
        return self.kept(
            f"reference-{size}.jsonl", lambda path: reference.write_file(path, texts.texts(size))
        )

    def kept(self, name: str, build: Callable[[Path], None]) -> Path:
        """The file of this name, built if it is not there."""
        path = self._folder / name
        if not path.exists():
            with tempfile.TemporaryDirectory(dir=self._folder) as folder:
                part = Path(folder) / name
                build(part)
                part.rename(path)
        return path


@contextmanager
def copied(path: Path) -> Iterator[Path]:
    """A temporary copy of *path*."""
    with scratch() as folder:
        yield Path(shutil.copy(path, folder))


@contextmanager
def scratch() -> Iterator[Path]:
    """A temporary folder."""
    with tempfile.TemporaryDirectory(prefix="mnemic-bench-") as folder:
        yield Path(folder)


def moment_of(number: int) -> Moment:
    """When memory *number* was written: a batch a minute."""
    return BEGINNING + number // BATCH * MINUTE


def build_floor(path: Path, size: int) -> None:
    """Fill plain SQLite."""
    floor = Floor(path)
    for first in range(0, size, BATCH):
        floor.add(texts.texts(min(BATCH, size - first), first))
    floor.close()


def build_ours(path: Path, size: int) -> None:
    """Fill a store through the core: a batch of memories, then their vectors."""
    with open_app(Settings(db=str(path), embedder="none", fast_writes=True), actor="bench") as app:
        started = time.monotonic()
        ctx = replace(app.ctx, embedder=GeneratedEmbedder(), new_uid=numbered_uids())
        for first, some in note_batches(size):
            remember(replace(ctx, now=partial(moment_of, first)), some)
            put_vectors(ctx)
            tell_progress(path.stem, first + len(some), size, started)


def build_history(path: Path, present: Path, size: int) -> None:
    """Copy *present* and change it: a day later, memory 50 of every hundred is deleted, memory 51 revised."""
    shutil.copy(present, path)
    with open_app(Settings(db=str(path), embedder="none", fast_writes=True), actor="bench") as app:
        ctx = replace(app.ctx, now=lambda: moment_of(size) + DAY)
        for first in range(50, size, 100 * BATCH):
            forget(ctx, [number + 1 for number in range(first, min(first + 100 * BATCH, size), 100)])
        for number in range(51, size, 100):
            revise(ctx, number + 1, Revision(text=texts.text(number + size)))
        put_vectors(ctx)


def note_batches(size: int) -> Iterator[tuple[int, list[Note]]]:
    """All notes of a store in batches, each with the number of its first; a second process makes up the texts."""
    firsts = range(0, size, BATCH)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        waiting: deque[Future[list[Note]]] = deque()
        for first in firsts:
            waiting.append(pool.submit(notes, min(BATCH, size - first), first))
            if len(waiting) > BATCHES_AHEAD:
                yield first - BATCHES_AHEAD * BATCH, waiting.popleft().result()
        for first in firsts[len(firsts) - len(waiting) :]:
            yield first, waiting.popleft().result()


def numbered_uids() -> Callable[[], str]:
    """A source of UUIDs that gives the same ones in every run."""
    chance = random.Random(texts.SEED)
    return lambda: str(UUID(int=chance.getrandbits(128), version=4))


def tell_progress(name: str, done: int, size: int, started: float) -> None:
    """Say on standard error how far a long build is, and how long the rest will take."""
    if size >= WORTH_TELLING and done % WORTH_TELLING == 0:
        seconds = time.monotonic() - started
        left = seconds * (size - done) / done
        print(
            f"{name}: {done:,} of {size:,}, {seconds:.0f} s, {left:.0f} s left", file=sys.stderr, flush=True
        )


def put_vectors(ctx: Context) -> None:
    """Give generated vectors to the statements that have none, as the background worker would."""
    ctx = replace(ctx, embedder=GeneratedEmbedder()) if ctx.embedder is None else ctx
    while embed_pending(ctx, BATCH):
        pass
