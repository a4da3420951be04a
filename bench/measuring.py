"""How long a call takes: in processor time, brought to a machine at rest, and by the clock."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

LOOPS = 2_000
LOOP_SECONDS = 60e-6
"""What a loop of so many additions takes on the machine the budgets were set on, when nobody else is using it."""


@dataclass(frozen=True, slots=True)
class Spent:
    """The median of several calls, in milliseconds. *cpu* is as on a machine at rest, *busy* as it was measured."""

    cpu: float
    busy: float
    wall: float


def slowdown() -> float:
    """How many times slower this machine is at this moment than it would be at rest; 1 if it is faster."""
    total, before = 0, time.process_time()
    for number in range(LOOPS):
        total += number
    return max(1.0, (time.process_time() - before) / LOOP_SECONDS)


def spent(calls: Iterable[Callable[[], object]], processor: Callable[[], float] = time.process_time) -> Spent:
    """What each of *calls* costs; the first two, which fill caches, are not counted."""
    cpu, wall, pace = [], [], []
    for call in calls:
        pace.append(slowdown())
        wall_before, cpu_before = time.perf_counter(), processor()
        call()
        cpu.append(processor() - cpu_before)
        wall.append(time.perf_counter() - wall_before)
    warm = slice(2, None) if len(cpu) > 4 else slice(None)
    busy = 1000 * median(cpu[warm])
    return Spent(busy / median(pace), busy, 1000 * median(wall[warm]))


def cpu_seconds_of(pid: int) -> float | None:
    """The processor time another process has used in all its threads, or None where nobody tells."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9
    except OSError:
        return None


def resident_megabytes(pid: int | None = None) -> float | None:
    """The memory a process holds, or None where nobody tells."""
    try:
        lines = Path(f"/proc/{pid or os.getpid()}/status").read_text().splitlines()
    except OSError:
        return None
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))
