"""Writing files so that a failure half-way leaves what was there before."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import IO

from mnemic.storage.files import put_in_place


@contextmanager
def written_whole(target: Path) -> Iterator[IO[bytes]]:
    """A stream that becomes *target* if the block succeeds, and vanishes otherwise.

    A replaced file keeps its permissions; a new one is readable by its owner only. A symbolic link stays a link. A
    device or pipe is written to directly.
    """
    if target.exists() and not target.is_file():
        with target.open("wb") as stream:
            yield stream
        return
    target = target.resolve()
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(mode)
        put_in_place(Path(name), target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def unused(target: Path, ending: str = "") -> Path:
    """An unused name beside *target* with a timestamp, for a copy of it."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    names = (f"{target.name}.{stamp}{f'-{number}' if number else ''}{ending}" for number in count())
    return next(path for path in map(target.with_name, names) if not path.exists())
