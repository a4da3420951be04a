"""Memory that learns: Lorekeeper's and AgenticMemory's searches, a walk along links, grounding, and a workspace."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bench import texts
from bench.bench import Bench
from bench.figures import Figure, timed
from bench.measuring import Spent, spent, together
from bench.stores import copied, open_store, scratch, staying
from mnemic.app import dialect
from mnemic.core.context import Context
from mnemic.core.workspaces import add, create, search
from mnemic.embedding.base import SingleModel

if TYPE_CHECKING:
    from mnemic.embedding.base import Embedder, Vectors

LINKS_EACH = 5
LINK_TYPES = ("caused_by", "supports", "related_to", "part_of")
INSERTS = 60
DEPTH = 5
MEMBERS = 4


def lore(bench: Bench) -> Iterator[Figure]:
    """lore_search and memory_similar by text, each through its tool, and lore_insert beside its embedding."""
    for size, budget in zip(bench.sizes[1:], (10, 30), strict=False):
        with copied(bench.stores.ours(size)) as path, staying(path, "local") as app:
            asked = [texts.question(number) for number in bench.numbers(size)]
            yield timed(f"lore_search over {size:,}", _searches(app.ctx, asked), budget)
            yield timed(f"memory_similar over {size:,}", _similar(app.ctx, asked), budget)
            yield timed(f"lore_insert into {size:,}, embedding aside", _inserts(app.ctx, size), 2)


def agentic(bench: Bench) -> Iterator[Figure]:
    """memory_traverse five links deep among five links a memory, and memory_ground."""
    size = bench.sizes[-1]
    linked = bench.stores.kept(f"linked-{size}.db", partial(build_linked, bench, size))
    with copied(linked) as path, staying(path, "local") as app:
        walks = spent(
            partial(_call, app.ctx, "agentic-memory", "memory_traverse", start_id=n + 1, max_depth=DEPTH)
            for n in bench.numbers(size)
        )
        claims = [texts.text(n)[:80] for n in bench.numbers(size)]
        grounds = spent(
            partial(_call, app.ctx, "agentic-memory", "memory_ground", claim=claim) for claim in claims
        )
    yield timed(f"memory_traverse, depth {DEPTH}, {size:,} and {LINKS_EACH * size:,} links", walks, 10)
    yield timed(f"memory_ground over {size:,}", grounds, 40)


def workspace(bench: Bench) -> Iterator[Figure]:
    """A question to four stores of a quarter each, beside one that holds as much as all."""
    size = bench.sizes[-1]
    with scratch() as folder, open_store(folder / "asking.db") as app:
        ctx = replace(app.ctx, roots=(folder.resolve(),))
        one = [Path(shutil.copy(bench.stores.ours(size), folder / "whole.db"))]
        part = bench.stores.ours(size // MEMBERS)
        several = [Path(shutil.copy(part, folder / f"part-{n}.db")) for n in range(MEMBERS)]
        whole, parts = together([_questions(bench, ctx, one), _questions(bench, ctx, several)])
    yield Figure(what=f"one store of {size:,}", ours=whole.wall, wall=whole.wall)
    yield Figure(
        what=f"workspace of {MEMBERS} stores of {size // MEMBERS:,}",
        ours=parts.wall,
        budget=1.5 * whole.wall,
        wall=parts.wall,
    )


def _questions(bench: Bench, ctx: Context, paths: Sequence[Path]) -> list[Callable[[], object]]:
    made = create(ctx, "bench")
    for path in paths:
        made, _ = add(ctx, made, str(path))
    asked = map(texts.question, bench.numbers(bench.sizes[1]))
    return [partial(search, ctx, made, question, 10) for question in asked]


def build_linked(bench: Bench, size: int, path: Path) -> None:
    """The store of *size* memories with links between them, each memory having five."""
    shutil.copy(bench.stores.ours(size), path)
    chance = random.Random(size)
    with open_store(path) as app:
        for first in range(1, size + 1, 5_000):
            with app.ctx.write("link") as tx:
                for source in range(first, min(first + 5_000, size + 1)):
                    for _ in range(LINKS_EACH):
                        target = chance.randint(1, size)
                        tx.add_edge(source, target, chance.choice(LINK_TYPES))


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
    remembering = Remembering(ctx.embedder)
    with scratch() as folder, open_store(folder / "first.db") as app:
        _call(replace(app.ctx, embedder=remembering), "lorekeeper", "lore_insert", memories=items)
    known = replace(ctx, embedder=remembering)
    return spent(partial(_call, known, "lorekeeper", "lore_insert", memories=[item]) for item in items)


class Remembering(SingleModel):
    """An embedder that has seen the texts before: what is left is the work beside it."""

    def __init__(self, embedder: Embedder):
        self._embedder = embedder
        self._known: dict[str, Vectors] = {}
        self._cut: dict[str, Sequence[tuple[int, int]]] = {}
        self.name = embedder.name
        self.dimension = embedder.dimension

    def windows(self, text: str) -> Sequence[tuple[int, int]]:
        """See Embedder."""
        if text not in self._cut:
            self._cut[text] = self._embedder.windows(text)
        return self._cut[text]

    def problem(self) -> str | None:
        """See Embedder."""
        return None

    def embed(self, wanted: Sequence[str]) -> Vectors:
        """See Embedder."""
        import numpy as np

        for text in wanted:
            if text not in self._known:
                self._known[text] = self._embedder.embed([text])[0]
        return np.stack([self._known[text] for text in wanted])

    def close(self) -> None:
        """See Embedder."""
        self._embedder.close()


def _call(ctx: Context, name: str, tool: str, **arguments: object) -> None:
    spoken = dialect(name)
    spoken.render(spoken.call(ctx, tool, arguments))
