"""`mnemic ai-memory import`: memories and links from a JSON export."""

from __future__ import annotations

from pathlib import Path

import click

from mnemic.console import output
from mnemic.console.input_values import binary_input
from mnemic.console.progress import progress
from mnemic.console.run import Run, Verb, pass_run
from mnemic.transfer import formats


@click.command("import", cls=Verb)
@click.argument(
    "file",
    type=click.Path(path_type=Path, exists=True, allow_dash=True),
    default="-",
    metavar="[FILE]",
)
@pass_run
def import_(run: Run, file: Path) -> int:
    """Import memories and links from FILE or standard input.

    Memories that are already known count as imported; invalid ones are skipped and reported.

    \b
    Example:
      mnemic ai-memory import < backup.json
    """
    from mnemic.dialects.ai_memory import validation

    with binary_input(file) as stream:
        first = formats.first_line(stream)
        formats.refuse_database(file.name, first)
        with run.open() as app, progress("Importing") as advance:
            done = formats.take_in(
                app.ctx,
                first,
                stream,
                formats.looks_like(first),
                advance,
                check=validation.entry,
                check_link=validation.link,
            )
    total = done.imported + done.skipped
    facts = {"imported": total, "known": done.skipped, "errors": list(done.errors)}
    output.tell(run, facts, f"Imported {total:,}.")
    output.tell_errors(run, done.errors)
    return 1 if done.errors and not total else 0
