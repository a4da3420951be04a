"""What the tests start as another process: `child.py MODE DATABASE …`. Not a test itself."""

from __future__ import annotations

import json
import sys
import time
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from mnemic.core.context import Context, wall_clock
from mnemic.core.memories import Note, remember
from mnemic.core.recall import recall
from mnemic.model.search import Filter
from mnemic.storage.sqlite.store import SqliteStore
from support import WordEmbedder, a_query, embedding


def context(database: str, embedder: WordEmbedder | None = None) -> Context:
    store = SqliteStore(Path(database))
    if embedder:
        store.use_models(embedder.name)
    return Context(store=store, embedder=embedder, actor="child")


def write(database: str, name: str, times: str, start: str) -> None:
    """Say that we are ready, wait for the file *start*, remember so many things, say how many were kept."""
    say("ready")
    while not Path(start).exists():
        time.sleep(0.001)
    ctx = context(database)
    kept = [one for n in range(int(times)) for one in remember(ctx, [Note(text=f"{name} wrote {n}")]).kept]
    say(len(kept))


def come_and_go(database: str, name: str, times: str, start: str) -> None:
    """The same, but opening and closing the database for each."""
    say("ready")
    while not Path(start).exists():
        time.sleep(0.001)
    for number in range(int(times)):
        ctx = context(database)
        remember(
            ctx,
            [
                Note(
                    text=f"{name} wrote {number} " + "lorem ipsum dolor " * 100,
                    title=f"{name} wrote {number}",
                )
            ],
        )
        ctx.store.close()
    say(int(times))


def write_on(database: str, name: str) -> None:
    """Remember things until someone stops us; after each, say the uid it was acknowledged with."""
    ctx = context(database)
    for number in count():
        [one] = remember(ctx, [Note(text=f"{name} wrote {number} " + "lorem ipsum dolor " * 100)]).kept
        say(one.memory.uid)


def answer(database: str) -> None:
    """For every question on a line: the titles that are recalled, found by words, near by vectors."""
    embedder = WordEmbedder()
    ctx = context(database, embedder)
    say("ready")
    for line in sys.stdin:
        question = json.loads(line)
        recalled = [hit.memory.id for hit in recall(ctx, a_query(question, now=wall_clock())).hits]
        reader = ctx.store.read()
        by_words = [number for number, _ in reader.words(question.split(), Filter(), every=False, limit=10)]
        near = reader.nearest(embedding(embedder, question), Filter(), limit=10)
        by_vectors = [one.memory_id for one in near if one.similarity > 0.5]
        found = {"recalled": recalled, "words": by_words, "vectors": by_vectors}
        say({name: [one.title for one in reader.memories(ids)] for name, ids in found.items()})


def say(something: object) -> None:
    sys.stdout.write(json.dumps(something) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    modes = {"write": write, "come-and-go": come_and_go, "write-on": write_on, "answer": answer}
    modes[sys.argv[1]](*sys.argv[2:])
