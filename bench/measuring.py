"""How long a call takes: in processor time while the machine is at rest, and by the clock.

A processor shared with others runs at half its speed whenever they work. So a small piece of work is timed
before and after each call, and a call counts when both took about as little time as they ever do.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench import texts

AT_REST = 1.2
"""A machine that is this many times slower than it can be is still at rest."""
ENOUGH = 8
"""So many calls at rest are needed; with fewer, all calls count, each brought down by how slow it was then."""
WARM_UP = 2


@dataclass(frozen=True, slots=True)
class Spent:
    """The median of several calls, in milliseconds: at rest, as it was measured, and by the clock."""

    cpu: float
    busy: float
    wall: float


class Pace:
    """How fast the machine is at a moment, by a piece of work that is always the same."""

    def __init__(self) -> None:
        self._texts = list(texts.texts(6))
        self._seen: list[float] = []
        for _ in range(2_000):
            self.take()

    def take(self) -> float:
        """The seconds the work takes now, the second time: the first brings it into the processor's cache."""
        self._work()
        before = time.process_time()
        self._work()
        self._seen.append(time.process_time() - before)
        return self._seen[-1]

    def _work(self) -> None:
        json.dumps([{"title": text[:80], "words": text.lower().split()} for text in self._texts])

    def slowness(self) -> float:
        """How many times slower the machine is now than at rest."""
        return median(self.take() for _ in range(100)) / self.at_rest()

    def at_rest(self) -> float:
        """The seconds it takes when the machine is at rest: the fastest hundredth of all that were seen."""
        return sorted(self._seen)[len(self._seen) // 100]


PACE = Pace()


def spent(calls: Iterable[Callable[[], object]], processor: Callable[[], float] = time.process_time) -> Spent:
    """What each of *calls* costs; the first two, which fill caches, do not count."""
    return together([calls], [processor])[0]


def together(
    series: Sequence[Iterable[Callable[[], object]]], processors: Sequence[Callable[[], float]] | None = None
) -> list[Spent]:
    """What the calls of each series cost when they are made in turns, so that all meet the same machine."""
    clocks = processors or [time.process_time] * len(series)
    trials = [
        [_timed(call, clock) for call, clock in zip(calls, clocks, strict=True)]
        for calls in zip(*series, strict=True)
    ]
    return [_summed_up(column) for column in zip(*trials, strict=True)]


@dataclass(frozen=True, slots=True)
class _Trial:
    cpu: float
    wall: float
    paces: tuple[float, float]


def _timed(call: Callable[[], object], processor: Callable[[], float]) -> _Trial:
    before = PACE.take()
    wall_before, cpu_before = time.perf_counter(), processor()
    call()
    cpu, wall = processor() - cpu_before, time.perf_counter() - wall_before
    return _Trial(cpu, wall, (before, PACE.take()))


def _summed_up(trials: Sequence[_Trial]) -> Spent:
    warm = trials[WARM_UP:] if len(trials) > 2 * WARM_UP else trials
    rest = PACE.at_rest()
    quiet = [trial.cpu for trial in warm if max(trial.paces) <= AT_REST * rest]
    rested = quiet if len(quiet) >= ENOUGH else [trial.cpu * 2 * rest / sum(trial.paces) for trial in warm]
    return Spent(
        1000 * median(rested),
        1000 * median(trial.cpu for trial in warm),
        1000 * median(trial.wall for trial in warm),
    )


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
