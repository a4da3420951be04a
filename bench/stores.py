"""The stores that are measured: built once through the product's own write path, kept between runs."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from bench import reference, texts
from bench.floor import Floor
from mnemic.app import App, open_app
from mnemic.core.context import Context
from mnemic.core.memories import Note, remember
from mnemic.embedding.local import ENGLISH, LocalEmbedder
from mnemic.model.search import Filter
from mnemic.model.values import MINUTE, Moment
from mnemic.settings import Settings
from mnemic.storage.base import Passage
from mnemic.storage.sqlite.ahead import AHEAD
from mnemic.storage.sqlite.opened import WORTH_KEEPING
from mnemic.storage.sqlite.schema import MIGRATIONS
from mnemic.storage.text import marks

BATCH = 1_000
BEGINNING: Moment = 1_750_000_000_000_000
MODEL_RUNS = 256
SMALL_NAMESPACES = 10
"""Each holds one memory in a hundred; the rest are in `global`."""


def open_store(path: Path, embedder: str = "none") -> App:
    """The store at *path*, ready to be measured."""
    return open_app(Settings(db=str(path), embedder=embedder), actor="bench")


@contextmanager
def staying(path: Path, embedder: str = "none") -> Iterator[App]:
    """The same in a process that was asked before, and has read into memory what will be asked for."""
    with open_store(path, embedder) as app:
        for number in range(WORTH_KEEPING + 1):
            app.ctx.store.read().words(texts.telling(number, 1), Filter(), every=False, limit=1)
        for thread in threading.enumerate():
            if thread.name == AHEAD:
                thread.join()
        yield app


def namespace(number: int) -> str:
    """Where memory *number* lives."""
    return f"project-{number % 100}" if number % 100 < SMALL_NAMESPACES else "global"


def notes(count: int, first: int = 0) -> list[Note]:
    """*count* memories to be, from number *first* on."""
    return [Note(text=texts.text(n), namespace=namespace(n)) for n in range(first, first + count)]


class Stores:
    """Files of every size asked for, in a folder that belongs to this schema, these texts and what is made of them."""

    def __init__(self, folder: Path):
        told = repr((MIGRATIONS, texts.VERSION, ENGLISH.name, marks(texts.text(0)))).encode()
        self._folder = folder / hashlib.sha256(told).hexdigest()[:16]
        self._folder.mkdir(parents=True, exist_ok=True)

    def ours(self, size: int) -> Path:
        """A store of ours with *size* memories and their vectors."""
        return self.kept(f"ours-{size}.db", lambda path: build_ours(path, size))

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
            part = path.with_name(name + ".part")
            part.unlink(missing_ok=True)
            build(part)
            part.rename(path)
        return path


@contextmanager
def copied(path: Path) -> Iterator[Path]:
    """A copy of *path* that may be changed."""
    with scratch() as folder:
        yield Path(shutil.copy(path, folder))


@contextmanager
def scratch() -> Iterator[Path]:
    """An empty folder that is gone afterwards."""
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
    """Fill a store through the core, then give every statement its vectors."""
    with open_store(path) as app:
        for first in range(0, size, BATCH):
            then = partial(moment_of, first)
            remember(replace(app.ctx, now=then), notes(min(BATCH, size - first), first))
        put_vectors(app.ctx)


def put_vectors(ctx: Context) -> None:
    """Give the statements that have none likely vectors, one a passage, as the background worker would."""
    embedder = LocalEmbedder()
    draw = LikelyVectors(embedder)
    while waiting := ctx.store.read().pending(limit=BATCH):
        cut = [(item.statement_id, *stretch) for item in waiting for stretch in embedder.windows(item.text)]
        passages = [Passage(*place, vector) for place, vector in zip(cut, draw(len(cut)), strict=True)]
        with ctx.store.write(operation="embed", actor="bench", at=ctx.now(), durable=False) as tx:
            tx.put_passages(embedder.name, embedder.dimension, passages)


class LikelyVectors:
    """Unit vectors scattered around those of a few real texts: where a hundred thousand model runs would lie."""

    def __init__(self, embedder: LocalEmbedder):
        self._real = embedder.embed(list(texts.texts(MODEL_RUNS)))
        self._chance = np.random.default_rng(texts.VERSION)

    def __call__(self, count: int) -> np.ndarray:
        """So many of them, others at each call."""
        shape = count, self._real.shape[1]
        noise = self._chance.standard_normal(shape, dtype=np.float32) / np.sqrt(shape[1])
        vectors = self._real[self._chance.integers(0, len(self._real), count)] + noise
        unit: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit
