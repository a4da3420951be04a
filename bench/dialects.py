"""Tools of the lorekeeper and agentic-memory dialects, and a workspace of several stores."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench import texts
from bench.figures import Figure, timed
from bench.run import Bench
from bench.stores import copied, open_store, product, scratch
from bench.timer import Spent, interleaved, spent
from mnemic.app import dialect
from mnemic.core.context import Context
from mnemic.dialects.agentic_memory.federation import add, create, search
from mnemic.dialects.execution import call
from mnemic.embedding.base import SingleModel
from mnemic.model.graph import EdgeDraft
from mnemic.storage.base import Writer

if TYPE_CHECKING:
    from mnemic.embedding.base import Embedder
    from mnemic.model.vectors import Vectors

LINKS_EACH = 5
LINK_TYPES = ("caused_by", "supports", "related_to", "part_of")
INSERTS = 60
DEPTH = 5
MEMBERS = 4


def lore(bench: Bench) -> Iterator[Figure]:
    """lore_search and memory_similar by text, each through its tool, and lore_insert without its embedding."""
    for size, limit in zip(bench.sizes[1:], (10, 30), strict=False):
        with copied(bench.stores.ours(size)) as path, product(path) as ctx:
            asked = [texts.question(number) for number in bench.numbers(size)]
            yield timed(f"lore_search over {size:,}", _searches(ctx, asked), limit=limit)
            yield timed(f"memory_similar over {size:,}", _similar(ctx, asked), limit=limit)
            yield timed(f"lore_insert into {size:,}, without embedding", _inserts(ctx, size), limit=2)


def agentic(bench: Bench) -> Iterator[Figure]:
    """memory_traverse to depth five with five links a memory, and memory_ground."""
    size = bench.sizes[-1]
    linked = bench.stores.kept(f"linked-{size}.db", partial(build_linked, bench, size))
    with copied(linked) as path, product(path) as ctx:
        walks = spent(
            partial(_call, ctx, "agentic-memory", "memory_traverse", start_id=n + 1, max_depth=DEPTH)
            for n in bench.numbers(size)
        )
        claims = [texts.text(n)[:80] for n in bench.numbers(size)]
        grounds = spent(
            partial(_call, ctx, "agentic-memory", "memory_ground", claim=claim) for claim in claims
        )
    yield timed(f"memory_traverse, depth {DEPTH}, {size:,} and {LINKS_EACH * size:,} links", walks, limit=10)
    yield timed(f"memory_ground over {size:,}", grounds, limit=40)


def workspace(bench: Bench) -> Iterator[Figure]:
    """A search in four stores of a quarter each, beside one store of the whole."""
    size = bench.sizes[-1]
    with scratch() as folder, open_store(folder / "asking.db") as app:
        ctx = replace(app.ctx, roots=(folder.resolve(),))
        one = [Path(shutil.copy(bench.stores.ours(size), folder / "whole.db"))]
        part = bench.stores.ours(size // MEMBERS)
        several = [Path(shutil.copy(part, folder / f"part-{n}.db")) for n in range(MEMBERS)]
        whole, parts = interleaved([_questions(bench, ctx, one), _questions(bench, ctx, several)])
    yield Figure(what=f"one store of {size:,}, wall time", measured=whole.wall_p50, p99=whole.wall_p99)
    yield Figure(
        what=f"workspace of {MEMBERS} stores of {size // MEMBERS:,}, wall time",
        measured=parts.wall_p50,
        limit=1.5 * whole.wall_p50,
        p99=parts.wall_p99,
    )


def _questions(bench: Bench, ctx: Context, paths: Sequence[Path]) -> list[Callable[[], object]]:
    made = create(ctx, "bench")
    for path in paths:
        made, _ = add(ctx, made, str(path))
    asked = map(texts.question, bench.numbers(bench.sizes[1]))
    return [partial(search, ctx, made, question, 10) for question in asked]


def build_linked(bench: Bench, size: int, path: Path) -> None:
    """Copy the store of *size* memories and give each memory five links."""
    shutil.copy(bench.stores.ours(size), path)
    chance = random.Random(size)
    with open_store(path) as app:
        for first in range(1, size + 1, 5_000):
            sources = range(first, min(first + 5_000, size + 1))
            app.ctx.change("link", partial(_link, sources, size, chance))


def _link(sources: range, size: int, chance: random.Random, tx: Writer) -> None:
    for source in sources:
        for _ in range(LINKS_EACH):
            tx.insert_edge(EdgeDraft(source, chance.randint(1, size), chance.choice(LINK_TYPES)))


def _searches(ctx: Context, asked: Sequence[str]) -> Spent:
    return spent(partial(_call, ctx, "lorekeeper", "lore_search", query=question) for question in asked)


def _similar(ctx: Context, asked: Sequence[str]) -> Spent:
    return spent(
        partial(_call, ctx, "agentic-memory", "memory_similar", query_text=question) for question in asked
    )


def _inserts(ctx: Context, size: int) -> Spent:
    assert ctx.embedder
    texts_of = [texts.text(size + number) for number in range(INSERTS)]
    items = [{"title": text[:60], "content": text} for text in texts_of]
    memoised = MemoisedEmbedder(ctx.embedder)
    with scratch() as folder, open_store(folder / "first.db") as app:
        _call(replace(app.ctx, embedder=memoised), "lorekeeper", "lore_insert", memories=items)
    known = replace(ctx, embedder=memoised)
    return spent(partial(_call, known, "lorekeeper", "lore_insert", memories=[item]) for item in items)


class MemoisedEmbedder(SingleModel):
    """An embedder that computes each text once, to measure the work beside it."""

    def __init__(self, embedder: Embedder):
        self._embedder = embedder
        self._known: dict[str, Vectors] = {}
        self._cut: dict[str, Sequence[tuple[int, int]]] = {}
        self.name = embedder.name
        self.dimension = embedder.dimension

    def windows(self, text: str) -> Sequence[tuple[int, int]]:
        """The windows of the model."""
        if text not in self._cut:
            self._cut[text] = self._embedder.windows(text)
        return self._cut[text]

    def problem(self) -> str | None:
        """None: it works."""
        return None

    def embed(self, wanted: Sequence[str]) -> Vectors:
        """One unit vector a text, computed the first time."""
        for text in wanted:
            if text not in self._known:
                self._known[text] = self._embedder.embed([text])[0]
        return np.stack([self._known[text] for text in wanted])

    def close(self) -> None:
        """Close the model."""
        self._embedder.close()


def _call(ctx: Context, name: str, tool: str, **arguments: object) -> None:
    chosen = dialect(name)
    chosen.render(call(chosen, ctx, tool, arguments))
