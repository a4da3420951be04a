"""A progress bar on standard error, for work that takes long enough to wonder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar

    from mnemic.storage.base import Progress


@contextmanager
def progress(label: str) -> Iterator[Progress]:
    """A function to tell how far the work has come; on a terminal it moves a bar."""
    with ExitStack() as stack:
        bars: list[ProgressBar[int]] = []

        def tell(done: int, total: int) -> None:
            if not bars:
                bars.append(
                    stack.enter_context(click.progressbar(length=max(total, 1), label=label, file=sys.stderr))
                )
            bars[0].length = max(total, 1)
            bars[0].update(done - bars[0].pos)

        yield tell if sys.stderr.isatty() else _silent


def _silent(done: int, total: int) -> None:
    """Progress without a display."""
