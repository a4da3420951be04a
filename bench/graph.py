"""The anthropic dialect beside the reference server: the same calls over stdio, by the CPU time of each server."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bench import reference, texts
from bench.clients import StdioClient
from bench.figures import Figure, timed
from bench.processes import cpu_seconds_of
from bench.run import Bench
from bench.search import middle
from bench.stores import copied
from bench.timer import Spent, spent
from bench.writes import FRESH
from mnemic.model.memory import title_of
from mnemic.storage.sqlite.trigram import BATCH, BATCHES

Call = Callable[[StdioClient], None]

LESS = {"create": (10, 100), "search": (20, 100), "open": (20, 100)}
"""How many times less than the reference each may take, at 10,000 and at 100,000 entities."""


def graph(bench: Bench) -> Iterator[Figure]:
    """Create an entity, search for a substring, open by name."""
    for place, size in enumerate(bench.sizes[1:]):
        with copied(bench.stores.ours(size)) as path, ours(path) as client:
            client.start()
            for _ in range(0, size + 1, BATCH * BATCHES):  # until the trigram index is built
                reference.search("nothing holds this", client)
            for name, less in LESS.items():
                asked = calls(name, bench.rounds)
                took = spent(
                    (partial(call, client) for call in asked), lambda: cpu_seconds_of(client.pid) or 0.0
                )
                others = _reference(bench, name, size)
                limit = others.p50 / less[place] if others else None
                yield timed(f"{name} over stdio, {size:,} entities", took, limit=limit, reference=others)


def ours(database: Path) -> StdioClient:
    """Our server on *database* in the anthropic dialect."""
    command = [sys.executable, "-m", "mnemic", "mcp", "--dialect", "anthropic"]
    return StdioClient(
        command,
        {**os.environ, "MNEMIC_DB": str(database), "MNEMIC_EMBEDDER": "none", "MNEMIC_NAMESPACE": "*"},
    )


def calls(name: str, rounds: int) -> list[Call]:
    """*rounds* calls, each about another memory."""
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
