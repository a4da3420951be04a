"""`mnemic ai-memory shell`: its interactive commands, over one open store."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

from mnemic.core import recall as recalling
from mnemic.core.overview import overview
from mnemic.dialects.ai_memory.cli import query
from mnemic.dialects.ai_memory.cli.store import tell_deleted
from mnemic.errors import Invalid, MnemicError
from mnemic.model.search import Filter, Query
from mnemic.surfaces.cli import output
from mnemic.surfaces.cli.line_editor import lines
from mnemic.surfaces.cli.reading import must_be_text
from mnemic.surfaces.cli.session import Session, Verb, pass_session
from mnemic.surfaces.cli.text import faint, name, table

if TYPE_CHECKING:
    from mnemic.core.context import Context

PROMPT = "ai-memory> "
LISTED = 20

HELP = {
    "recall CONTEXT": "recall memories relevant to a context",
    "search WORDS": "search memories that contain all words",
    "list [NAMESPACE]": "list memories by priority",
    "get ID": "show a memory and its links",
    "stats": "show statistics",
    "namespaces": "list namespaces",
    "delete ID": "delete a memory",
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
    """Browse and manage memories interactively, one command a line; `help` lists them."""
    with session.open() as app:
        talk = Shell(session, app.ctx)
        for line in lines(PROMPT, talk.completions):
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
            "get": lambda rest: query.tell_memory(session, ctx, _needed(rest, "get ID")),
            "stats": lambda _: query.tell_stats(session, ctx),
            "namespaces": lambda _: query.tell_namespaces(session, ctx),
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
        asked = self._query(_needed(rest, "recall CONTEXT"), query.RECALLED)
        query.tell_recalled(self.session, recalling.tiered(self.ctx, asked), asked.now)

    def search(self, rest: str) -> None:
        """Show what holds all of some words."""
        query.tell_searched(
            self.session, self.ctx, self._query(_needed(rest, "search WORDS"), query.SEARCHED)
        )

    def show_list(self, rest: str) -> None:
        """Show the memories of a namespace, or of all."""
        wanted = Filter(namespaces=self.ctx.scope(rest or None), alive_at=self.ctx.now())
        query.tell_listed(self.session, self.ctx, wanted, LISTED)

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
