"""What the tests start as another process: `child.py MODE ENGINE FOLDER NAME …`. Not a test itself."""

from __future__ import annotations

import json
import sys
import time
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

from copy_places import copied
from support import WordEmbedder, a_query, embedding, open_store

from mnemic.core.context import Context, wall_clock
from mnemic.core.embedding_queue import embed_pending, unclaimed
from mnemic.core.memories import Note, remember
from mnemic.core.recall import recall
from mnemic.model.filter import Filter
from mnemic.storage import queries

Database = tuple[str, str, str]
"""The engine, the folder and the name of a store."""


def context(database: Database, embedder: WordEmbedder | None = None) -> Context:
    engine, folder, name = database
    store = open_store(engine, Path(folder), name)
    if embedder:
        store.use_models(embedder.name)
    return Context(store=store, embedder=embedder, actor="child")


def write(database: Database, name: str, times: str, start: str) -> None:
    """Say that we are ready, wait for the file *start*, remember so many things, say how many were kept."""
    say("ready")
    while not Path(start).exists():
        time.sleep(0.001)
    ctx = context(database)
    kept = [one for n in range(int(times)) for one in remember(ctx, [Note(text=f"{name} wrote {n}")]).kept]
    say(len(kept))


def come_and_go(database: Database, name: str, times: str, start: str) -> None:
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
                    name=f"{name} wrote {number}",
                )
            ],
        )
        ctx.store.close()
    say(int(times))


def write_on(database: Database, name: str) -> None:
    """Remember things until someone stops us; after each, say the uid it was acknowledged with."""
    ctx = context(database)
    for number in count():
        [one] = remember(ctx, [Note(text=f"{name} wrote {number} " + "lorem ipsum dolor " * 100)]).kept
        say(one.memory.uid)


def answer(database: Database) -> None:
    """For every question on a line: the titles that are recalled, found by words, near by vectors."""
    embedder = WordEmbedder()
    ctx = context(database, embedder)
    say("ready")
    for line in sys.stdin:
        question = json.loads(line)
        recalled = [hit.memory.id for hit in recall(ctx, a_query(question, now=wall_clock())).hits]
        reader = ctx.store.read()
        by_words = [
            number
            for number, _ in queries.best_words(reader, question.split(), Filter(), every=False, limit=10)
        ]
        near = queries.nearest(reader, embedding(embedder, question), Filter(), limit=10)
        by_vectors = [one.memory_id for one in near if one.cosine > 0.5]
        found = {"recalled": recalled, "words": by_words, "vectors": by_vectors}
        say({name: [one.title for one in reader.get(ids)] for name, ids in found.items()})


class CountingEmbedder(WordEmbedder):
    """Says how many texts it reads, and takes some time for each."""

    def embed(self, texts):
        time.sleep(0.002 * len(texts))
        say(len(texts))
        return super().embed(texts)


def embed(database: Database, start: str) -> None:
    """Say that we are ready, wait for the file *start*, then embed until nothing is left that nobody has claimed."""
    ctx = context(database, CountingEmbedder())
    say("ready")
    while not Path(start).exists():
        time.sleep(0.001)
    while unclaimed(ctx, 1):
        embed_pending(ctx, 16)


def copy(database: Database, to: str, part: str) -> None:
    """Copy the store to *to*; when so much of that is done, say so and wait to be killed."""
    ctx = context(database)

    def told(done: int, total: int) -> None:
        if done >= float(part) * total:
            say(1)
            time.sleep(600)

    copied(ctx.store, to, progress=told)


def say(something: object) -> None:
    sys.stdout.write(json.dumps(something) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    modes = {
        "write": write,
        "come-and-go": come_and_go,
        "write-on": write_on,
        "answer": answer,
        "embed": embed,
        "copy": copy,
    }
    mode, engine, folder, name, *arguments = sys.argv[1:]
    modes[mode]((engine, folder, name), *arguments)
