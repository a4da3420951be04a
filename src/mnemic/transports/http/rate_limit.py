"""Requests per minute of each token: a token bucket per name."""

from __future__ import annotations

import time
from collections.abc import Callable

from mnemic.transports.workers import TooMany


class RateLimit:
    """Buckets that hold a minute's worth of requests and refill evenly. Of one daemon, not of a cluster."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, name: str, per_minute: int) -> None:
        """Count a request of *name*; TooMany if it had *per_minute* of them within the last minute."""
        now = self._clock()
        level, at = self._buckets.get(name, (float(per_minute), now))
        level = min(per_minute, level + (now - at) * per_minute / 60)
        if level < 1:
            raise TooMany(f"This token may make {per_minute} requests a minute: wait, then try again.")
        self._buckets[name] = level - 1, now
