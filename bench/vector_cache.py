"""Cache of vectors between benchmark runs, by model and text, and a command that fills it.

python -m bench.vector_cache DATA.jsonl.gz ... [--cache FILE]
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import platformdirs

from mnemic.embedding.base import SingleModel
from mnemic.embedding.local import MULTILINGUAL, LocalEmbedder
from mnemic.embedding.router import LanguageRouter

if TYPE_CHECKING:
    from mnemic.embedding.base import Embedder
    from mnemic.model.vectors import Vectors

CACHE = Path(platformdirs.user_cache_dir("mnemic-bench")) / "vectors.db"
NAMELESS = {"user", "assistant", "document"}
BATCH_TEXTS = 256

SCHEMA = "CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
READ = "SELECT value FROM vector WHERE key = ?"
WRITE = "INSERT OR IGNORE INTO vector VALUES (?, ?)"


class CachedEmbedder(SingleModel):
    """An embedder that computes each text once and stores the vector as float16 in a file."""

    def __init__(self, inner: Embedder, path: Path = CACHE):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.name = inner.name
        self._inner = inner
        self._lock = Lock()
        self._database = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute(SCHEMA)

    @property
    def dimension(self) -> int:
        """The number of dimensions of a vector."""
        return self._inner.dimension

    def problem(self) -> str | None:
        """Why the model behind the cache cannot be used; None if it can."""
        return self._inner.problem()

    def windows(self, text: str) -> Sequence[tuple[int, int]]:
        """The windows of the model behind the cache."""
        return self._inner.windows(text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors, from the file where it has them."""
        keys = [self._key(text) for text in texts]
        with self._lock:
            known = {key: row[0] for key in keys if (row := self._database.execute(READ, (key,)).fetchone())}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        known |= self._computed(missing)
        return np.array([np.frombuffer(known[key], np.float16) for key in keys], np.float32).reshape(
            len(keys), self.dimension
        )

    def close(self) -> None:
        """Close the model behind the cache."""
        self._inner.close()

    def _computed(self, missing: dict[bytes, str]) -> dict[bytes, bytes]:
        vectors: Iterable[Vectors] = self._inner.embed(list(missing.values())) if missing else ()
        rows = {
            key: vector.astype(np.float16).tobytes() for key, vector in zip(missing, vectors, strict=True)
        }
        with self._lock:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.executemany(WRITE, rows.items())
            self._database.execute("COMMIT")
        return rows

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self.name}\0{text}".encode(errors="surrogatepass")).digest()[:16]


def cached_models(path: Path = CACHE) -> LanguageRouter:
    """The models of the package, each behind the cache."""
    return LanguageRouter(
        CachedEmbedder(LocalEmbedder(), path), CachedEmbedder(LocalEmbedder(MULTILINGUAL), path)
    )


def spoken(turn: dict[str, str]) -> str:
    """The text of a turn, with the speaker's name in front where there is one."""
    return turn["text"] if turn["role"] in NAMELESS else f"{turn['role']}: {turn['text']}"


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a benchmark file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def texts(path: Path) -> Iterator[str]:
    """The texts of a benchmark file that are embedded: questions, then turns, the assistant's last."""
    lines = list(rows(path))
    yield from (row["question"] for row in lines if row["kind"] == "question")
    turns = [turn for row in lines if row["kind"] == "doc" for turn in row["turns"]]
    yield from (spoken(turn) for turn in sorted(turns, key=lambda turn: turn["role"] == "assistant"))


def fill(embedder: Embedder, path: Path) -> None:
    """Embed the windows of the texts of *path*."""
    start, count, batch = time.monotonic(), 0, list[str]()
    for text in texts(path):
        batch += [text[first:last] for first, last in embedder.windows(text)]
        if len(batch) >= BATCH_TEXTS:
            embedder.embed(batch)
            count, batch = count + len(batch), []
            print(f"\r{path.name}: {count} in {time.monotonic() - start:.0f} s", end="", flush=True)
    embedder.embed(batch)
    print(f"\r{path.name}: {count + len(batch)} in {time.monotonic() - start:.0f} s")


def main() -> None:
    """Fill the cache."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--cache", type=Path, default=CACHE)
    arguments = parser.parse_args()
    embedder = cached_models(arguments.cache)
    for path in arguments.data:
        fill(embedder, path)


if __name__ == "__main__":
    main()
