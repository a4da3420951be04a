"""`mnemic shell`: an interactive prompt over one open store."""

from __future__ import annotations

import shlex
import sys

import click

from mnemic.console.lazy_group import LazyGroup
from mnemic.console.line_editor import lines
from mnemic.console.run import Run, Verb

PROMPT = "mnemic> "
LEAVE = frozenset({"quit", "exit", "q"})
HELP = frozenset({"help", "?"})


@click.command(cls=Verb)
@click.pass_context
def shell(ctx: click.Context) -> None:
    """Run commands interactively over one open store.

    A line is a command without `mnemic` before it: `recall when do we deploy`, `open 12`. `help` lists the
    commands, `help COMMAND` explains one, `quit` ends.
    """
    run = ctx.ensure_object(Run)
    root = ctx.find_root().command
    assert isinstance(root, LazyGroup)
    with run.kept_open():
        for line in lines(PROMPT, lambda begun, before: _complete(root, ctx, begun, before)):
            words = _words(line)
            if words and words[0].lower() in LEAVE:
                break
            if words:
                _run(run, words)
            sys.stdout.flush()


def _words(line: str) -> list[str] | None:
    """The words of *line*, quotes as in a shell; None, after saying so, if a quote is not closed."""
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()  # an apostrophe in plain text is no quote


def _run(run: Run, words: list[str]) -> None:
    """Run one line as a command; errors are printed and the shell continues."""
    from mnemic.cli.program import run_words

    if words[0].lower() in HELP:
        words = [*words[1:], "--help"]
    run_words(words, run.for_one_line())


def _complete(root: LazyGroup, ctx: click.Context, begun: str, before: str) -> list[str]:
    """Commands at the beginning of a line, then what the command itself offers."""
    from click.shell_completion import ShellComplete

    completer = ShellComplete(root, {}, "mnemic", "_MNEMIC_COMPLETE")
    return [item.value for item in completer.get_completions(before.split(), begun)]
