"""Serving: how many recalls a second the daemon answers over HTTP."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from statistics import mean, median

from bench.bench import Bench
from bench.figures import Figure
from bench.measuring import PACE
from bench.stores import copied
from bench.surfaces import Daemon

CONNECTIONS = 4
STRETCHES = 5
SECONDS = 3
BUDGETS = {"keyword": 800, "semantic": 150}
"""The least that will do on two cores, one of which the client has a share of."""


def http(bench: Bench) -> Iterator[Figure]:
    """ai-memory's recall, by words and by words and vectors, asked for over several connections at once.

    Several stretches, each brought to a machine at rest by how slow it was right before and after; by the clock they
    are as measured.
    """
    size = bench.sizes[1]
    for tier, budget in BUDGETS.items():
        with copied(bench.stores.ours(size)) as path, Daemon(path, "local", "--tier", tier) as daemon:
            assert daemon.port
            stretches = [_stretch(daemon.port, size) for _ in range(STRETCHES)]
        yield Figure(
            what=f"recall over HTTP, {tier}, {size:,}",
            ours=median(rate * slowness for rate, slowness in stretches),
            unit="/s",
            budget=budget,
            is_least=True,
            wall=median(rate for rate, _ in stretches),
        )


def _stretch(port: int, size: int) -> tuple[float, float]:
    """The answers a second, and how many times slower than at rest the machine was meanwhile."""
    before = PACE.slowness()
    command = [sys.executable, "-m", "bench.asking", *map(str, (port, size, CONNECTIONS, SECONDS))]
    rate = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return rate, mean((before, PACE.slowness()))
