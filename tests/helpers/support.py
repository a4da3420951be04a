"""Small stand-ins for what a test must hold still: the clock, chance and the model; and servers that run meanwhile."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from socketserver import BaseServer
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, TypeVar

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy
from postgres_server import give_back, leased_url

from mnemic.app import engines, open_sqlite
from mnemic.core.context import Context
from mnemic.core.memories import Note, remember
from mnemic.embedding.base import SingleModel
from mnemic.embedding.text_windows import character_windows
from mnemic.errors import Unavailable
from mnemic.model.access import EVERYTHING
from mnemic.model.change import BEGINNING, Position
from mnemic.model.enums import State
from mnemic.model.filter import ANY_EDGE, ChangeFilter, Filter, Query
from mnemic.model.memory import Draft, Memory, MemoryPatch
from mnemic.model.vectors import Embedding
from mnemic.storage.base import Passage, Store, Writer
from mnemic.storage.queries import each_memory, newest_change

Server = TypeVar("Server", bound=BaseServer)
T = TypeVar("T")

START = 1_800_000_000_000_000
"""When every test begins: 15 January 2027, 08:00 UTC."""


def open_store(engine: str, folder: Path, name: str = "mnemic", *, durable: bool = True) -> Store:
    """The store of this name in *folder*, made if it is not there. A second engine is a second case here."""
    match engine:
        case "sqlite":
            return open_sqlite(folder / f"{name}.db", durable=durable)
        case "postgres":
            from mnemic.index.index import open_index
            from mnemic.storage.postgres.store import PostgresStore

            return PostgresStore(leased_url(folder, name), open_index, durable=durable)
    raise ValueError(engine)


@contextmanager
def temporary_stores(engine: str, *names: str) -> Iterator[dict[str, Store]]:
    """Empty stores of these names, gone after the block: for one example of a test that has many."""
    with TemporaryDirectory(prefix="mnemic-") as folder, ExitStack() as opened:
        opened.callback(give_back, Path(folder))
        yield {
            name: opened.enter_context(closing(open_store(engine, Path(folder), name, durable=False)))
            for name in names
        }


def hold_for_examples(
    engine: str, most: int, check: Callable[..., None], *strategies: SearchStrategy[Any]
) -> None:
    """Check *most* examples, or a quarter of them on a server: there each takes four times as long.

    For what is ours on every engine: the examples find faults in the rules, a few show that the engine keeps them.
    """
    count = most if engine == "sqlite" else most // 4
    bounds = settings(max_examples=count, suppress_health_check=list(HealthCheck))
    bounds(given(*strategies)(check))()


def last_number(store: Store) -> int:
    """The number of the newest change; 0 if there is none."""
    newest = newest_change(store.read())
    return newest.sequence if newest else 0


def position_of(store: Store, number: int) -> Position:
    """The position of the change with this number; 0 is before the first."""
    found = store.read().journal(ChangeFilter(sequences=(number,)))
    return next(found).position if number else BEGINNING


def number_at(store: Store, moment: int) -> int:
    """The number of the newest change at *moment*; 0 before the first."""
    position = store.at(moment).newest()
    return next((one.sequence for one in store.read().journal() if one.position == position), 0)


def store_after(store: Store, number: int) -> Store:
    """The store as it stood after the change with this number."""
    return store.at(position_of(store, number))


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """*server*, which answers until the block ends."""
    with server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


LOCKED = """
import fcntl, os, sys
PENDING = 0x40000000  # SQLite's readers lock the 510 bytes from two behind this
try:
    fcntl.lockf(os.open(sys.argv[1], os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB, 510, PENDING + 2)
except OSError:
    sys.exit(1)
"""


def is_locked(path: Path) -> bool:
    """Whether another process is kept from locking the database at *path* for itself."""
    return subprocess.run([sys.executable, "-c", LOCKED, str(path)], check=False).returncode == 1


class Clock:
    """A clock that stands still until it is told to move. Calling it gives the moment."""

    def __init__(self, moment: int = START):
        self.moment = moment

    def __call__(self) -> int:
        return self.moment

    def advance(self, **span: float) -> int:
        """Move on by *span*, given as to timedelta; the new moment."""
        self.moment += timedelta(**span) // timedelta(microseconds=1)
        return self.moment


class Uids:
    """A source of uids that are all different and the same in every run; another *family* gives others."""

    def __init__(self, family: str = "") -> None:
        self.family = family
        self.given = 0

    def __call__(self) -> str:
        self.given += 1
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self.family} {self.given}"))


class WordEmbedder(SingleModel):
    """A model that knows nothing but words: texts that share words are near each other."""

    def __init__(self, name: str = "words-64", dimension: int = 64, window: int = 400):
        self.name = name
        self.dimension = dimension
        self._window = window
        self._known: dict[str, np.ndarray] = {}

    def problem(self) -> str | None:
        """Nothing."""
        return None

    def windows(self, text: str) -> Sequence[tuple[int, int]]:
        """Stretches of at most so many characters."""
        return character_windows(text, self._window, self._window // 8)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """The sum of the vectors of a text's words, made one long."""
        vectors = np.array([self._sum(text) for text in texts], np.float32).reshape(
            len(texts), self.dimension
        )
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9).astype(np.float32)

    def close(self) -> None:
        """Nothing."""

    def _sum(self, text: str) -> np.ndarray:
        words = re.findall(r"\w+", text.lower()) or [""]
        return np.sum([self._vector(word) for word in words], axis=0)

    def _vector(self, word: str) -> np.ndarray:
        if word not in self._known:
            seed = hashlib.blake2b(f"{self.name} {word}".encode(), digest_size=8).digest()
            self._known[word] = np.random.default_rng(int.from_bytes(seed)).standard_normal(self.dimension)
        return self._known[word]


