"""Terms that are known to be in the vocabulary (`term`), so that they are not sent to the server again."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable

MOST_KNOWN = 100_000
"""Terms kept at a time: about 10 MB."""


class KnownTerms:
    """Terms by namespace. A purge takes terms out of the vocabulary, after which none is known. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._purges: str | None = None
        self._count = 0
        self._known: dict[int, set[str]] = {}

    def of(self, namespace_id: int, purges: str | None) -> Collection[str]:
        """What is known of a namespace after this many purges."""
        with self._lock:
            if purges != self._purges or self._count > MOST_KNOWN:
                self._known, self._count, self._purges = {}, 0, purges
            return self._known.setdefault(namespace_id, set())

    def add(self, namespace_id: int, terms: Iterable[str], purges: str | None) -> None:
        """Know *terms*, which were committed after this many purges."""
        with self._lock:
            if purges == self._purges:
                known = self._known.setdefault(namespace_id, set())
                before = len(known)
                known.update(terms)
                self._count += len(known) - before
