"""Putting files in their places so that no power cut takes them away, and reading them so that no lock is lost."""

from __future__ import annotations

import os
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path

Inode = tuple[int, int]

LOCKED_BESIDE = "-shm"
"""How the name of a file ends on which an engine has locks too; what is before it is the name of the database."""


def put_in_place(part: Path, target: Path) -> None:
    """Give *part*, which the disk has already, the name *target*; the disk has that too when this returns."""
    part.replace(target)
    sync(target.parent)


def make_folder(folder: Path) -> None:
    """Make *folder* and those above it that are missing, for their owner alone."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(exist_ok=True, mode=0o700)
        sync(one.parent)


def sync(path: Path) -> None:
    """Wait until the disk has the file *path*, or the names in it if it is a folder."""
    # Some systems cannot open a folder, and some disks cannot be waited for: what is written stays written.
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class HeldFiles:
    """The databases that this process has open.

    On most systems locks belong to the process: closing any descriptor of a file releases all its locks there,
    those of a database engine too. So a descriptor of a file that is held stays open until the file is released.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[Inode] = Counter()
        self._kept: dict[Inode, list[int]] = {}

    def take(self, path: Path) -> Inode:
        """Register that an engine has *path* open; the handle to release later."""
        with self._lock:
            inode = _inode(path.stat())
            self._counts[inode] += 1
            return inode

    def let_go(self, inode: Inode) -> None:
        """Say that an engine has closed it."""
        with self._lock:
            self._counts[inode] -= 1
            if not self._counts[inode]:
                del self._counts[inode]
                for handle in self._kept.pop(inode, ()):
                    os.close(handle)

    def holds(self, path: Path) -> bool:
        """Whether *path* is a database that an engine has open here, or a file beside one that it locks too."""
        with self._lock, suppress(OSError):
            database = Path(str(path).removesuffix(LOCKED_BESIDE))
            return any(_inode(one.stat()) in self._counts for one in (path, database))
        return False

    def beginning(self, path: Path, count: int) -> bytes:
        """The first *count* bytes of the file *path*, or as many as there are."""
        with self._lock:
            if known := self._kept.get(_inode(path.stat())):
                os.lseek(known[0], 0, os.SEEK_SET)
                return os.read(known[0], count)
            handle = os.open(path, os.O_RDONLY)
            try:
                return os.read(handle, count)
            finally:
                self._leave(handle)

    def _leave(self, handle: int) -> None:
        inode = _inode(os.fstat(handle))
        if inode in self._counts:
            self._kept.setdefault(inode, []).append(handle)
        else:
            os.close(handle)


def _inode(status: os.stat_result) -> Inode:
    return status.st_dev, status.st_ino


HELD = HeldFiles()