def embedding(embedder: WordEmbedder, text: str) -> Embedding:
    """*text* as read by this one model."""
    return Embedding.by(embedder.name, embedder.embed([text])[0])


class AbsentEmbedder(WordEmbedder):
    """A model whose server does not answer."""

    def problem(self) -> str | None:
        """That it does not."""
        return "The embedding server does not answer"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Nothing but the failure."""
        raise Unavailable("The embedding server does not answer")


def a_draft(text: str = "The sky is blue", **fields: object) -> Draft:
    """A draft in `global` with *text*, shown as its beginning unless a name or a title is given."""
    title = "" if "name" in fields else text[:80]
    return Draft(**{"namespace": "global", "title": title, "texts": (text,), **fields})  # type: ignore[arg-type]


def a_query(text: str, *, now: int = START, limit: int = 10, **wanted: object) -> Query:
    """A question that sees what is alive *now*."""
    return Query(text=text, limit=limit, now=now, filter=Filter(alive_at=now, **wanted))  # type: ignore[arg-type]


def kept(ctx: Context, text: str, **fields: object) -> Memory:
    """The memory made of *text*, remembered whatever is known."""
    return remember(ctx, [Note(text=text, **fields)], force=True).kept[0].memory  # type: ignore[arg-type]


def write(
    store: Store,
    work: Callable[[Writer], T],
    *,
    at: int = START,
    operation: str = "x",
    actor: str = "x",
    durable: bool = True,
) -> T:
    """What *work* answers, run in one transaction of the store's owner."""
    return store.change(EVERYTHING, operation, actor, at, work, durable=durable)


def put(store: Store, *drafts: Draft, at: int = START, operation: str = "remember") -> list[Memory]:
    """*drafts* as memories of the store, written in one transaction."""
    uids = [str(uuid.uuid4()) for _ in drafts]

    def work(tx: Writer) -> list[Memory]:
        return [tx.insert(draft, uid=uid) for draft, uid in zip(drafts, uids, strict=True)]

    return write(store, work, operation=operation, actor="tester", at=at)


def change(store: Store, memory: Memory, *, at: int = START, **fields: object) -> Memory:
    """*memory* with *fields* changed in a transaction of its own."""
    patch = MemoryPatch(**fields)  # type: ignore[arg-type]
    return write(store, lambda tx: tx.update(memory, patch), operation="revise", actor="tester", at=at)


def embed_all(store: Store, embedder: WordEmbedder, *, at: int = START) -> int:
    """Give every statement that waits its vectors, of its text alone; how many that were."""
    waiting = store.read().pending(limit=100_000)
    passages = [
        Passage(item.statement_id, start, end, embedder.embed([item.text[start:end]])[0])
        for item in waiting
        for start, end in embedder.windows(item.text)
    ]

    def work(tx: Writer) -> int:
        return tx.put_vectors(embedder.name, embedder.dimension, passages)

    return write(store, work, operation="embed", actor="tester", at=at, durable=False)


def faults(store: Store) -> list[str]:
    """What is wrong between the tables and indexes of the store; nothing should be."""
    return engines().check(store)


def living(store: Store) -> tuple[dict[int, dict[str, object]], dict[int, dict[str, object]]]:
    """The living memories and links by number: what stands, not how often or since when it does."""
    memories, edges = _seen(store, lambda state: state is State.LIVING)
    for fields in memories.values():
        del fields["updated_at"]
    return memories, edges


def everything(store: Store) -> tuple[dict[int, dict[str, object]], dict[int, dict[str, object]]]:
    """All memories and links by number, without counters and numbers of statements."""
    return _seen(store, lambda state: True)


def _seen(
    store: Store, wanted: Callable[[State], bool]
) -> tuple[dict[int, dict[str, object]], dict[int, dict[str, object]]]:
    reader = store.read()
    memories = {memory.id: _plain(memory) for memory in each_memory(reader) if wanted(memory.state)}
    return memories, {edge.id: asdict(edge) for edge in reader.edges(ANY_EDGE) if wanted(edge.state)}


def _plain(memory: Memory) -> dict[str, object]:
    fields = asdict(memory) | {"statements": [statement.text for statement in memory.statements]}
    del fields["access_count"], fields["accessed_at"], fields["days_used"]
    return fields
