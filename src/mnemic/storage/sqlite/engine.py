"""The SQLite engine: opens other files, makes stores in memory, backs up and checks."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import cast

from mnemic.storage.base import Progress, Store
from mnemic.storage.engines import Asked, Maintained, Scratch
from mnemic.storage.index_port import OpenIndex


class SqliteEngines:
    """The Engines of SQLite."""

    def __init__(self, open_index: OpenIndex):
        self._open_index = open_index

    def elsewhere(self, path: Path) -> Asked:
        """The database in another file, to be read and never changed."""
        from mnemic.storage.sqlite.other_stores import OtherStore

        return OtherStore(path, self._open_index)

    def in_memory(self) -> Scratch:
        """An empty store that lives in memory."""
        from mnemic.storage.sqlite.other_stores import MemoryStore

        return MemoryStore(self._open_index)

    def backup(self, store: Store, target: Path, progress: Progress | None = None) -> None:
        """A complete copy of *store* in *target*."""
        _opened(store).backup(target, progress)

    @contextmanager
    def copied(self, store: Store) -> Iterator[Store]:
        """A copy of *store* in a temporary folder."""
        from mnemic.storage.sqlite.store import SqliteStore

        with tempfile.TemporaryDirectory(prefix="mnemic-") as folder:
            file = Path(folder) / "copy.db"
            self.backup(store, file)
            with closing(SqliteStore(file, self._open_index, durable=False)) as copy:
                yield copy

    def probe(self, store: Store) -> None:
        """Read the newest memory of *store* and find it by its words."""
        _opened(store).probe()

    def check(self, store: Store) -> list[str]:
        """Integrity check: faults of the file, its tables and indexes."""
        return _opened(store).check()

    def lack(self, store: Store) -> str | None:
        """What the server of *store* lacks."""
        return _opened(store).lack()

    def upkeep(self, store: Store) -> None:
        """Refresh what search in *store* relies on."""
        _opened(store).upkeep()


def _opened(store: Store) -> Maintained:
    return cast("Maintained", store)
