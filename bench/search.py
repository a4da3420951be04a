"""Search: all words, words and vectors, substrings, by name, listings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial

from bench import reference, texts
from bench.clients import StdioClient
from bench.figures import Figure, timed
from bench.floor import Floor
from bench.run import Bench
from bench.stores import copied, moment_of, namespace, open_store, product
from bench.timer import Spent, interleaved, spent
from mnemic.core.context import Context
from mnemic.core.entities import visible
from mnemic.core.memories import open_all
from mnemic.core.recall import recall as recall_core
from mnemic.core.stats import overview
from mnemic.dialects.ai_memory.recall import listing as listed
from mnemic.dialects.ai_memory.recall import search as search_core
from mnemic.dialects.mcp_memory import search as associate
from mnemic.model.filter import Filter, Hit, Query
from mnemic.model.memory import Memory, title_of
from mnemic.storage.sqlite.trigram import BATCH, BATCHES

LIMIT = 10
WORDS = 3
LISTINGS = 20
SMALL = 7
"""A memory of a namespace that holds one in a hundred."""
EVERYTHING = Filter()
LARGEST = "global"
"""The namespace that holds nine in ten."""
SEARCH_ROWS = ("search 10k", "search 100k")
RECALL_ROWS = ("recall 10k", "recall 100k")


def search(bench: Bench) -> Iterator[Figure]:
    """The memories that hold all of three words: in a warm process, in a fresh one, and in the largest namespace."""
    for size, row in zip(bench.sizes[1:], SEARCH_ROWS, strict=False):
        ours, floor = one_search(bench, size)
        others = _reference(bench, size, reference.search)
        what = f"keyword search, all words, {size:,}"
        yield timed(what, ours, row, floor=floor, reference=others)
        yield timed(f"{what}, fresh process", first_search(bench, size), row)
        yield timed(f"{what}, largest namespace", one_search(bench, size, LARGEST)[0], row)


def substring(bench: Bench) -> Iterator[Figure]:
    """The memories that hold twenty characters, once the trigram index is built; and building it."""
    for size, limit in zip(bench.sizes[1:], (1.5, 2.2), strict=False):
        with copied(bench.stores.ours(size)) as path, open_store(path) as app:
            first = spent([partial(build_trigrams, app.ctx, size)])
            ours = spent(partial(containing, app.ctx, middle(number)) for number in bench.numbers(size))
        others = _reference(bench, size, reference.search, middle)
        yield timed(f"substring search, {size:,}", ours, limit=limit, reference=others)
        yield timed(f"trigram index built, {size:,}", first)


def middle(number: int) -> str:
    """Twenty characters from the middle of memory *number*."""
    return texts.text(number)[50:70]


def containing(ctx: Context, needle: str) -> list[Memory]:
    """The memories that hold *needle*."""
    reader = ctx.read()
    return reader.get(reader.search_substring(needle, Filter(namespaces=ctx.scope(), alive_at=ctx.now())))


def build_trigrams(ctx: Context, size: int) -> None:
    """Search until everything is indexed."""
    for _ in range(0, size + 1, BATCH * BATCHES):
        containing(ctx, "nothing holds this")


def recall(bench: Bench) -> Iterator[Figure]:
    """Words and vectors, the embedding of the question included. The floor ranks any word and has no vectors."""
    for size, row in zip(bench.sizes[1:], RECALL_ROWS, strict=False):
        ours, floor = _recall_beside_floor(bench, size)
        yield timed(f"recall over {size:,}", ours, row, floor=floor)
    largest = bench.sizes[-1]
    with copied(bench.stores.ours(largest)) as path, product(path) as ctx:
        small = one_recall(bench, ctx, largest, Filter(namespaces=(namespace(SMALL),)))
        one_kind = one_recall(bench, ctx, largest, Filter(kinds=("note",)))
        lately = Filter(namespaces=(LARGEST,), since=moment_of(largest // 2))
        half = one_recall(bench, ctx, largest, lately)
        misspelt = one_recall(bench, ctx, largest, ask_about=texts.misspelt_question)
    yield timed(f"recall in a namespace of {largest // 100:,} among {largest:,}", small, "recall namespace")
    yield timed(f"recall of one kind over {largest:,}", one_kind, limit=25)
    yield timed(f"recall of half the time in the largest namespace, {largest:,}", half, limit=25)
    yield timed(f"recall with a misspelt word over {largest:,}", misspelt)
    yield timed(
        f"first recall of a fresh process, {largest:,}, model loaded",
        _first_recall(bench, largest),
        limit=300,
    )


def semantic(bench: Bench) -> Iterator[Figure]:
    """mcp-memory's search: vectors and all words, weighted by use; use is recorded for each hit and pair."""
    for size, limit in zip(bench.sizes[1:], (10, 30), strict=False):
        yield timed(f"mcp-memory search over {size:,}", _associations(bench, size), limit=limit)


def open_by_name(bench: Bench) -> Iterator[Figure]:
    """One memory by its title, with its links; use is recorded."""
    for size in bench.sizes[1:]:
        ours, floor = one_open(bench, size)
        others = _reference(bench, size, reference.open_)
        yield timed(f"open by name, {size:,}", ours, "open", floor=floor, reference=others)


