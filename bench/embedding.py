"""Embedding: how many texts a second one core gives vectors to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench import texts
from bench.bench import Bench
from bench.figures import Figure, rated
from bench.measuring import spent
from mnemic.embedding.local import LocalEmbedder

AT_ONCE = 64
"""As many as the background worker takes."""
SENTENCE = 80


def embed(bench: Bench) -> Iterator[Figure]:
    """Sentences, and whole memories."""
    embedder = LocalEmbedder()
    embedder.load()
    for characters, budget in ((SENTENCE, 150), (None, None)):
        rounds = max(6, bench.rounds // 30)
        batches = [
            [text[:characters] for text in texts.texts(AT_ONCE, turn * AT_ONCE)] for turn in range(rounds)
        ]
        ours = spent(partial(embedder.embed, some) for some in batches)
        yield rated(f"embedding, texts of {characters or texts.CHARACTERS} characters", AT_ONCE, ours, budget)
