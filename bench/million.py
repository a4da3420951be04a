"""One million memories: `python -m bench.million [--size N]`, out of the default run.

The store is built once through the product's write path (ten minutes, 2 GB) and kept in the cache folder. Smaller
sizes are measured by the same code, so that growth and ratios can be compared.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from bench import texts
from bench.as_of import as_of_figures
from bench.figures import Figure, echoed, report, timed
from bench.first_recall import first_recalls
from bench.footprint import kilobytes_each
from bench.growth import exponent_figure
from bench.processes import Usage, resident_beyond_files, run
from bench.run import CACHE, Bench, prepared
from bench.search import WORDS, ask, search_words
from bench.stores import copied, namespace, product
from bench.timer import Spent, spent
from bench.transports import Daemon
from bench.writes import FRESH
from mnemic.core.context import Context
from mnemic.core.memories import Note, open_all, remember
from mnemic.model.filter import Filter
from mnemic.model.memory import title_of

SIZE = 1_000_000
SIZES = (10_000, 100_000, SIZE)
SMALL = 7
"""A memory of a namespace that holds one in a hundred."""
LONGEST_SECONDS = 30
DAEMON_RECALLS = 20
FORMATS = ("json", "jsonl")
GROWING = ("write", "open", "search")


def million(bench: Bench) -> Iterator[Figure]:
    """All figures at 10,000, 100,000 and 1,000,000 memories."""
    return figures(bench, SIZES)


def figures(bench: Bench, sizes: tuple[int, ...]) -> Iterator[Figure]:
    """The figures of each size, then those that compare sizes."""
    calls: dict[int, dict[str, Spent]] = {}
    exports: dict[int, dict[str, Usage]] = {}
    for size in sizes:
        with copied(bench.stores.ours(size)) as path:
            yield disk_figure(path, size)
            yield from first_recall_figures(path, size)
            exports[size] = {form: export(path, form) for form in FORMATS}
            yield from export_figures(exports[size], size)
            yield from daemon_figures(path, size)
            with product(path) as ctx:
                calls[size] = call_costs(bench, ctx, size)
        yield from call_figures(calls[size], size)
        yield from as_of_figures(bench, size)
    if len(sizes) > 1:
        yield from comparisons(calls, exports)


def export(path: Path, form: str) -> Usage:
    """What `mnemic export` uses when its output is thrown away."""
    return run([sys.executable, "-m", "mnemic", "export", "--format", form, "--db", str(path)])


def export_figures(used: dict[str, Usage], size: int) -> Iterator[Figure]:
    """CPU time and peak memory of an export in each format."""
    for form, usage in used.items():
        yield Figure(what=f"export to {form}, {size:,}", measured=usage.cpu_ms)
        yield Figure(
            what=f"peak memory of export to {form}, {size:,}", measured=usage.peak_megabytes, unit="MB"
        )


def disk_figure(path: Path, size: int) -> Figure:
    """Kilobytes a memory."""
    return Figure(what=f"disk a memory, {size:,}", measured=kilobytes_each(path, size), unit="kB", row="disk")


def first_recall_figures(path: Path, size: int) -> Iterator[Figure]:
    """The first recall once the model is loaded, from the start of the process, and before index files exist."""
    without_index, first = first_recalls(path, texts.question(1))
    row = "million first" if size == SIZE else None
    what = f"first recall of a fresh process, {size:,}"
    yield Figure(what=f"{what}, model loaded", measured=first.recall, row=row)
    yield Figure(what=f"{what}, from its start", measured=first.total)
    yield Figure(what=f"{what}, before index files exist", measured=without_index.recall)


def daemon_figures(path: Path, size: int) -> Iterator[Figure]:
    """The memory of a daemon after some recalls, without the files beside the store that it has mapped."""
    with Daemon(path, "local") as daemon:
        for number in range(DAEMON_RECALLS):
            daemon.recall(texts.question(number))
        beyond = resident_beyond_files(daemon.pid, path.parent)
    if beyond is not None:
        row = "million memory" if size == SIZE else None
        yield Figure(what=f"daemon memory beyond mapped files, {size:,}", measured=beyond, unit="MB", row=row)


def call_costs(bench: Bench, ctx: Context, size: int) -> dict[str, Spent]:
    """The cost of each call in a warm process."""
    numbers = bench.numbers(size)
    small = Filter(namespaces=(namespace(SMALL),))
    series: dict[str, Iterable[Callable[[], object]]] = {
        "recall": (partial(ask, ctx, texts.question(n)) for n in numbers),
        "recall in 1 %": (partial(ask, ctx, texts.question(n), small) for n in numbers),
        "search": (partial(search_words, ctx, " ".join(texts.key_words(n, WORDS))) for n in numbers),
        "open": (partial(open_all, ctx, [title_of(texts.text(n))]) for n in numbers),
    }
    costs = {name: spent(calls, at_most_seconds=LONGEST_SECONDS) for name, calls in series.items()}
    notes = ([Note(text=texts.text(FRESH + n))] for n in numbers)
    writes = (partial(remember, ctx, some) for some in notes)
    costs["write"] = spent(writes, time.thread_time, at_most_seconds=LONGEST_SECONDS)
    return costs


def call_figures(costs: dict[str, Spent], size: int) -> Iterator[Figure]:
    """The cost of each call in a warm process, with its budget."""
    row = "million recall" if size == SIZE else {10_000: "recall 10k", 100_000: "recall 100k"}[size]
    yield timed(f"recall over {size:,}", costs["recall"], row)
    yield timed(f"recall in a namespace of {size // 100:,}", costs["recall in 1 %"], "recall namespace")
    yield timed(f"keyword search, all words, {size:,}", costs["search"])
    yield timed(f"open by name, {size:,}", costs["open"], "open")
    yield timed(f"write in the caller, embedder at work, {size:,}", costs["write"], "write")


def comparisons(calls: dict[int, dict[str, Spent]], exports: dict[int, dict[str, Usage]]) -> Iterator[Figure]:
    """Growth, and the peak memory of an export from the smallest store to the largest."""
    smallest, largest = min(exports), max(exports)
    is_judged = largest == SIZE
    for form in FORMATS:
        yield Figure(
            what=f"peak memory of export to {form}, {largest:,} / {smallest:,}",
            measured=exports[largest][form].peak_megabytes / exports[smallest][form].peak_megabytes,
            unit="×",
            row="million export" if is_judged else None,
        )
    for name in GROWING:
        costs = {size: of_size[name] for size, of_size in calls.items()}
        yield exponent_figure(name, f"million growth {name}" if is_judged else None, costs)


def main() -> None:
    """Print the figures of the sizes asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.million", description=__doc__)
    parser.add_argument("--size", type=int, choices=SIZES, action="append", help="default: all three")
    parser.add_argument("--cache", type=Path, default=CACHE, metavar="FOLDER", help="folder of built stores")
    arguments = parser.parse_args()
    bench = prepared(arguments.cache)
    print(report(list(echoed(figures(bench, tuple(arguments.size or SIZES))))))


if __name__ == "__main__":
    main()
