"""The shelf: other stores that were lately looked into, kept open for the next question."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from mnemic.storage.base import Asked

MOST = 16
IDLE_SECONDS = 300.0


class Stamp(NamedTuple):
    """What tells one content of a file from another."""

    inode: int
    size: int
    changed_at: int


@dataclass(frozen=True, slots=True)
class _Kept:
    store: Asked
    stamp: Stamp | None
    used_at: float


@dataclass(slots=True)
class Shelf:
    """Open stores by the path of their file.

    One that is taken off is not closed but left to whoever still reads it; it closes when the last has finished.
    """

    clock: Callable[[], float] = time.monotonic
    _kept: dict[Path, _Kept] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, path: Path, stamp: Stamp | None, opened: Callable[[], Asked]) -> Asked:
        """The store of the file at *path*, *opened* now unless it is here with the same *stamp*.

        Without a stamp the store itself notices changes.
        """
        with self._lock:
            self._tidy()
            kept = self._kept.pop(path, None)
            if kept is None or kept.stamp != stamp:
                kept = _Kept(opened(), stamp, 0.0)
            # Those used longest ago come first.
            self._kept[path] = replace(kept, used_at=self.clock())
            return kept.store

    def _tidy(self) -> None:
        """Let go of what has not been used for long, and of the oldest where there are too many."""
        idle = self.clock() - IDLE_SECONDS
        fresh = [path for path, kept in self._kept.items() if kept.used_at > idle][-(MOST - 1) :]
        self._kept = {path: self._kept[path] for path in fresh}

    def clear(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._kept.clear()

    def __len__(self) -> int:
        return len(self._kept)
