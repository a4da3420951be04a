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
    """A stream that becomes *target* when the block ends well, and nothing when it does not.

    A file that is replaced keeps its permissions; a new one is its owner's alone. A link stays a link. A device or a
    pipe is written into as it stands.
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
    """A name beside *target* that tells the time, for what is to be kept of it; numbered if it is taken."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    names = (f"{target.name}.{stamp}{f'-{number}' if number else ''}{ending}" for number in count())
    return next(path for path in map(target.with_name, names) if not path.exists())
