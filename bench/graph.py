"""The graph vocabulary beside the reference server: the same calls over stdio to both, by what each process spends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bench import reference, texts
from bench.bench import Bench
from bench.clients import StdioClient
from bench.figures import Figure, timed
from bench.finding import middle
from bench.measuring import Spent, cpu_seconds_of, spent
from bench.stores import copied
from bench.writing import FRESH
from mnemic.core.memories import title_of
from mnemic.storage.sqlite.substrings import BATCH, BATCHES

Call = Callable[[StdioClient], None]

LESS = {"create": (10, 100), "search": (20, 100), "open": (20, 100)}
"""How many times less than the reference each may take, at 10,000 entities and at 100,000."""


def graph(bench: Bench) -> Iterator[Figure]:
    """Creating an entity, searching for a stretch of characters, opening by name."""
    for place, size in enumerate(bench.sizes[1:]):
        with copied(bench.stores.ours(size)) as path, ours(path) as client:
            client.start()
            for _ in range(0, size + 1, BATCH * BATCHES):  # until the index of substrings is made
                reference.search("nothing holds this", client)
            for name, less in LESS.items():
                asked = calls(name, bench.rounds)
                took = spent(
                    (partial(call, client) for call in asked), lambda: cpu_seconds_of(client.pid) or 0.0
                )
                others = _reference(bench, name, size)
                budget = others.cpu / less[place] if others else None
                yield timed(f"{name} over stdio, {size:,} entities", took, budget, reference=others)


def ours(database: Path) -> StdioClient:
    """Our server on *database*, speaking the reference's vocabulary."""
    command = [sys.executable, "-m", "mnemic", "mcp", "--dialect", "anthropic"]
    return StdioClient(command, {**os.environ, "MNEMIC_DB": str(database), "MNEMIC_EMBEDDER": "none"})


def calls(name: str, rounds: int) -> list[Call]:
    """So many calls, each about another memory."""
    numbers = [turn * 997 % 1_000 for turn in range(rounds)]
    match name:
        case "create":
            return [partial(reference.create, [texts.text(FRESH + turn)]) for turn in range(rounds)]
        case "search":
            return [partial(reference.search, middle(number)) for number in numbers]
    return [partial(reference.open_, title_of(texts.text(number))) for number in numbers]


def _reference(bench: Bench, name: str, size: int) -> Spent | None:
    if not bench.reference:
        return None
    with copied(bench.stores.reference(size)) as path:
        return bench.reference.spent(path, calls(name, bench.reference_rounds(size)))
