"""A progress bar on standard error, for work that takes long enough to wonder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from mnemic.storage.base import Progress


@contextmanager
def progress(label: str) -> Iterator[Progress]:
    """A function to tell how far the work has come; on a terminal it moves a bar."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    with click.progressbar(length=1, label=label, file=sys.stderr) as bar:

        def tell(done: int, total: int) -> None:
            bar.length = max(total, 1)
            bar.update(done - bar.pos)

        yield tell
