"""How long a call takes: in processor time while the machine is at rest, and by the clock.

A processor shared with others runs at half its speed whenever they work. So a small piece of work is timed
before and after each call. A call waits until that takes about as little time as it ever does, but not for ever; the
calls around which it took the least count, each brought down by how much slower than at rest the machine still was.
"""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench import texts

AT_REST = 1.2
"""A machine that is this many times slower than it can be is still at rest."""
PATIENCE = 10.0
"""So many seconds calls that are measured together wait in all for the machine to come to rest."""
CALMEST, ENOUGH = 4, 8
"""One call in so many counts, and at least so many do."""
WARM_UP = 2
LEARNT_ANEW, REMEMBERED = 1_000, 50_000
"""After so many pieces of work it is looked again how little time the last ones took."""


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
        self._seen: deque[float] = deque(maxlen=REMEMBERED)
        self._taken = 0
        self._at_rest = 0.0
        for _ in range(2 * LEARNT_ANEW):
            self.take()

    def take(self) -> float:
        """The seconds the work takes now, the second time: the first brings it into the processor's cache."""
        self._work()
        before = time.process_time()
        self._work()
        self._seen.append(time.process_time() - before)
        self._taken += 1
        if self._taken % LEARNT_ANEW == 0:
            self._at_rest = sorted(self._seen)[len(self._seen) // 100]
        return self._seen[-1]

    def wait(self, until: float) -> float:
        """The seconds it takes once the machine is at rest, or at the moment *until*."""
        while (now := self.take()) > AT_REST * self._at_rest and time.monotonic() < until:
            pass
        return now

    def _work(self) -> None:
        json.dumps([{"title": text[:80], "words": text.lower().split()} for text in self._texts])

    def slowness(self) -> float:
        """How many times slower the machine is now than at rest."""
        return median(self.take() for _ in range(100)) / self.at_rest()

    def at_rest(self) -> float:
        """The seconds it takes when the machine is at rest: the fastest hundredth of all that were seen."""
        return self._at_rest


PACE = Pace()


def spent(calls: Iterable[Callable[[], object]], processor: Callable[[], float] = time.process_time) -> Spent:
    """What each of *calls* costs; the first two, which fill caches, do not count."""
    return together([calls], [processor])[0]


def together(
    series: Sequence[Iterable[Callable[[], object]]], processors: Sequence[Callable[[], float]] | None = None
) -> list[Spent]:
    """What the calls of each series cost when they are made in turns, so that all meet the same machine."""
    clocks = processors or [time.process_time] * len(series)
    patience = _Patience(PATIENCE)
    trials = [
        [_timed(call, clock, patience) for call, clock in zip(calls, clocks, strict=True)]
        for calls in zip(*series, strict=True)
    ]
    return [_summed_up(column) for column in zip(*trials, strict=True)]


class _Patience:
    """What is left of the time a series of calls may wait."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    def wait(self) -> float:
        """How fast the machine is after waiting for it to come to rest."""
        before = time.monotonic()
        pace = PACE.wait(before + self._left)
        self._left -= time.monotonic() - before
        return pace


@dataclass(frozen=True, slots=True)
class _Trial:
    cpu: float
    wall: float
    before: float
    after: float

    @property
    def pace(self) -> float:
        """How fast the machine was around the call."""
        return (self.before + self.after) / 2


def _timed(call: Callable[[], object], processor: Callable[[], float], patience: _Patience) -> _Trial:
    before = patience.wait()
    wall_before, cpu_before = time.perf_counter(), processor()
    call()
    cpu, wall = processor() - cpu_before, time.perf_counter() - wall_before
    PACE.take()  # the call has taken the processor's caches
    return _Trial(cpu, wall, before, PACE.take())


def _summed_up(trials: Sequence[_Trial]) -> Spent:
    warm = trials[WARM_UP:] if len(trials) > 2 * WARM_UP else trials
    calmest = sorted(warm, key=lambda trial: trial.pace)[: max(ENOUGH, len(warm) // CALMEST)]
    return Spent(
        1000 * median(trial.cpu * min(1.0, PACE.at_rest() / trial.pace) for trial in calmest),
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
