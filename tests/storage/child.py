"""What the tests start as another process: `child.py MODE DATABASE …`. Not a test itself."""

from __future__ import annotations

import json
import sys
import time
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support import WordEmbedder, a_query

from mnemic.core.context import Context, wall_clock
from mnemic.core.memories import Note, remember
from mnemic.core.recall import recall
from mnemic.storage.sqlite.store import SqliteStore


def context(database: str, embedder: WordEmbedder | None = None) -> Context:
    store = SqliteStore(Path(database))
    if embedder:
        store.use_model(embedder.name)
    return Context(store=store, embedder=embedder, actor="child")


def write(database: str, name: str, times: str, start: str) -> None:
    """Say that we are ready, wait for the file *start*, remember so many things, and say how many were kept."""
    say("ready")
    while not Path(start).exists():
        time.sleep(0.001)
    ctx = context(database)
    kept = [one for n in range(int(times)) for one in remember(ctx, [Note(text=f"{name} wrote {n}")]).kept]
    say(len(kept))


def write_on(database: str, name: str) -> None:
    """Remember things until someone stops us; after each, say the uid it was acknowledged with."""
    ctx = context(database)
    for number in count():
        [one] = remember(ctx, [Note(text=f"{name} wrote {number} " + "lorem ipsum dolor " * 100)]).kept
        say(one.memory.uid)


def answer(database: str) -> None:
    """For every question on a line, what is recalled: titles, and how they were found."""
    ctx = context(database, WordEmbedder())
    say("ready")
    for line in sys.stdin:
        found = recall(ctx, a_query(json.loads(line), now=wall_clock()))
        hits = {hit.memory.title: {name: value > 0 for name, value in hit.terms.items()} for hit in found.hits}
        say({"mode": found.mode, "pending": found.pending, "hits": hits})


def say(something: object) -> None:
    sys.stdout.write(json.dumps(something) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    {"write": write, "write-on": write_on, "answer": answer}[sys.argv[1]](*sys.argv[2:])
