"""`mnemic ai-memory import`: memories and links from a JSON export."""

from __future__ import annotations

from pathlib import Path

import click

from mnemic.surfaces.cli import output
from mnemic.surfaces.cli.session import Session, Verb, pass_session
from mnemic.surfaces.cli.transfer import taken_in, tell_errors


@click.command("import", cls=Verb)
@click.argument(
    "file",
    type=click.Path(path_type=Path, exists=True, allow_dash=True),
    default="-",
    metavar="[FILE]",
)
@pass_session
def import_(session: Session, file: Path) -> int:
    """Import memories and links from FILE or standard input.

    Memories that are already known count as imported; invalid ones are skipped and reported.

    \b
    Example:
      mnemic ai-memory import < backup.json
    """
    done = taken_in(session, file)
    total = done.imported + done.skipped
    facts = {"imported": total, "known": done.skipped, "errors": list(done.errors)}
    output.tell(session, facts, f"Imported {total:,}.")
    tell_errors(session, done.errors)
    return 1 if done.errors and not total else 0
