"""A command group that imports a command only when it is run, and suggests near names for a typo."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Table = Mapping[str, Mapping[str, tuple[str, str]]]
"""Commands by section: for each name where it is found, as `package.module:name`, and its one-line help."""


class LazyGroup(click.Group):
    """A group over a table of commands: listing them imports none of them."""

    def __init__(self, *arguments: Any, table: Table, **keywords: Any):
        super().__init__(*arguments, **keywords)
        self.table = table

    def rows(self) -> dict[str, list[tuple[str, str]]]:
        """The names and one-line helps of the commands, by section."""
        return {
            title: [(name, text) for name, (_, text) in rows.items()] for title, rows in self.table.items()
        }

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command's name."""
        return [name for rows in self.rows().values() for name, _ in rows]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command *cmd_name*, imported now; None if unknown."""
        places = {name: place for commands in self.table.values() for name, (place, _) in commands.items()}
        return load(places[cmd_name]) if cmd_name in places else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by section."""
        for title, rows in self.rows().items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands whose names begin with *incomplete*, without importing any of them."""
        from click.shell_completion import CompletionItem

        rows = [row for rows in self.rows().values() for row in rows if row[0].startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(name, help=text) for name, text in rows), *options]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does; an unknown command gets an error that suggests near names."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(
                f"No such command: {args[0]}.{self.hint(ctx, args[0])}", error.ctx
            ) from None

    def hint(self, ctx: click.Context, typed: str) -> str:
        """What to type instead of the unknown command *typed*, as a sentence; empty if nothing is near."""
        from difflib import get_close_matches

        near = get_close_matches(typed, self.list_commands(ctx), n=3)
        return f" Did you mean {' or '.join(near)}?" if near else ""


def load(place: str) -> click.Command:
    """The command at *place*, `package.module:name`: a command, or a function that makes one."""
    module, _, name = place.partition(":")
    found = getattr(import_module(module), name)
    return found if isinstance(found, click.Command) else found()
