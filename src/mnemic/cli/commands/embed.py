"""`mnemic embed`: missing vectors, computed now."""

from __future__ import annotations

import click

from mnemic.console import output
from mnemic.console.failure import INTERRUPTED
from mnemic.console.progress import progress
from mnemic.console.run import Run, Verb, pass_run
from mnemic.core import embedding_queue
from mnemic.errors import Unavailable

BATCH = 64


@click.command(cls=Verb)
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="Most statements to embed. [default: all]"
)
@pass_run
def embed(run: Run, limit: int | None) -> int:
    """Compute missing vectors now.

    A server, and a recall, computes them in the background; after a large import this saves the wait.
    """
    with run.open(reads=True) as app, progress("Embedding") as told:
        if app.ctx.embedder is None:
            raise Unavailable("No embedder is set. `mnemic config` shows the settings.")
        waiting = app.ctx.read().backlog()
        total = min(waiting, limit or waiting)
        done, code = 0, 0
        try:
            while done < total and (step := embedding_queue.embed_pending(app.ctx, min(BATCH, total - done))):
                done += step
                told(done, total)
        except KeyboardInterrupt:  # what is done is kept
            code = INTERRUPTED
        left = app.ctx.read().backlog()
    prefix = "Interrupted. " if code else ""
    output.tell(run, {"embedded": done, "pending": left}, f"{prefix}Embedded {done:,}, {left:,} left.")
    return code
