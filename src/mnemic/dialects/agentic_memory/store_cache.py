"""A cache of other stores that stay open for the next question."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from mnemic.storage.engines import Asked

MOST = 16
IDLE_SECONDS = 300.0


class FileStamp(NamedTuple):
    """What tells one content of a file from another."""

    inode: int
    size: int
    changed_at: int


@dataclass(frozen=True, slots=True)
class _Kept:
    store: Asked
    stamp: FileStamp
    used_at: float


@dataclass(slots=True)
class StoreCache:
    """Open stores by path.

    An evicted store stays open for its current readers and closes with the last one.
    """

    clock: Callable[[], float] = time.monotonic
    _kept: dict[Path, _Kept] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _timer: threading.Timer | None = None

    def take(self, path: Path, stamp: FileStamp, opened: Callable[[], Asked]) -> Asked:
        """The store of the file at *path*, *opened* now unless it is here with the same *stamp*."""
        with self._lock:
            kept = self._kept.pop(path, None)
            self._let_go()
            if kept is None or kept.stamp != stamp:
                kept = _Kept(opened(), stamp, 0.0)
            # Those used longest ago come first.
            self._kept[path] = replace(kept, used_at=self.clock())
            self._look_again()
            return kept.store

    def _let_go(self) -> None:
        """Drop what has not been used for long, and the oldest where there are too many."""
        idle = self.clock() - IDLE_SECONDS
        fresh = [path for path, kept in self._kept.items() if kept.used_at > idle][-(MOST - 1) :]
        self._kept = {path: self._kept[path] for path in fresh}

    def _look_again(self) -> None:
        """Evict idle stores even without further calls: a large file takes much memory."""
        if self._kept and self._timer is None:
            self._timer = threading.Timer(IDLE_SECONDS, self._tidy)
            self._timer.daemon = True
            self._timer.start()

    def _tidy(self) -> None:
        with self._lock:
            self._timer = None
            self._let_go()
            self._look_again()

    def close(self) -> None:
        """Evict everything."""
        with self._lock:
            self._kept.clear()
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def __len__(self) -> int:
        return len(self._kept)
