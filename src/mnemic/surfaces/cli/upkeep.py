"""`mnemic embed`: missing vectors, computed now."""

from __future__ import annotations

import click

from mnemic.core import upkeep
from mnemic.errors import Unavailable
from mnemic.surfaces.cli import output
from mnemic.surfaces.cli.failure import INTERRUPTED
from mnemic.surfaces.cli.progress import progress
from mnemic.surfaces.cli.session import Session, Verb, pass_session

BATCH = 64


@click.command(cls=Verb)
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="Most statements to embed. [default: all]"
)
@pass_session
def embed(session: Session, limit: int | None) -> int:
    """Compute missing vectors now.

    A server, and a recall, computes them in the background; after a large import this saves the wait.
    """
    with session.open() as app, progress("Embedding") as told:
        if app.ctx.embedder is None:
            raise Unavailable("No embedder is set. `mnemic config` shows the settings.")
        waiting = app.ctx.store.read().pending_count()
        total = min(waiting, limit or waiting)
        done, code = 0, 0
        try:
            while done < total and (step := upkeep.embed_pending(app.ctx, min(BATCH, total - done))):
                done += step
                told(done, total)
        except KeyboardInterrupt:  # what is done is kept
            code = INTERRUPTED
        left = app.ctx.store.read().pending_count()
    said = "Interrupted. " if code else ""
    output.tell(session, {"embedded": done, "pending": left}, f"{said}Embedded {done:,}, {left:,} left.")
    return code
