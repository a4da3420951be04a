"""Throughput: recalls a second that the daemon answers over HTTP."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from statistics import mean, median

from bench.figures import Figure
from bench.run import Bench
from bench.stores import copied
from bench.timer import PACE
from bench.transports import Daemon

CONNECTIONS = 4
STRETCHES = 5
SECONDS = 3
LIMITS = {"keyword": 800, "semantic": 150}
"""The least on two cores that the client shares."""


def http(bench: Bench) -> Iterator[Figure]:
    """ai-memory's recall in the keyword and the semantic tier, over several connections at once."""
    size = bench.sizes[1]
    for tier, limit in LIMITS.items():
        with copied(bench.stores.ours(size)) as path, Daemon(path, "local", "--tier", tier) as daemon:
            assert daemon.port
            stretches = [_stretch(daemon.port, size) for _ in range(STRETCHES)]
        yield Figure(
            what=f"recall over HTTP, {tier}, {size:,}",
            measured=median(rate for rate, _ in stretches),
            unit="/s",
            limit=limit,
            is_minimum=True,
            at_rest=median(rate * slowness for rate, slowness in stretches),
        )


def _stretch(port: int, size: int) -> tuple[float, float]:
    """Answers a second, and how many times slower than at rest the machine was."""
    before = PACE.slowness()
    command = [sys.executable, "-m", "bench.http_client", *map(str, (port, size, CONNECTIONS, SECONDS))]
    rate = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return rate, mean((before, PACE.slowness()))
