"""`mnemic ai-memory shell`: its interactive commands, over one open store."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

from mnemic.console import output
from mnemic.console.input_values import must_be_text
from mnemic.console.line_editor import lines
from mnemic.console.run import Run, Verb, pass_run
from mnemic.console.terminal import faint, name, table
from mnemic.core.stats import overview
from mnemic.dialects.ai_memory import recall as rules
from mnemic.dialects.ai_memory.cli import query
from mnemic.dialects.ai_memory.cli.store import show_deleted
from mnemic.errors import Invalid, MnemicError
from mnemic.model.filter import Filter, Query

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
@pass_run
def shell(run: Run) -> None:
    """Browse and manage memories interactively, one command a line; `help` lists them."""
    with run.open() as app:
        talk = Shell(run, app.ctx)
        for line in lines(PROMPT, talk.completions):
            if not talk.obeys(line):
                break


class Shell:
    """A conversation over one open store."""

    def __init__(self, run: Run, ctx: Context):
        self.session = run
        self.ctx = ctx
        self.verbs: dict[str, Callable[[str], None]] = {
            "recall": self.recall,
            "search": self.search,
            "list": self.show_list,
            "get": lambda rest: query.show_memory(run, ctx, _needed(rest, "get ID")),
            "stats": lambda _: query.show_stats(run, ctx),
            "namespaces": lambda _: query.show_namespaces(run, ctx),
            "delete": lambda rest: show_deleted(run, ctx, _needed(rest, "delete ID")),
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
        """Print memories about a topic."""
        query_ = self._query(_needed(rest, "recall CONTEXT"), query.RECALLED)
        query.show_recalled(self.session, rules.tiered(self.ctx, query_), query_.now)

    def search(self, rest: str) -> None:
        """Show what holds all of some words."""
        query.show_searched(
            self.session, self.ctx, self._query(_needed(rest, "search WORDS"), query.SEARCHED)
        )

    def show_list(self, rest: str) -> None:
        """Show the memories of a namespace, or of all."""
        wanted = Filter(namespaces=self.ctx.scope(rest or None), alive_at=self.ctx.now())
        query.show_listed(self.session, self.ctx, wanted, LISTED)

    def _query(self, text: str, limit: int) -> Query:
        now = self.ctx.now()
        return Query(
            text=text, limit=limit, now=now, filter=Filter(namespaces=self.ctx.scope(), alive_at=now)
        )

    def completions(self, begun: str, before: str) -> list[str]:
        """Completions of *begun*, given the words *before* it."""
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
