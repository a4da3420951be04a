"""`mnemic man`: the manual page, in roff, made from the commands as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from inspect import cleandoc

import click

from mnemic import __version__
from mnemic.console.lazy_group import LazyGroup
from mnemic.console.run import SHARED, Verb

_SPECIAL = re.compile(r"[\\\-.'`^~\"]")
_ESCAPES = {
    "\\": r"\e",
    "-": r"\-",
    ".": r"\&.",
    "'": r"\(aq",
    "`": r"\(ga",
    "^": r"\(ha",
    "~": r"\(ti",
    '"': r"\(dq",
}

EXIT_STATUS = {
    "0": "Done. A recall that finds nothing relevant is done, too.",
    "1": "Failed: not found, a conflict, or not allowed.",
    "2": "Wrong usage: an unknown command or option, or a value that is not allowed.",
    "3": "The database is busy, or a model or server cannot be reached. Try again.",
    "130": "Interrupted by Ctrl-C.",
}


@click.command(cls=Verb)
@click.pass_context
def man(ctx: click.Context) -> None:
    """Print the manual page in roff; `mnemic man | man -l -` shows it."""
    assert ctx.parent is not None
    for line in page(ctx.parent):
        click.echo(line)


def page(root: click.Context) -> Iterator[str]:
    """The lines of the manual page of `mnemic`, or of a group below it, whichever *root* runs."""
    program = root.command
    assert isinstance(program, LazyGroup)
    name = root.command_path
    yield f'.TH {escaped(name.replace(" ", "-").upper())} 1 "" "mnemic {escaped(__version__)}" "User Commands"'
    yield from [".SH NAME", rf"{escaped(name.replace(' ', '-'))} \- {escaped(_tagline(program))}"]
    yield from [".SH SYNOPSIS", f".B {escaped(name)}", r"[\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGUMENTS\fR]"]
    yield from [".SH DESCRIPTION", *described(program.help or "")]
    yield from [".SH OPTIONS", "Given before or after the command:", *options(program, root)]
    yield from commands(program, root)
    yield from environment()
    yield from [".SH EXIT STATUS", *(line for code, text in EXIT_STATUS.items() for line in term(code, text))]
    yield from [".SH SEE ALSO", *described(f"`{name} COMMAND --help` shows the options of a command.")]


def _tagline(program: click.Command) -> str:
    """The first sentence of the program's help, without its full stop."""
    first = (program.help or "").partition("\n")[0]
    return first.removesuffix(".")


def commands(program: LazyGroup, root: click.Context) -> Iterator[str]:
    """Every command by section, with its arguments and options."""
    yield ".SH COMMANDS"
    for title, rows in program.rows().items():
        yield f".SS {escaped(title)}"
        for name, _ in rows:
            found = program.get_command(root, name)
            assert found is not None
            yield from command(found, click.Context(found, root, name))


def command(found: click.Command, ctx: click.Context) -> Iterator[str]:
    """One command and, below it, its own."""
    usage = " ".join(found.collect_usage_pieces(ctx))
    yield from [".TP", rf"\fB{escaped(ctx.command_path)}\fR {escaped(usage)}"]
    yield from described("\n\n".join(cleandoc(text) for text in (found.help, found.epilog) if text))
    own = list(options(found, ctx, without=SHARED))
    if own:
        yield from [".RS", *own, ".RE"]
    if isinstance(found, click.Group):
        for name in found.list_commands(ctx):
            below = found.get_command(ctx, name)
            assert below is not None
            yield from command(below, click.Context(below, ctx, name))


def options(found: click.Command, ctx: click.Context, without: frozenset[str] = frozenset()) -> Iterator[str]:
    """The options of a command."""
    for param in found.get_params(ctx):
        record = param.get_help_record(ctx)
        is_known = param.name in without or (without and "--help" in param.opts)
        if record is None or is_known or isinstance(param, click.Argument):
            continue
        yield from term(*record)


def environment() -> Iterator[str]:
    """Environment variables and the settings they set."""
    from mnemic.settings import Settings

    yield from [".SH ENVIRONMENT", "They count after flags and before config\\&.toml:"]
    for item in fields(Settings):
        yield from term(f"MNEMIC_{item.name.upper()}", str(item.metadata["help"]))


def term(word: str, text: str) -> list[str]:
    """An entry of a list: *word*, and *text* below it."""
    return [".TP", rf"\fB{escaped(word)}\fR", *([escaped(" ".join(text.split()))] if text else [])]


def described(help: str) -> Iterator[str]:
    """A help text: paragraphs, and examples as they are written."""
    for number, paragraph in enumerate(cleandoc(help).split("\n\n")):
        if number:
            yield ".sp"
        if paragraph.startswith("\b"):
            lines = paragraph.lstrip("\b\n").split("\n")
            yield from [".nf", *map(escaped, lines), ".fi"]
        else:
            yield escaped(" ".join(paragraph.split()))


def escaped(text: str) -> str:
    """*text* as roff shows it: no character of it is taken for a request."""
    return _SPECIAL.sub(lambda found: _ESCAPES[found[0]], text)
