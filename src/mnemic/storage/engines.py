"""The port through which databases are opened and looked after, apart from what a Store answers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, TypeVar

from mnemic.errors import Denied
from mnemic.model.filter import Filter
from mnemic.storage.base import Progress, Reader, Store

T = TypeVar("T")


class Asked(Protocol):
    """A database of someone else's that can be asked. Safe to use from several threads."""

    def asked(self, question: Callable[[Reader], T]) -> T:
        """What *question* makes of the newest committed state, all of it from the same moment.

        It may be asked twice, if someone writes meanwhile.
        """


class Scratch(Store, Asked, Protocol):
    """A store in memory. There is no looking back in it, and no backup of it."""


class Engines(Protocol):
    """Opens, backs up and checks databases."""

    def elsewhere(self, path: Path) -> Asked:
        """The database in another file, to be read and never changed: nothing in it, and nothing left beside it.

        StoreUnusable if there is none, or it is damaged, not ours or of another format than this program's.
        """

    def in_memory(self) -> Scratch:
        """An empty store in memory."""

    def backup(self, store: Store, target: Path, progress: Progress | None = None) -> None:
        """A complete copy of *store* in *target*, taken while others read and write."""

    def copied(self, store: Store) -> AbstractContextManager[Store]:
        """A copy of *store* to try something on, gone at the end of the block. Denied if a server holds it."""

    def probe(self, store: Store) -> None:
        """Read the newest memory of *store* and find it by its words; StoreUnusable if that fails."""

    def check(self, store: Store) -> list[str]:
        """Integrity check: the faults of the files, tables and indexes of *store*; empty if there are none."""

    def lack(self, store: Store) -> str | None:
        """What the server of *store* lacks for quick search, in one sentence; None if it lacks nothing."""

    def upkeep(self, store: Store) -> None:
        """Refresh the statistics and indexes that search in *store* relies on: work for the background."""


class Maintained(Store, Protocol):
    """A store that looks after itself."""

    def backup(self, target: Path, progress: Progress | None = None) -> None:
        """Copy it to *target* while others read and write."""

    def probe(self) -> None:
        """Read the newest memory and find it by its words; StoreUnusable if that fails."""

    def check(self) -> list[str]:
        """Faults in it; empty if there are none."""

    def lack(self) -> str | None:
        """What its server lacks, in one sentence; None if it lacks nothing."""

    def upkeep(self) -> None:
        """Refresh statistics and indexes that are not kept by the writes themselves."""


class NoEngines:
    """Engines for a context that works on its own store alone."""

    def elsewhere(self, path: Path) -> Asked:
        """Denied."""
        raise Denied("Other stores cannot be opened from here.")

    def in_memory(self) -> Scratch:
        """Denied."""
        raise Denied("Other stores cannot be opened from here.")

    def backup(self, store: Store, target: Path, progress: Progress | None = None) -> None:
        """Denied."""
        raise Denied("This store cannot be backed up from here.")

    def copied(self, store: Store) -> AbstractContextManager[Store]:
        """Denied."""
        raise Denied("This store cannot be copied from here.")

    def probe(self, store: Store) -> None:
        """Read a memory, which any engine can."""
        store.read().select(Filter(), limit=1)

    def check(self, store: Store) -> list[str]:
        """Denied."""
        raise Denied("This store cannot be checked from here.")

    def lack(self, store: Store) -> str | None:
        """None: it is not known."""
        return None

    def upkeep(self, store: Store) -> None:
        """Nothing: the process that opened the store looks after it."""