def listing(bench: Bench) -> Iterator[Figure]:
    """The first ten of the largest namespace, and the statistics: in a fresh process and in a warm one."""
    for size in bench.sizes[1:]:
        with copied(bench.stores.ours(size)) as path, open_store(path) as app:
            for name, call in _listings(app.ctx).items():
                yield timed(f"{name}, fresh process, {size:,}", spent([call]))
        with copied(bench.stores.ours(size)) as path, product(path) as ctx:
            for name, call in _listings(ctx).items():
                yield timed(f"{name}, {size:,}", spent([call] * LISTINGS))


def _listings(ctx: Context) -> dict[str, Callable[[], object]]:
    here = replace(EVERYTHING, namespaces=(LARGEST,), alive_at=ctx.now())
    return {"list": partial(listed, ctx, here, limit=LIMIT), "stats": partial(overview, ctx)}


@cache
def one_search(bench: Bench, size: int, space: str | None = None) -> tuple[Spent, Spent]:
    """The cost of a search for three words in a warm process, and of the same in plain SQLite."""
    with (
        copied(bench.stores.ours(size)) as path,
        product(path) as ctx,
        copied(bench.stores.floor(size)) as plain,
    ):
        floor = Floor(plain)
        asked = _asked(bench, size)
        ours, least = interleaved(
            [
                [partial(search_words, ctx, words, space) for words in asked],
                [partial(floor.search, words.split(), every=True) for words in asked],
            ]
        )
    return ours, least


@cache
def first_search(bench: Bench, size: int) -> Spent:
    """The cost of the second search of a process."""
    return spent(_first_searches(bench, size))


def _first_searches(bench: Bench, size: int) -> Iterator[Callable[[], object]]:
    """The second searches of many processes; the first reads the schema and the first pages of the file."""
    with copied(bench.stores.ours(size)) as path:
        asked = _asked(bench, size)
        for one, other in zip(asked[::2], asked[1::2], strict=True):
            with open_store(path) as app:
                search_words(app.ctx, one)
                yield partial(search_words, app.ctx, other)


def _asked(bench: Bench, size: int) -> list[str]:
    return [" ".join(texts.key_words(number, WORDS)) for number in bench.numbers(size)]


def search_words(ctx: Context, words: str, space: str | None = None) -> list[Hit]:
    """The memories that hold all of *words*, by the six-factor ranking."""
    return search_core(ctx, query(ctx, words, Filter(namespaces=ctx.scope(space))))


def ask(ctx: Context, question: str, wanted: Filter = EVERYTHING) -> Sequence[Hit]:
    """The hits of a recall."""
    return recall_core(ctx, query(ctx, question, wanted)).hits


def query(ctx: Context, question: str, wanted: Filter = EVERYTHING) -> Query:
    """A question about the living memories that pass *wanted*."""
    now = ctx.now()
    wanted = replace(wanted, namespaces=wanted.namespaces or ctx.scope(), alive_at=now)
    return Query(text=question, filter=wanted, limit=LIMIT, now=now)


@cache
def one_open(bench: Bench, size: int) -> tuple[Spent, Spent]:
    """The cost of opening a memory by title, and of the same in plain SQLite."""
    with (
        copied(bench.stores.ours(size)) as path,
        product(path) as ctx,
        copied(bench.stores.floor(size)) as plain,
    ):
        floor = Floor(plain)
        titles = [title_of(texts.text(number)) for number in bench.numbers(size)]
        ours, least = interleaved(
            [
                [partial(open_all, ctx, [title]) for title in titles],
                [partial(floor.open, title) for title in titles],
            ]
        )
    return ours, least


def one_recall(
    bench: Bench,
    ctx: Context,
    size: int,
    wanted: Filter = EVERYTHING,
    ask_about: Callable[[int], str] = texts.question,
) -> Spent:
    """The cost of a recall in a store of *size* that is open."""
    asked = list(map(ask_about, bench.numbers(size)))
    return spent(partial(ask, ctx, question, wanted) for question in asked)


def _recall_beside_floor(bench: Bench, size: int) -> tuple[Spent, Spent]:
    with (
        copied(bench.stores.ours(size)) as path,
        product(path) as ctx,
        copied(bench.stores.floor(size)) as plain,
    ):
        floor = Floor(plain)
        numbers = bench.numbers(size)
        ours, least = interleaved(
            [
                [partial(ask, ctx, texts.question(number)) for number in numbers],
                [partial(floor.search, texts.key_words(number, 4), every=False) for number in numbers],
            ]
        )
    return ours, least


def _associations(bench: Bench, size: int) -> Spent:
    with copied(bench.stores.ours(size)) as path, product(path) as ctx:
        asked = map(texts.question, bench.numbers(size))
        wanted = [replace(query(ctx, question), filter=visible(ctx)) for question in asked]
        return spent(partial(associate.search, ctx, one) for one in wanted)


def _first_recall(bench: Bench, size: int) -> Spent:
    with copied(bench.stores.ours(size)) as path, open_store(path, "local") as app:
        assert app.ctx.embedder
        app.ctx.embedder.embed(["loads the model"])
        return spent([partial(ask, app.ctx, texts.question(1))])


def _reference(
    bench: Bench,
    size: int,
    asks: Callable[[str, StdioClient], None],
    about: Callable[[int], str] = lambda number: title_of(texts.text(number)),
) -> Spent | None:
    if not bench.reference:
        return None
    numbers = bench.numbers(size)[: bench.reference_rounds(size)]
    with copied(bench.stores.reference(size)) as path:
        calls = [partial(asks, about(number)) for number in numbers]
        return bench.reference.spent(path, calls)
