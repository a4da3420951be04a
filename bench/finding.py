"""Finding: by all words, by words and meaning, by name, and as of a moment in the past."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

from bench import reference, texts
from bench.bench import Bench
from bench.figures import Figure
from bench.floor import Floor
from bench.measuring import Spent, spent
from bench.stores import BATCH, copied, moment_of, namespace, open_store
from mnemic.core.context import Context
from mnemic.core.history import as_of
from mnemic.core.memories import open_all, title_of
from mnemic.core.recall import recall as recall_core
from mnemic.model.memory import Memory
from mnemic.model.search import Filter, Query
from mnemic.retrieval.text import query_terms

LIMIT = 10
WORDS = 3
SMALL = 7
"""A memory of a namespace that holds one in a hundred."""


def search(bench: Bench) -> Iterator[Figure]:
    """The memories that hold all of three words, best first."""
    for size, budget in zip(bench.sizes[1:], (1, 3), strict=False):
        ours = one_search(bench, size)
        yield Figure(
            what=f"keyword search, all words, {size:,}",
            ours=ours.cpu,
            wall=ours.wall,
            budget=budget,
            floor=_floor_search(bench, size, every=True).cpu,
            reference=_reference(bench, size, reference.search),
        )


def recall(bench: Bench) -> Iterator[Figure]:
    """Words and vectors, the question embedded on the way, use noted."""
    for size, budget in zip(bench.sizes[1:], (8, 25), strict=False):
        floor = _floor_search(bench, size, every=False).cpu
        ours = _recall(bench, size, None)
        yield Figure(what=f"recall over {size:,}", ours=ours.cpu, wall=ours.wall, budget=budget, floor=floor)
    ours = _recall(bench, size, namespace(SMALL))
    yield Figure(what=f"recall in a namespace of {size // 100:,} of {size:,}", ours=ours.cpu, wall=ours.wall, budget=8)
    cold = _cold_recall(bench, size)
    yield Figure(what=f"first recall after opening {size:,}, model loaded", ours=cold.cpu, wall=cold.wall)


def open_by_name(bench: Bench) -> Iterator[Figure]:
    """One memory by its title, with its links, use noted."""
    for size in bench.sizes[1:]:
        ours = one_open(bench, size)
        yield Figure(
            what=f"open by name, {size:,}",
            ours=ours.cpu,
            wall=ours.wall,
            budget=0.2,
            floor=_floor_open(bench, size).cpu,
            reference=_reference(bench, size, reference.open_),
        )


def past(bench: Bench) -> Iterator[Figure]:
    """A recall in the store as it stood when it was half as full: the first, and the next at the same moment."""
    size = bench.sizes[1]
    with copied(bench.stores.ours(size)) as path, open_store(path, "local") as app:
        recall_in(app.ctx, 1)
        then = moment_of(size // 2)
        first = spent([lambda: recall_in(as_of(app.ctx, then), 2)])
        again = spent(partial(_recall_then, app.ctx, then, number) for number in range(3, 20))
    yield Figure(what=f"recall as of a moment, {size:,}", ours=first.cpu, wall=first.wall, budget=1_000)
    yield Figure(what="recall as of the same moment again", ours=again.cpu, wall=again.wall)


def _recall_then(ctx: Context, moment: int, number: int) -> None:
    recall_in(as_of(ctx, moment), number)


@cache
def one_search(bench: Bench, size: int) -> Spent:
    """What a search for three words costs us."""
    with copied(bench.stores.ours(size)) as path, open_store(path) as app:
        asked = [" ".join(texts.telling(number, WORDS)) for number in _numbers(bench, size)]
        return spent(partial(search_words, app.ctx, words) for words in asked)


def search_words(ctx: Context, words: str) -> list[Memory]:
    """The memories that hold all of *words*."""
    reader = ctx.store.read()
    wanted = Filter(namespaces=ctx.scope(), alive_at=ctx.now())
    found = reader.words(query_terms(reader, words).exact, wanted, every=True, limit=LIMIT)
    return reader.memories([number for number, _ in found])


def recall_in(ctx: Context, number: int, space: str | None = None) -> None:
    """Ask the question that memory *number* answers."""
    now = ctx.now()
    wanted = Filter(namespaces=ctx.scope(space), alive_at=now)
    recall_core(ctx, Query(text=texts.question(number), filter=wanted, limit=LIMIT, now=now))


@cache
def one_open(bench: Bench, size: int) -> Spent:
    """What opening by title costs us."""
    with copied(bench.stores.ours(size)) as path, open_store(path) as app:
        titles = [title_of(texts.text(number)) for number in _numbers(bench, size)]
        return spent(partial(open_all, app.ctx, [title]) for title in titles)


def _recall(bench: Bench, size: int, space: str | None) -> Spent:
    with copied(bench.stores.ours(size)) as path, open_store(path, "local") as app:
        return spent(partial(recall_in, app.ctx, number, space) for number in _numbers(bench, size))


def _cold_recall(bench: Bench, size: int) -> Spent:
    with copied(bench.stores.ours(size)) as path, open_store(path, "local") as app:
        assert app.ctx.embedder
        app.ctx.embedder.embed(["loads the model"])
        return spent([partial(recall_in, app.ctx, 1)])


def _numbers(bench: Bench, size: int) -> list[int]:
    """Memories spread over the store."""
    return [turn * 997 % size for turn in range(bench.rounds)]


def _floor_search(bench: Bench, size: int, *, every: bool) -> Spent:
    with copied(bench.stores.floor(size)) as path:
        floor = Floor(path)
        asked = [texts.telling(number, WORDS if every else 4) for number in _numbers(bench, size)]
        return spent(partial(floor.search, words, every=every) for words in asked)


def _floor_open(bench: Bench, size: int) -> Spent:
    with copied(bench.stores.floor(size)) as path:
        floor = Floor(path)
        return spent(partial(floor.open, title_of(texts.text(number))) for number in _numbers(bench, size))


def _reference(bench: Bench, size: int, ask) -> float | None:  # type: ignore[no-untyped-def]
    if not bench.reference:
        return None
    numbers = _numbers(bench, size)[: bench.reference_rounds(size)]
    with copied(bench.stores.reference(size)) as path:
        calls = [partial(_asked, ask, title_of(texts.text(number))) for number in numbers]
        return bench.reference.spent(path, calls).cpu


def _asked(ask, title: str, client) -> None:  # type: ignore[no-untyped-def]
    ask(client, title)
