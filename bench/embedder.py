"""Embedder: texts a second on one core."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench import texts
from bench.figures import Figure, rated
from bench.run import Bench
from bench.timer import spent
from mnemic.embedding.local import LocalEmbedder

AT_ONCE = 64
"""The batch of the background worker."""
SENTENCE = 80


def embed(bench: Bench) -> Iterator[Figure]:
    """Sentences of 80 characters, and whole memories."""
    embedder = LocalEmbedder()
    embedder.load()
    for characters, row in ((SENTENCE, "embed"), (None, None)):
        rounds = max(6, bench.rounds // 30)
        batches = [
            [text[:characters] for text in texts.texts(AT_ONCE, turn * AT_ONCE)] for turn in range(rounds)
        ]
        ours = spent(partial(embedder.embed, some) for some in batches)
        yield rated(f"embedding, texts of {characters or texts.CHARACTERS} characters", AT_ONCE, ours, row)
