"""A counter of the fsyncs SQLite asks for, by a VFS that passes everything on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import apsw

NAME = "counting"


@dataclass(slots=True)
class Syncs:
    """How many fsyncs there were."""

    count: int = 0


@contextmanager
def counted_syncs() -> Iterator[Syncs]:
    """Count the fsyncs of the databases that are opened in the block."""
    syncs = Syncs()
    vfs = _CountingVfs(syncs)
    try:
        yield syncs
    finally:
        vfs.unregister()


class _CountingVfs(apsw.VFS):
    """The default VFS for as long as it is registered."""

    def __init__(self, syncs: Syncs):
        self._syncs = syncs
        self._base = apsw.vfs_names()[0]
        super().__init__(NAME, base=self._base, makedefault=True)

    def xOpen(self, name: Any, flags: Any) -> _CountingFile:  # noqa: N802
        return _CountingFile(self._syncs, self._base, name, flags)


class _CountingFile(apsw.VFSFile):
    def __init__(self, syncs: Syncs, base: str, name: Any, flags: Any):
        self._syncs = syncs
        super().__init__(base, name, flags)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._syncs.count += 1
        super().xSync(flags)
