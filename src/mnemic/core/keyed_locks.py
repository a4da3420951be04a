"""Locks by key: two threads wait for each other only if they want the same one."""

from __future__ import annotations

from collections.abc import Hashable
from threading import Lock, RLock
from weakref import WeakValueDictionary


class KeyedLocks:
    """Re-entrant locks, one for each key, which last as long as somebody holds or wants them."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._locks: WeakValueDictionary[Hashable, RLock] = WeakValueDictionary()

    def of(self, key: Hashable) -> RLock:
        """The lock of *key*."""
        with self._guard:
            lock = self._locks.get(key)
            if lock is None:
                lock = self._locks[key] = RLock()
            return lock
