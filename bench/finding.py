"""Finding: by all words, by words and meaning, by name, and as of a moment in the past."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial

from bench import reference, texts
from bench.bench import Bench
from bench.clients import StdioClient
from bench.figures import Figure, timed
from bench.floor import Floor
from bench.measuring import Spent, spent
from bench.stores import copied, moment_of, namespace, open_store, staying
from mnemic.core import associate
from mnemic.core.context import Context
from mnemic.core.entities import visible
from mnemic.core.history import as_of
from mnemic.core.memories import open_all, title_of
from mnemic.core.overview import overview
from mnemic.core.recall import listing as listed
from mnemic.core.recall import recall as recall_core
from mnemic.core.recall import search as search_core
from mnemic.model.memory import Memory
from mnemic.model.search import Filter, Hit, Query
from mnemic.model.values import Moment
from mnemic.storage.sqlite.substrings import BATCH, BATCHES

LIMIT = 10
WORDS = 3
LISTINGS = 20
SMALL = 7
"""A memory of a namespace that holds one in a hundred."""
EVERYTHING = Filter()
LARGEST = "global"
"""The namespace that holds nine in ten."""


def search(bench: Bench) -> Iterator[Figure]:
    """The memories that hold all of three words, best first; in a process that stays, and at once."""
    for size, budget in zip(bench.sizes[1:], (1, 3), strict=False):
        floor, others = floor_search(bench, size, every=True), _reference(bench, size, reference.search)
        what = f"keyword search, all words, {size:,}"
        yield timed(what, one_search(bench, size), budget, floor=floor, reference=others)
        yield timed(f"{what}, at once", first_search(bench, size), budget)
        yield timed(
            f"the same in a namespace that holds most, {size:,}", one_search(bench, size, LARGEST), budget
        )


def substring(bench: Bench) -> Iterator[Figure]:
    """The memories that hold twenty characters, wherever these stand, once the index is there; and its making."""
    for size, budget in zip(bench.sizes[1:], (1.5, 2.2), strict=False):
        with copied(bench.stores.ours(size)) as path, open_store(path) as app:
            first = spent([partial(make_index, app.ctx, size)])
            ours = spent(partial(hold, app.ctx, middle(number)) for number in bench.numbers(size))
        others = _reference(bench, size, reference.search, middle)
        yield timed(f"substring search, {size:,}", ours, budget, reference=others)
        yield timed(f"index of substrings made, {size:,}", first)


def middle(number: int) -> str:
    """Twenty characters in the middle of memory *number*."""
    return texts.text(number)[50:70]


def hold(ctx: Context, needle: str) -> list[Memory]:
    """The memories that hold *needle*."""
    reader = ctx.store.read()
    return reader.memories(reader.ids_containing(needle, Filter(namespaces=ctx.scope(), alive_at=ctx.now())))


def make_index(ctx: Context, size: int) -> None:
    """Search as often as it takes until everything is indexed."""
    for _ in range(0, size + 1, BATCH * BATCHES):
        hold(ctx, "nothing holds this")


def recall(bench: Bench) -> Iterator[Figure]:
    """Words and vectors, the question embedded on the way, use noted. The floor has no vectors."""
    for size, budget in zip(bench.sizes[1:], (8, 25), strict=False):
        floor = floor_search(bench, size, every=False)
        yield timed(f"recall over {size:,}", _recall(bench, size), budget, floor=floor)
    largest = bench.sizes[-1]
    small = _recall(bench, largest, namespace(SMALL))
    yield timed(f"recall in a namespace of {largest // 100:,} among {largest:,}", small, 8)
    one_kind = Filter(kinds=("note",))
    yield timed(f"recall of one kind over {largest:,}", _recall(bench, largest, wanted=one_kind), 25)
    lately = Filter(namespaces=(LARGEST,), since=moment_of(largest // 2))
    yield timed(
        f"recall of half the time in the largest namespace, {largest:,}",
        _recall(bench, largest, wanted=lately),
        25,
    )
    yield timed(f"recall with a misspelt word over {largest:,}", _recall(bench, largest, misspelt=True))
    yield timed(f"first recall after opening {largest:,}, model loaded", _first_recall(bench, largest), 300)


def semantic(bench: Bench) -> Iterator[Figure]:
    """Association: meaning and all words, weighed by use, which is noted for each hit and each pair."""
    for size, budget in zip(bench.sizes[1:], (10, 30), strict=False):
        yield timed(f"association over {size:,}", _associations(bench, size), budget)


def open_by_name(bench: Bench) -> Iterator[Figure]:
    """One memory by its title, with its links, use noted."""
    for size in bench.sizes[1:]:
        floor, others = _floor_open(bench, size), _reference(bench, size, reference.open_)
        yield timed(f"open by name, {size:,}", one_open(bench, size), 0.2, floor=floor, reference=others)


def listing(bench: Bench) -> Iterator[Figure]:
    """The first ten in the largest namespace, and the store in numbers: at once, and in a process that stays."""
    for size in bench.sizes[1:]:
        with copied(bench.stores.ours(size)) as path, open_store(path) as app:
            for name, call in _listings(app.ctx).items():
                yield timed(f"{name}, at once, {size:,}", spent([call]))
        with copied(bench.stores.ours(size)) as path, staying(path) as app:
            for name, call in _listings(app.ctx).items():
                yield timed(f"{name}, in a process that stays, {size:,}", spent([call] * LISTINGS))


def _listings(ctx: Context) -> dict[str, Callable[[], object]]:
    here = replace(EVERYTHING, namespaces=(LARGEST,), alive_at=ctx.now())
    return {"list": partial(listed, ctx, here, limit=LIMIT), "stats": partial(overview, ctx)}


def past(bench: Bench) -> Iterator[Figure]:
    """A recall in the store as it stood when it was half as full: the first, and the next at the same moment."""
    size = bench.sizes[1]
    with copied(bench.stores.ours(size)) as path, open_store(path, "local") as app:
        first, *others = map(texts.question, range(20))
        ask(app.ctx, first)
        then = moment_of(size // 2)
        once = spent([partial(_ask_then, app.ctx, then, first)])
        again = spent(partial(_ask_then, app.ctx, then, question) for question in others)
    yield timed(f"recall as of a moment, {size:,}", once, 1_000)
    yield timed("recall as of the same moment again", again)


def _ask_then(ctx: Context, moment: Moment, question: str) -> None:
    ask(as_of(ctx, moment), question)


@cache
def one_search(bench: Bench, size: int, space: str | None = None) -> Spent:
    """What a search for three words costs us in a process that stays."""
    with copied(bench.stores.ours(size)) as path, staying(path) as app:
        return spent(partial(search_words, app.ctx, words, space) for words in _asked(bench, size))


@cache
def first_search(bench: Bench, size: int) -> Spent:
    """What the same costs in a process that was hardly asked before."""
    return spent(_first_searches(bench, size))


def _first_searches(bench: Bench, size: int) -> Iterator[Callable[[], object]]:
    """The first searches of many processes, after one that brings the file's first pages into memory."""
    with copied(bench.stores.ours(size)) as path:
        asked = _asked(bench, size)
        for one, other in zip(asked[::2], asked[1::2], strict=True):
            with open_store(path) as app:
                search_words(app.ctx, one)
                yield partial(search_words, app.ctx, other)


