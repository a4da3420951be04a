"""Footprint: the memory of a running server, and the disk space of a memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from bench import reference, texts
from bench.clients import StdioClient
from bench.figures import Figure
from bench.processes import resident_megabytes, resident_users_megabytes
from bench.run import Bench
from bench.stores import copied
from bench.writes import FRESH

CALLS = 30


def memory(bench: Bench) -> Iterator[Figure]:
    """The resident memory of everything that serves one stdio client, after some recalls and writes."""
    size = bench.sizes[1]
    for embedder, name in (("none", "memory without model"), ("local", "memory with model")):
        with copied(bench.stores.ours(size)) as path, server(path, embedder) as client:
            client.start()
            for number in range(CALLS):
                client.call("recall", query=texts.question(number))
                client.call("remember", text=texts.text(FRESH + number))
            ours = resident_users_megabytes(path)
        if ours is not None:
            yield Figure(
                what=f"{name}, {size:,}",
                measured=ours,
                unit="MB",
                row=name,
                reference=_reference(bench, size),
            )


def server(path: Path, embedder: str) -> StdioClient:
    """Our stdio server on *path*."""
    command = [sys.executable, "-m", "mnemic", "mcp", "--db", str(path)]
    return StdioClient(command, {**os.environ, "MNEMIC_EMBEDDER": embedder, "MNEMIC_NAMESPACE": "*"})


def _reference(bench: Bench, size: int) -> float | None:
    if not bench.reference:
        return None
    with copied(bench.stores.reference(size)) as path, bench.reference.client(path) as client:
        client.start()
        for number in range(CALLS):
            reference.search(texts.key_words(number, 1)[0], client)
            reference.create([texts.text(FRESH + number)], client)
        return resident_megabytes(client.pid)


def disk(bench: Bench) -> Iterator[Figure]:
    """Kilobytes a memory; ours has a vector and a journal, the others have neither."""
    size = bench.sizes[-1]
    yield Figure(
        what=f"disk a memory, {size:,} of {texts.CHARACTERS} characters",
        measured=kilobytes_each(bench.stores.ours(size), size),
        unit="kB",
        row="disk",
        floor=kilobytes_each(bench.stores.floor(size), size),
        reference=kilobytes_each(bench.stores.reference(size), size),
    )


def kilobytes_each(path: Path, count: int) -> float:
    """The size of a file divided by the number of memories in it."""
    return path.stat().st_size / count / 1024
