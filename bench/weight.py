"""Weight: what a running server holds in memory, and what a memory takes on disk."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from bench import reference, texts
from bench.bench import Bench
from bench.clients import StdioClient
from bench.figures import Figure
from bench.measuring import resident_megabytes
from bench.stores import copied
from bench.writing import FRESH

CALLS = 30


def memory(bench: Bench) -> Iterator[Figure]:
    """The resident memory of a stdio server after some recalls and writes."""
    size = bench.sizes[1]
    for embedder, budget in (("none", 110), ("local", 240)):
        with copied(bench.stores.ours(size)) as path, server(path, embedder) as client:
            client.start()
            for number in range(CALLS):
                client.call("recall", query=texts.question(number))
                client.call("remember", text=texts.text(FRESH + number))
            ours = resident_megabytes(client.pid)
        if ours is not None:
            what = f"memory at {size:,}, {'without' if embedder == 'none' else 'with'} model"
            yield Figure(what=what, ours=ours, unit="MB", budget=budget, reference=_reference(bench, size))


def server(path: Path, embedder: str) -> StdioClient:
    """Our stdio server on *path*."""
    command = [sys.executable, "-m", "mnemic", "mcp", "--db", str(path)]
    return StdioClient(command, {**os.environ, "MNEMIC_EMBEDDER": embedder})


def _reference(bench: Bench, size: int) -> float | None:
    if not bench.reference:
        return None
    with copied(bench.stores.reference(size)) as path, bench.reference.client(path) as client:
        client.start()
        for number in range(CALLS):
            reference.search(texts.telling(number, 1)[0], client)
            reference.create([texts.text(FRESH + number)], client)
        return resident_megabytes(client.pid)


def disk(bench: Bench) -> Iterator[Figure]:
    """Bytes a memory, everything included; ours has a vector and a journal, the others have neither."""
    size = bench.sizes[-1]
    yield Figure(
        what=f"disk a memory, {size:,} of {texts.CHARACTERS} characters",
        ours=_kilobytes(bench.stores.ours(size), size),
        unit="kB",
        budget=2.0,
        floor=_kilobytes(bench.stores.floor(size), size),
        reference=_kilobytes(bench.stores.reference(size), size),
    )


def _kilobytes(path: Path, count: int) -> float:
    return path.stat().st_size / count / 1024
