"""The budgets of the design, measured: `python -m bench.budgets [--quick] [--only NAME]`."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import platformdirs

from bench import (
    contention,
    embedding,
    finding,
    graph,
    growth,
    learning,
    limits,
    moving,
    serving,
    starting,
    surfaces,
    tidying,
    weight,
    writing,
)
from bench.bench import Bench
from bench.figures import Figure, table
from bench.reference import installed
from bench.stores import Stores

CACHE = Path(platformdirs.user_cache_dir("mnemic-bench"))
SIZES = (1_000, 10_000, 100_000)

BUDGETS: dict[str, Callable[[Bench], Iterator[Figure]]] = {
    "write": writing.write,
    "batch": writing.batch,
    "bulk": writing.bulk,
    "search": finding.search,
    "substring": finding.substring,
    "recall": finding.recall,
    "semantic": finding.semantic,
    "open": finding.open_by_name,
    "list": finding.listing,
    "past": finding.past,
    "split": tidying.split,
    "graph": graph.graph,
    "lore": learning.lore,
    "agentic": learning.agentic,
    "workspace": learning.workspace,
    "import": moving.moving,
    "growth": growth.growth,
    "embed": embedding.embed,
    "memory": weight.memory,
    "disk": weight.disk,
    "start": starting.start,
    "cli": starting.cli,
    "fresh": starting.fresh,
    "surface": surfaces.surface,
    "http": serving.http,
    "limits": limits.limits,
    "processes": contention.processes,
}
NOTES = """
Times are of the processor, the median of the calls made at the calmest moments, each brought to a machine at rest by a
small piece of work timed around it; beside them ours as measured in all calls, and by the clock. The floor is plain
SQLite (apsw, WAL, synchronous=FULL, one table and FTS5) with the same texts and no vectors. The texts are made up; the
vectors of the stores are scattered around those of 256 model runs and came there by the store's own write path.
"""


def main() -> None:
    """Measure what is asked for and print it as a table; exit 1 if a budget is missed."""
    arguments = parsed()
    # An installed package is compiled. Without this a cold start would also compile our source: 100 ms.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    bench = prepared(arguments.quick, arguments.cache)
    print(f"Python {platform.python_version()}, SQLite {apsw.sqlitelibversion()}, {platform.machine()}")
    figures: list[Figure] = []
    for name in arguments.only or BUDGETS:
        print(f"{name} …", end="\r", file=sys.stderr, flush=True)
        figures.extend(BUDGETS[name](bench))
    print(table(figures))
    print(
        NOTES
        if bench.reference
        else NOTES + "The reference server is not installed (npm was not found or failed).\n"
    )
    sys.exit(any(figure.verdict == "MISSED" for figure in figures))


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.budgets", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="stop at 10,000 memories, and call less often")
    parser.add_argument("--only", choices=BUDGETS, action="append", metavar="NAME", help=", ".join(BUDGETS))
    parser.add_argument(
        "--cache", type=Path, default=CACHE, metavar="FOLDER", help="where built stores are kept"
    )
    return parser.parse_args()


def prepared(is_quick: bool, cache: Path) -> Bench:
    """A run, with the stores and the reference server where they were left last time."""
    return Bench(
        stores=Stores(cache / "stores"),
        reference=installed(cache / "reference"),
        sizes=SIZES[:2] if is_quick else SIZES,
        rounds=60 if is_quick else 300,
    )


if __name__ == "__main__":
    main()
