"""Timing of calls: CPU and wall time, p50 and p99 as measured, and the CPU time at rest.

A CPU shared with others runs at half its speed while they work. A fixed piece of work (the pace) is timed before and
after each call. A call waits a bounded time for a calm moment. The figure at rest is the median of the calmest calls,
each scaled by how much slower than its best the pace was.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from bench import texts

AT_REST = 1.2
"""The machine counts as calm while the pace is at most this many times its best."""
PATIENCE = 10.0
"""Seconds that one series of calls waits in all for calm moments."""
CALMEST, ENOUGH = 4, 8
"""The figure at rest is taken from one call in four, at least eight."""
WARM_UP = 2
RECOMPUTED_EVERY, REMEMBERED = 1_000, 50_000
"""Paces between two updates of the best one, and how many are remembered for it."""

CpuClock = Callable[[], float]
"""Gives the CPU seconds used so far by whoever does the work."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Milliseconds a call took: CPU as measured and at rest, and wall time."""

    p50: float
    p99: float
    at_rest: float
    wall_p50: float
    wall_p99: float


class Pace:
    """Speed of the machine at a moment, by a fixed piece of work."""

    def __init__(self) -> None:
        self._texts = list(texts.texts(6))
        self._seen: deque[float] = deque(maxlen=REMEMBERED)
        self._taken = 0
        self._at_rest = 0.0
        for _ in range(2 * RECOMPUTED_EVERY):
            self.take()

    def take(self) -> float:
        """The CPU seconds the work takes now, the second time: the first run fills the CPU's cache."""
        self._work()
        before = time.process_time()
        self._work()
        self._seen.append(time.process_time() - before)
        self._taken += 1
        if self._taken % RECOMPUTED_EVERY == 0:
            self._at_rest = sorted(self._seen)[len(self._seen) // 100]
        return self._seen[-1]

    def wait(self, until: float) -> float:
        """The pace as soon as the machine is calm, or at the moment *until*."""
        while (now := self.take()) > AT_REST * self._at_rest and time.monotonic() < until:
            pass
        return now

    def _work(self) -> None:
        json.dumps([{"title": text[:80], "words": text.lower().split()} for text in self._texts])

    def slowness(self) -> float:
        """How many times slower than at rest the machine is now."""
        return median(self.take() for _ in range(100)) / self.at_rest()

    def at_rest(self) -> float:
        """The best pace: the first percentile of all that were seen."""
        return self._at_rest


PACE = Pace()


def spent(
    calls: Iterable[Callable[[], object]],
    cpu: CpuClock = time.process_time,
    *,
    at_most_seconds: float | None = None,
) -> Spent:
    """The cost of *calls*; the first two fill caches and are left out. No new call starts after *at_most_seconds*."""
    patience = _Patience(PATIENCE)
    trials, end = [], time.monotonic() + (at_most_seconds or float("inf"))
    for call in calls:
        trials.append(_timed(call, cpu, patience))
        if time.monotonic() > end:
            break
    return _summary(trials)


def interleaved(
    series: Sequence[Iterable[Callable[[], object]]], clocks: Sequence[CpuClock] | None = None
) -> list[Spent]:
    """The cost of the calls of each series, called in turn so that all meet the same machine."""
    clocks = clocks or [time.process_time] * len(series)
    patience = _Patience(PATIENCE)
    trials = [
        [_timed(call, clock, patience) for call, clock in zip(calls, clocks, strict=True)]
        for calls in zip(*series, strict=True)
    ]
    return [_summary(column) for column in zip(*trials, strict=True)]


class _Patience:
    """What is left of the time a series of calls may wait for calm moments."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    def wait(self) -> float:
        """The pace after waiting for a calm moment."""
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
        """The pace around the call."""
        return (self.before + self.after) / 2


def _timed(call: Callable[[], object], cpu: CpuClock, patience: _Patience) -> _Trial:
    before = patience.wait()
    wall_before, cpu_before = time.perf_counter(), cpu()
    call()
    cpu_seconds, wall_seconds = cpu() - cpu_before, time.perf_counter() - wall_before
    PACE.take()  # the call has taken the CPU's caches
    return _Trial(cpu_seconds, wall_seconds, before, PACE.take())


def _summary(trials: Sequence[_Trial]) -> Spent:
    warm = trials[WARM_UP:] if len(trials) > 2 * WARM_UP else trials
    calmest = sorted(warm, key=lambda trial: trial.pace)[: max(ENOUGH, len(warm) // CALMEST)]
    cpu, wall = [1000 * trial.cpu for trial in warm], [1000 * trial.wall for trial in warm]
    at_rest = median(1000 * trial.cpu * min(1.0, PACE.at_rest() / trial.pace) for trial in calmest)
    return Spent(median(cpu), percentile(cpu, 99), at_rest, median(wall), percentile(wall, 99))


def percentile(values: Sequence[float], share: int) -> float:
    """The smallest of *values* that *share* per cent do not exceed: of fewer than 100, p99 is the largest."""
    return sorted(values)[-(-share * len(values) // 100) - 1]
