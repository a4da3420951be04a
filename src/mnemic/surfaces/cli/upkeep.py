"""`mnemic embed`: the vectors that are still missing, computed now."""

from __future__ import annotations

import click

from mnemic.errors import Unavailable
from mnemic.surfaces.cli import output
from mnemic.surfaces.cli.progress import progress
from mnemic.surfaces.cli.session import Session, Verb, pass_session

BATCH = 64


@click.command(cls=Verb)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Stop after this many statements.")
@pass_session
def embed(session: Session, limit: int | None) -> None:
    """Compute the vectors that are still missing.

    Whatever serves or recalls does this by itself, little by little; after a large import it saves the wait.
    """
    from mnemic.core import upkeep

    with session.open() as app, progress("Embedding") as told:
        if app.ctx.embedder is None:
            raise Unavailable("No embedder is set. `mnemic config` shows the settings.")
        waiting = app.ctx.store.read().pending_count()
        total = min(waiting, limit or waiting)
        done = 0
        while done < total and (step := upkeep.embed_pending(app.ctx, min(BATCH, total - done))):
            done += step
            told(done, total)
        left = app.ctx.store.read().pending_count()
    output.tell(session, {"embedded": done, "pending": left}, f"Embedded {done:,}, {left:,} left.")
