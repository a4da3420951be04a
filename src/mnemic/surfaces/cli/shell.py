"""`mnemic shell`: commands typed one after another over one open store."""

from __future__ import annotations

import shlex
import sys

import click

from mnemic.surfaces.cli.lazy_group import LazyGroup
from mnemic.surfaces.cli.line_editor import lines
from mnemic.surfaces.cli.session import Session, Verb

PROMPT = "mnemic> "
LEAVE = frozenset({"quit", "exit", "q"})
HELP = frozenset({"help", "?"})


@click.command(cls=Verb)
@click.pass_context
def shell(ctx: click.Context) -> None:
    """Type commands one after another over one open store.

    A line is a command without `mnemic` before it: `recall when do we deploy`, `open 12`. `help` lists the
    commands, `help COMMAND` explains one, `quit` ends.
    """
    session = ctx.ensure_object(Session)
    root = ctx.find_root().command
    assert isinstance(root, LazyGroup)
    with session.kept_open():
        for line in lines(PROMPT, lambda begun, before: _complete(root, ctx, begun, before)):
            words = _words(line)
            if words and words[0].lower() in LEAVE:
                break
            if words:
                _run(session, words)
            sys.stdout.flush()


def _words(line: str) -> list[str] | None:
    """The words of *line*, quotes as in a shell; None, after saying so, if a quote is not closed."""
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()  # an apostrophe in plain text is no quote


def _run(session: Session, words: list[str]) -> None:
    """Run one line as a command of its own; errors are told and the shell goes on."""
    from mnemic.surfaces.cli.program import run_words

    if words[0].lower() in HELP:
        words = [*words[1:], "--help"]
    run_words(words, session.for_one_line())


def _complete(root: LazyGroup, ctx: click.Context, begun: str, before: str) -> list[str]:
    """Commands at the beginning of a line, then what the command itself offers."""
    from click.shell_completion import ShellComplete

    completer = ShellComplete(root, {}, "mnemic", "_MNEMIC_COMPLETE")
    return [item.value for item in completer.get_completions(before.split(), begun)]
