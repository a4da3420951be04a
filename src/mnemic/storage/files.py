"""Putting files in their places so that a power cut cannot take them away again."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def put_in_place(part: Path, target: Path) -> None:
    """Give *part*, which the disk has already, the name *target*; the disk has that too when this returns."""
    part.replace(target)
    sync(target.parent)


def make_folder(folder: Path) -> None:
    """Make *folder* and those above it that are missing, for their owner alone."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for made in missing:
        sync(made.parent)


def sync(path: Path) -> None:
    """Wait until the disk has the file *path*, or the names in it if it is a folder."""
    # Some systems cannot open a folder, and some disks cannot be waited for: what is written stays written.
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
