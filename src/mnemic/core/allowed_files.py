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
"""Maximum size of a file that is read whole."""


def allowed(ctx: Context, path: Path, field: str) -> Path:
    """The real path of *path* below the allowed folders; `~` is the home folder, and links must not lead out.

    Denied to a caller limited to some namespaces: a file may hold content of others.
    """
    if ctx.granted is not None:
        raise Denied(f"{field}: this token may not use files, since it is limited to some namespaces.")
    try:
        real = (ctx.folder / path.expanduser()).resolve()
    except (OSError, RuntimeError, ValueError):
        raise Invalid(f"{field}: not a path", field) from None
    if not any(real.is_relative_to(root) for root in ctx.roots):
        raise Denied(
            f"{field}: files may be read below the data folder, the working folder and --allow-path."
        )
    return real


def readable(ctx: Context, path: Path, field: str) -> bytes:
    """Content of the file at *path*, which must be allowed and no database that is open here."""
    real = allowed(ctx, path, field)
    if HELD.holds(real):
        raise Invalid(f"{field}: a database that is open here", field)
    try:
        with open(real, "rb", opener=_without_waiting) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise Invalid(f"{field}: not a file", field)
            if status.st_size > LARGEST:
                raise Invalid(f"{field}: larger than {LARGEST // 2**20} MB", field)
            return file.read()
    except OSError as error:
        raise Invalid(f"{field}: cannot be read: {error.strerror}", field) from None


def _without_waiting(path: str, flags: int) -> int:
    """Open without blocking on a pipe that has no writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
