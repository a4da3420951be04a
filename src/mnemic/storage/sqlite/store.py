"""The store we keep, and the others it leads to: itself in the past, and stores elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from mnemic.errors import StoreUnusable
from mnemic.model.values import Moment
from mnemic.storage.base import Asked, Scratch, Store
from mnemic.storage.files import HELD, Inode
from mnemic.storage.sqlite import read_only
from mnemic.storage.sqlite.ahead import Ahead
from mnemic.storage.sqlite.connection import our_errors
from mnemic.storage.sqlite.opened import OpenedStore, to_write
from mnemic.storage.sqlite.writer import SqliteWriter

if TYPE_CHECKING:
    from mnemic.storage.sqlite.lexicon import Lexicon
    from mnemic.storage.sqlite.past import PastStore


class SqliteStore(OpenedStore):
    """The Store of the SQLite engine. A file that cannot be written, as on a read-only mount, can still be read."""

    def __init__(self, path: Path, *, durable: bool = True):
        self._is_read_only = read_only.is_read_only(path)
        with our_errors(path.name):
            writer = read_only.opened(path) if self._is_read_only else to_write(path, durable=durable)
            super().__init__(path, writer, durable=durable, turns=None if self._is_read_only else path)
        self._past: PastStore | None = None
        self._ahead = Ahead(self._read_ahead)
        self._held: Inode | None = HELD.take(path)

    def close(self) -> None:
        """See Store."""
        self._ahead.stop()
        super().close()
        if self._held:
            HELD.let_go(self._held)
            self._held = None

    def write(
        self, *, operation: str, actor: str, at: Moment, durable: bool = True, waits: bool = True
    ) -> SqliteWriter:
        """See Store."""
        if self._is_read_only:
            raise read_only.refusal(self.location)
        return super().write(operation=operation, actor=actor, at=at, durable=durable, waits=waits)

    def use_models(self, *names: str) -> None:
        """See Store. Where nothing can be written, vectors of other models stay; they are not compared."""
        try:
            super().use_models(*names)
        except StoreUnusable:
            if not self._is_read_only:
                raise

    def index_substrings(self) -> None:
        """See OpenedStore. Where nothing can be written, what is not indexed is looked through."""
        if not self._is_read_only:
            super().index_substrings()

    def _connect(self) -> apsw.Connection:
        return read_only.opened(self._path) if self._is_read_only else super()._connect()

    def lexicon(
        self, connection: apsw.Connection, *, is_question: bool, is_needed: bool = False
    ) -> Lexicon | None:
        """See OpenedStore. In a process that stays all words are read in the background, if there is room for them."""
        lexicon = super().lexicon(connection, is_question=is_question, is_needed=is_needed)
        if lexicon and lexicon.wants_words and self.is_asked_often:
            self._ahead.start()
        return lexicon

    def _read_ahead(self) -> Iterator[None]:
        assert self._lexicon
        return self._lexicon.read_ahead(self._connection())

    def at(self, sequence: int) -> Store:
        """See Store. The last one asked for is kept, since whoever looks back tends to look again."""
        from mnemic.storage.sqlite.past import PastStore

        past = self._past
        with our_errors(self.location):
            if past is None or not past.still_shows(self._connection(), sequence, self._used):
                self._past = past = PastStore(self._path, sequence, self._used)
        return past

    def elsewhere(self, path: Path) -> Asked:
        """See Store."""
        from mnemic.storage.sqlite.elsewhere import OtherStore

        return OtherStore(path)

    def in_memory(self) -> Scratch:
        """See Store."""
        from mnemic.storage.sqlite.elsewhere import MemoryStore

        return MemoryStore()