def _asked(bench: Bench, size: int) -> list[str]:
    return [" ".join(texts.telling(number, WORDS)) for number in bench.numbers(size)]


def search_words(ctx: Context, words: str, space: str | None = None) -> list[Hit]:
    """The memories that hold all of *words*, in the order of the six factors."""
    return search_core(ctx, _query(ctx, words, space))


def ask(ctx: Context, question: str, space: str | None = None, wanted: Filter = EVERYTHING) -> None:
    """Recall what answers *question*."""
    recall_core(ctx, _query(ctx, question, space, wanted))


def _query(ctx: Context, question: str, space: str | None = None, wanted: Filter = EVERYTHING) -> Query:
    now = ctx.now()
    wanted = replace(wanted, namespaces=wanted.namespaces or ctx.scope(space), alive_at=now)
    return Query(text=question, filter=wanted, limit=LIMIT, now=now)


@cache
def one_open(bench: Bench, size: int) -> Spent:
    """What opening by title costs us."""
    with copied(bench.stores.ours(size)) as path, open_store(path) as app:
        titles = [title_of(texts.text(number)) for number in bench.numbers(size)]
        return spent(partial(open_all, app.ctx, [title]) for title in titles)


def _recall(
    bench: Bench,
    size: int,
    space: str | None = None,
    *,
    wanted: Filter = EVERYTHING,
    misspelt: bool = False,
) -> Spent:
    with copied(bench.stores.ours(size)) as path, staying(path, "local") as app:
        make = texts.misspelt_question if misspelt else texts.question
        asked = list(map(make, bench.numbers(size)))
        return spent(partial(ask, app.ctx, question, space, wanted) for question in asked)


def _associations(bench: Bench, size: int) -> Spent:
    with copied(bench.stores.ours(size)) as path, staying(path, "local") as app:
        asked = map(texts.question, bench.numbers(size))
        wanted = [replace(_query(app.ctx, question), filter=visible(app.ctx)) for question in asked]
        return spent(partial(associate.search, app.ctx, query) for query in wanted)


def _first_recall(bench: Bench, size: int) -> Spent:
    with copied(bench.stores.ours(size)) as path, open_store(path, "local") as app:
        assert app.ctx.embedder
        app.ctx.embedder.embed(["loads the model"])
        return spent([partial(ask, app.ctx, texts.question(1))])


def floor_search(bench: Bench, size: int, *, every: bool) -> Spent:
    """What a search for words costs plain SQLite."""
    with copied(bench.stores.floor(size)) as path:
        floor = Floor(path)
        asked = [texts.telling(number, WORDS if every else 4) for number in bench.numbers(size)]
        return spent(partial(floor.search, words, every=every) for words in asked)


def _floor_open(bench: Bench, size: int) -> Spent:
    with copied(bench.stores.floor(size)) as path:
        floor = Floor(path)
        titles = [title_of(texts.text(number)) for number in bench.numbers(size)]
        return spent(partial(floor.open, title) for title in titles)


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
