"""Files: which of them tools may read, below the folders that are allowed, and how a database is known."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from mnemic.core.context import Context
from mnemic.errors import Denied, Invalid
from mnemic.storage.files import HELD

SQLITE = b"SQLite format 3\0"
"""How every SQLite database begins."""
LARGEST = 2**28
"""So many bytes a file that is read whole may have."""


def allowed(ctx: Context, path: Path, field: str) -> Path:
    """Where *path* really leads, below the allowed folders; a `~` is the user's folder, and no link leads out.

    Denied to a caller who is limited to some namespaces: a file may hold what stands in the others.
    """
    if ctx.granted is not None:
        raise Denied(f"{field}: this token may not use files, since it is limited to some namespaces.")
    try:
        real = path.expanduser().resolve()
    except (OSError, RuntimeError, ValueError):
        raise Invalid(f"{field}: not a path", field) from None
    if not any(real.is_relative_to(root) for root in ctx.roots):
        raise Denied(
            f"{field}: files may be read below the data folder, the working folder and --allow-path."
        )
    return real


def readable(ctx: Context, path: Path, field: str) -> bytes:
    """What is in the file at *path*, which must be an allowed one, and no database that is open here."""
    real = allowed(ctx, path, field)
    if HELD.holds(real):
        raise Invalid(f"{field}: a database that is open here", field)
    try:
        with open(real, "rb", opener=_without_waiting) as file:
            told = os.fstat(file.fileno())
            if not stat.S_ISREG(told.st_mode):
                raise Invalid(f"{field}: not a file", field)
            if told.st_size > LARGEST:
                raise Invalid(f"{field}: larger than {LARGEST // 2**20} MB", field)
            return file.read()
    except OSError as error:
        raise Invalid(f"{field}: cannot be read: {error.strerror}", field) from None


def _without_waiting(path: str, flags: int) -> int:
    """Open what may be a pipe that nobody writes to."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
