"""Serving: how many recalls a second the daemon answers over HTTP."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from bench.bench import Bench
from bench.figures import Figure
from bench.stores import copied
from bench.surfaces import Daemon

CONNECTIONS = 4
SECONDS = 5
BUDGETS = {"keyword": 800, "semantic": 150}
"""The least that will do on two cores, one of which the client has a share of."""


def http(bench: Bench) -> Iterator[Figure]:
    """ai-memory's recall, by words and by words and vectors, asked for over several connections at once."""
    size = bench.sizes[1]
    for tier, budget in BUDGETS.items():
        with copied(bench.stores.ours(size)) as path, Daemon(path, "local", "--tier", tier) as daemon:
            yield Figure(
                what=f"recall over HTTP, {tier}, {size:,}",
                ours=_asked(daemon.port, size),
                unit="/s",
                budget=budget,
                is_least=True,
            )


def _asked(port: int, size: int) -> float:
    command = [sys.executable, "-m", "bench.asking", *map(str, (port, size, CONNECTIONS, SECONDS))]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
