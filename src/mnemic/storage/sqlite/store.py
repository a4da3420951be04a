"""The store we keep, and the others it leads to: itself in the past, and stores elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mnemic.storage.base import Asked, Scratch, Store
from mnemic.storage.files import HELD, Inode
from mnemic.storage.sqlite.connection import our_errors
from mnemic.storage.sqlite.opened import OpenedStore, to_write

if TYPE_CHECKING:
    from mnemic.storage.sqlite.past import PastStore


class SqliteStore(OpenedStore):
    """The Store of the SQLite engine."""

    def __init__(self, path: Path, *, durable: bool = True):
        with our_errors(path.name):
            super().__init__(path, to_write(path, durable=durable), durable=durable, turns=path)
        self._past: PastStore | None = None
        self._held: Inode | None = HELD.take(path)

    def close(self) -> None:
        """See Store."""
        super().close()
        if self._held:
            HELD.let_go(self._held)
            self._held = None

    def at(self, sequence: int) -> Store:
        """See Store. The last one asked for is kept, since whoever looks back tends to look again."""
        from mnemic.storage.sqlite.past import PastStore

        past = self._past
        with our_errors(self.location):
            if past is None or not past.still_shows(self._connection(), sequence, self._model):
                self._past = past = PastStore(self._path, sequence, self._model)
        return past

    def elsewhere(self, path: Path) -> Asked:
        """See Store."""
        from mnemic.storage.sqlite.elsewhere import OtherStore

        return OtherStore(path)

    def in_memory(self) -> Scratch:
        """See Store."""
        from mnemic.storage.sqlite.elsewhere import MemoryStore

        return MemoryStore()
