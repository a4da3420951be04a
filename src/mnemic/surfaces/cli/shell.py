"""`mnemic shell`: look around and tidy up by short commands, over one open store."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mnemic.core import recall as recalling
from mnemic.core.overview import overview
from mnemic.errors import Invalid, MnemicError
from mnemic.model.search import Filter, Query
from mnemic.surfaces.cli import finding, output
from mnemic.surfaces.cli.reading import must_be_text
from mnemic.surfaces.cli.session import Session, Verb, pass_session
from mnemic.surfaces.cli.storing import tell_deleted
from mnemic.surfaces.cli.text import faint, name, table

if TYPE_CHECKING:
    from mnemic.core.context import Context

PROMPT = "mnemic> "
HISTORY = "shell_history"
REMEMBERED_LINES = 1_000
LISTED = 20

HELP = {
    "recall CONTEXT": "find what is known about something, best first",
    "search WORDS": "find the memories that hold all of these words",
    "list [NAMESPACE]": "list memories by priority",
    "get ID": "show a memory whole, with its links",
    "stats": "show the store in numbers",
    "namespaces": "list the namespaces",
    "delete ID": "take a memory out of use",
    "help": "show this",
    "quit": "leave, as the end of the input does",
}
SHORTER = {
    "r": "recall",
    "s": "search",
    "ls": "list",
    "ns": "namespaces",
    "del": "delete",
    "rm": "delete",
    "?": "help",
    "exit": "quit",
    "q": "quit",
}


@click.command(cls=Verb)
@pass_session
def shell(session: Session) -> None:
    """Look around and tidy up by short commands, one a line; `help` lists them."""
    with session.open() as app:
        talk = Shell(session, app.ctx)
        for line in _typed(talk) if sys.stdin.isatty() else _piped():
            if not talk.obeys(line):
                break


class Shell:
    """A conversation over one open store."""

    def __init__(self, session: Session, ctx: Context):
        self.session = session
        self.ctx = ctx
        self.verbs: dict[str, Callable[[str], None]] = {
            "recall": self.recall,
            "search": self.search,
            "list": self.show_list,
            "get": lambda rest: finding.tell_memory(session, ctx, _needed(rest, "get ID")),
            "stats": lambda _: finding.tell_stats(session, ctx),
            "namespaces": lambda _: finding.tell_namespaces(session, ctx),
            "delete": lambda rest: tell_deleted(session, ctx, _needed(rest, "delete ID")),
            "help": lambda _: output.lines(_help()),
        }

    def obeys(self, line: str) -> bool:
        """Do what *line* says, or say why not; False once it is time to leave."""
        word, _, rest = line.strip().partition(" ")
        verb = SHORTER.get(word.lower(), word.lower())
        if verb == "quit":
            return False
        if not verb:
            return True
        try:
            must_be_text(line, "line")
            self.verbs.get(verb, _unknown)(rest.strip())
        except click.ClickException as error:
            error.show()
        except MnemicError as error:
            click.echo(f"Error: {error}", err=True)
        sys.stdout.flush()
        return True

    def recall(self, rest: str) -> None:
        """Show what is known about something."""
        query = self._query(_needed(rest, "recall CONTEXT"), finding.RECALLED)
        finding.tell_recalled(self.session, recalling.recall(self.ctx, query), query.now)

    def search(self, rest: str) -> None:
        """Show what holds all of some words."""
        finding.tell_searched(
            self.session, self.ctx, self._query(_needed(rest, "search WORDS"), finding.SEARCHED)
        )

    def show_list(self, rest: str) -> None:
        """Show the memories of a namespace, or of all."""
        wanted = Filter(namespaces=self.ctx.scope(rest or None), alive_at=self.ctx.now())
        finding.tell_listed(self.session, self.ctx, wanted, LISTED)

    def _query(self, text: str, limit: int) -> Query:
        now = self.ctx.now()
        return Query(
            text=text, limit=limit, now=now, filter=Filter(namespaces=self.ctx.scope(), alive_at=now)
        )

    def completions(self, begun: str, before: str) -> list[str]:
        """How the word that *begun* starts may go on, after what stands *before* it."""
        first, *more = before.split() or [""]
        if not first:
            return [verb for verb in (*self.verbs, "quit") if verb.startswith(begun)]
        if SHORTER.get(first, first) != "list" or more:
            return []
        return [space for space in overview(self.ctx).by_namespace if space.startswith(begun)]


def _needed(rest: str, usage: str) -> str:
    if not rest:
        raise Invalid(f"usage: {usage}")
    return rest


def _unknown(rest: str) -> None:
    raise Invalid("unknown command; `help` lists them")


def _help() -> Iterator[str]:
    shorter: dict[str, list[str]] = {}
    for word, verb in SHORTER.items():
        shorter.setdefault(verb, []).append(word)
    rows = [(usage, text, shorter.get(usage.split()[0], [])) for usage, text in HELP.items()]
    yield from table([[name(usage), text, faint(", ".join(short))] for usage, text, short in rows])


def _piped() -> Iterator[str]:
    """The lines of standard input; one that is no text is told as it comes, and the next is read."""
    for line in sys.stdin.buffer:
        yield line.decode(errors="surrogateescape")


def _typed(talk: Shell) -> Iterator[str]:
    """The lines a person types, each asked for by the prompt."""
    with _editing(talk):
        while True:
            try:
                yield input(PROMPT)
            except EOFError:
                click.echo()
                return
            except KeyboardInterrupt:  # drops the line, as in other shells
                click.echo()


@contextmanager
def _editing(talk: Shell) -> Iterator[None]:
    """Lines that can be edited, completed and found again, where the platform has the means."""
    try:
        import readline
    except ImportError:
        yield
        return
    readline.set_completer_delims(" ")
    readline.set_completer(lambda begun, number: _candidate(talk, begun, number))
    readline.parse_and_bind("tab: complete")
    history = _history_file()
    with suppress(OSError):
        readline.read_history_file(history)
    readline.set_history_length(REMEMBERED_LINES)
    try:
        yield
    finally:
        with suppress(OSError):
            readline.write_history_file(history)


def _candidate(talk: Shell, begun: str, number: int) -> str | None:
    import readline

    found = talk.completions(begun, readline.get_line_buffer()[: readline.get_begidx()])
    return f"{found[number]} " if number < len(found) else None


def _history_file() -> Path:
    """Where the lines are kept; they may quote memories, so they are their owner's alone."""
    from mnemic.settings import data_folder

    path = data_folder() / HISTORY
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        path.chmod(0o600)
    return path
