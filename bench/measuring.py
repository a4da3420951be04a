"""How long a call takes: the processor's time, which a busy neighbour hardly changes, and the clock's."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True, slots=True)
class Spent:
    """The median of several calls, in milliseconds."""

    cpu: float
    wall: float


def spent(calls: Iterable[Callable[[], object]], processor: Callable[[], float] = time.process_time) -> Spent:
    """What each of *calls* costs; the first two, which fill caches, are not counted."""
    cpu, wall = [], []
    for call in calls:
        wall_before, cpu_before = time.perf_counter(), processor()
        call()
        cpu.append(processor() - cpu_before)
        wall.append(time.perf_counter() - wall_before)
    warm = slice(2, None) if len(cpu) > 4 else slice(None)
    return Spent(1000 * median(cpu[warm]), 1000 * median(wall[warm]))


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
