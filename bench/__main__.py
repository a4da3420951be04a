"""`python -m bench [--quick] [--only NAME]`: measure the budgets of the design and print them as a table."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw

from bench import (
    as_of,
    backlog,
    contention,
    dialects,
    embedder,
    first_paint,
    footprint,
    graph,
    growth,
    hooks,
    importer,
    limits,
    million,
    postgres,
    recall_storage,
    search,
    split,
    startup,
    store_copy,
    team,
    tenants,
    throughput,
    transports,
    writes,
)
from bench.figures import MISSED, Figure, echoed, report
from bench.run import CACHE, Bench, prepared

MEASUREMENTS: dict[str, Callable[[Bench], Iterator[Figure]]] = {
    "write": writes.write,
    "batch": writes.batch,
    "bulk": writes.bulk,
    "postgres": postgres.postgres,
    "search": search.search,
    "substring": search.substring,
    "recall": search.recall,
    "semantic": search.semantic,
    "open": search.open_by_name,
    "list": search.listing,
    "as_of": as_of.as_of,
    "backlog": backlog.backlog,
    "split": split.split,
    "graph": graph.graph,
    "lore": dialects.lore,
    "agentic": dialects.agentic,
    "workspace": dialects.workspace,
    "import": importer.import_document,
    "copy": store_copy.copies,
    "growth": growth.growth,
    "embed": embedder.embed,
    "memory": footprint.memory,
    "disk": footprint.disk,
    "start": startup.start,
    "cli": startup.cli,
    "fresh": startup.fresh,
    "hooks": hooks.hooks,
    "command": hooks.warm_command,
    "clients": hooks.ten_clients,
    "transports": transports.transports,
    "http": throughput.http,
    "team": team.team,
    "storage": recall_storage.recall_storage,
    "paint": first_paint.paint,
    "limits": limits.limits,
    "processes": contention.processes,
    "million": million.million,
    "tenants": tenants.tenants,
}
BY_NAME_ONLY = {"million", "tenants"}
"""Left out unless asked for: their stores take minutes to build, that of a million 2 GB of disk."""
NOTES = """
Times are CPU time as measured, p50 and p99 (of fewer than 100 calls the slowest), in the default product with its
embedder and background worker. "At rest" is the same scaled to an idle machine. The floor is plain SQLite (apsw, WAL,
synchronous=FULL, one table and FTS5) with the same texts and no vectors, called in turn with ours. Texts and vectors
are generated; vectors are scattered around those of 256 model runs.
"""


def main() -> None:
    """Print the table; exit with 1 if a measured budget is missed."""
    arguments = parsed()
    # An installed package is compiled. Without this a cold start would also compile our source: 100 ms.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    bench = prepared(arguments.cache, is_quick=arguments.quick)
    names = arguments.only or [name for name in MEASUREMENTS if name not in BY_NAME_ONLY]
    figures = [figure for name in names for figure in echoed(MEASUREMENTS[name](bench))]
    print(f"Python {platform.python_version()}, SQLite {apsw.sqlitelibversion()}, {platform.machine()}")
    print(report(figures))
    print(NOTES)
    if bench.reference is None:
        print("The reference server is not installed (npm was not found or failed).")
    sys.exit(any(figure.verdict == MISSED for figure in figures))


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="stop at 10,000 memories, and call less often")
    parser.add_argument(
        "--only", choices=MEASUREMENTS, action="append", metavar="NAME", help=", ".join(MEASUREMENTS)
    )
    parser.add_argument("--cache", type=Path, default=CACHE, metavar="FOLDER", help="folder of built stores")
    return parser.parse_args()


if __name__ == "__main__":
    main()
