"""Embedding: how many texts a second one core gives vectors to."""

from __future__ import annotations

import time
from collections.abc import Iterator

from bench import texts
from bench.bench import Bench
from bench.figures import Figure
from mnemic.embedding.local import LocalEmbedder

SHORT_CHARACTERS = 80


def embed(bench: Bench) -> Iterator[Figure]:
    """Whole memories, and single sentences."""
    embedder = LocalEmbedder()
    embedder.load()
    whole = list(texts.texts(2 * bench.rounds))
    for what, some in (
        (f"embedding, texts of {texts.CHARACTERS} characters", whole),
        (f"embedding, texts of {SHORT_CHARACTERS} characters", [text[:SHORT_CHARACTERS] for text in whole]),
    ):
        cpu, wall = time.process_time(), time.perf_counter()
        embedder.embed(some)
        ours, by_the_clock = time.process_time() - cpu, time.perf_counter() - wall
        yield Figure(
            what=what,
            ours=len(some) / ours,
            wall=len(some) / by_the_clock,
            unit="/s",
            budget=150 if some is not whole else None,
            is_least=True,
        )
