"""`mnemic tui`: search, edit, review and undo in a full-screen terminal interface."""

from __future__ import annotations

import sys

import click

from mnemic.console.run import Run, Verb, pass_run
from mnemic.errors import Invalid, Unavailable


@click.command(cls=Verb)
@pass_run
def tui(run: Run) -> None:
    """Browse memories in the terminal: search as you type, open, edit, link, review, history with undo.

    Enter opens, e edits, l links, d deletes, a accepts what was captured, u undoes, F1 to F3 change the list, q quits.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Invalid("tui: needs a terminal. `mnemic recall` answers in a pipe.")
    try:
        from mnemic.tui.app import MnemicTui
    except ModuleNotFoundError as error:
        raise Unavailable(f"The terminal interface needs {error.name}: pip install 'mnemic[tui]'") from None
    with run.open_native() as app:
        MnemicTui(app.ctx, app.settings.shown_database).run()
