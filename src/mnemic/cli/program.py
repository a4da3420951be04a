"""`mnemic`: global options, the table of commands, and how errors end."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mnemic import __version__
from mnemic.cli.command_index import find, listed
from mnemic.console.failure import FAILED, guarded
from mnemic.console.lazy_group import LazyGroup, Table, load
from mnemic.console.run import Run, global_options
from mnemic.dialects import command_lines
from mnemic.errors import NotFound

if TYPE_CHECKING:
    from mnemic.app import App
    from mnemic.dialects.framework import Dialect
    from mnemic.settings import Settings

# Commands that are no operation of the native dialect: where each is found, and its one-line help, so that
# listing them imports nothing.
OWN = {
    "Find": {
        "tui": ("tui:tui", "Browse memories in a full-screen terminal interface."),
        "shell": ("shell:shell", "Run commands interactively over one open store."),
    },
    "Delete and undo": {
        "purge": ("purge:purge", "Erase a text, such as a name, everywhere and prove it."),
    },
    "Import and export": {
        "export": ("transfer:export", "Export all memories and links, as JSON or for another system."),
        "import": ("transfer:import_", "Import memories and links, from JSON or from another system."),
        "mirror": ("mirror:mirror", "Keep a folder of Markdown notes and the memories equal."),
        "sync": ("sync:sync", "Sync with another database or a daemon."),
        "backup": ("backup:backup", "Copy the whole database to a file; `restore --from` puts it back."),
        "copy": ("copy:copy", "Copy the whole store to another file or PostgreSQL database."),
        "embed": ("embed:embed", "Compute missing vectors now."),
    },
    "Connect": {
        "mcp": ("serve:mcp", "Serve MCP over standard input and output."),
        "serve": ("serve:serve", "Serve MCP and HTTP on an address."),
        "ui": ("ui:ui", "Open the dashboard in the browser."),
        "service": ("service:service", "Run `mnemic serve` at every login."),
        "daemon": ("daemon:daemon", "Show or stop the local daemon that MCP clients share."),
        "install": ("install:install", "Add Mnemic to the configuration of an MCP client."),
        "uninstall": ("install:uninstall", "Remove Mnemic from the configuration of an MCP client."),
        "token": ("token:token", "Create, list and revoke access tokens for HTTP."),
        "hook": ("hook:hook", "Answer a hook of a coding agent."),
        "capture": ("capture:capture", "Pause or resume what the hooks of coding agents keep."),
        "call": ("call:call", "Call any tool of any dialect with JSON."),
    },
    "Maintenance": {
        "doctor": ("doctor:doctor", "Check the installation and say what is broken."),
        "config": ("config:config", "Show and change the settings."),
        "man": ("man:man", "Print the manual page."),
        "completions": ("completions:completions", "Print a shell completion script."),
    },
}

# Operations whose command does something more.
EXTENDED = {"restore": "backup:restore"}

# In which section the derived commands stand, and in which order; others come last.
PLACES: dict[str, tuple[str, ...]] = {
    "Remember": ("remember", "revise", "session"),
    "Find": ("recall", "open", "list", "verify", "explore", "stats", "namespaces", "tui", "shell"),
    "Relate": ("link", "rate", "reflect", "tidy"),
    "Delete and undo": ("forget", "restore", "purge", "history", "undo"),
    "Import and export": (),
    "Connect": (),
    "Maintenance": (),
    "Other dialects": (),
}
DIALECT_COMMANDS = "Other dialects"
ELSEWHERE = "Relate"
_HERE = "mnemic.cli.commands."


def _table() -> Table:
    """The commands that are not derived from operations."""
    return {
        title: {name: (_HERE + place, text) for name, (place, text) in rows.items()}
        for title, rows in OWN.items()
    }


class Program(LazyGroup):
    """`mnemic`: its own commands, and those derived from the operations of the native dialect."""

    def rows(self) -> dict[str, list[tuple[str, str]]]:
        """The names and one-line helps of all commands, by section."""
        found = {title: list(super(Program, self).rows().get(title, ())) for title in PLACES}
        for item in listed().values():
            title = next((title for title, names in PLACES.items() if item.name in names), ELSEWHERE)
            found[title].append((item.name, _first_sentence(item.text)))
        found[DIALECT_COMMANDS] += [(name, text) for name, (_, text) in command_lines().items()]
        for title, names in PLACES.items():
            found[title].sort(key=lambda row: names.index(row[0]) if row[0] in names else len(names))
        return found

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command *cmd_name*, imported now; None if unknown."""
        if cmd_name in EXTENDED:
            return load(_HERE + EXTENDED[cmd_name])
        return super().get_command(ctx, cmd_name) or self._derived(cmd_name) or self._of_dialect(cmd_name)

    def _derived(self, name: str) -> click.Command | None:
        try:
            command = find(name)
        except NotFound:
            return None
        from mnemic.cli.derive import command_for, declared

        return command_for(declared(command))

    def _of_dialect(self, name: str) -> click.Command | None:
        """The command line of the dialect *name*, if it has one."""
        found = command_lines().get(name)
        return load(found[0]) if found else None

    def hint(self, ctx: click.Context, typed: str) -> str:
        """As any group; a command of a dialect's own command line is pointed out."""
        for name, (place, _) in command_lines().items():
            below = load(place)
            if isinstance(below, click.Group) and typed in below.list_commands(ctx):
                return f" {name}'s command is `mnemic {name} {typed}`.{super().hint(ctx, typed)}"
        return super().hint(ctx, typed)


def _first_sentence(text: str) -> str:
    line = text.partition("\n")[0]
    head, dot, _ = line.partition(". ")
    return head + dot.rstrip()


def _version(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(f"mnemic {__version__}")
        ctx.exit()


def program() -> Program:
    """The program, ready to run."""
    show_version = click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_version,
        help="Show the version.",
    )
    return Program(
        "mnemic",
        table=_table(),
        params=[*global_options(), show_version],
        help="Memory for AI agents: store what is learnt, find it again.",
        epilog="`mnemic COMMAND --help` shows the options of a command.",
        subcommand_metavar="COMMAND",
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


def run(arguments: Sequence[str]) -> int:
    """Run `mnemic` with *arguments*; its exit code. An error is one sentence on standard error, or JSON."""
    _show_what_can_be_shown()
    try:
        # A wrong word may stop the parser before it has seen the flag.
        code = run_words(arguments, Run(as_json="--json" in arguments, opener=_open, server=_serve))
        sys.stdout.flush()
    except BrokenPipeError:
        _close_stdout()
        return FAILED
    return code


def _open(settings: Settings, actor: str) -> App:
    from mnemic.app import open_app

    return open_app(settings, actor=actor)


def _serve(app: App, dialect: Dialect) -> None:
    from mnemic.transports.mcp.stdio import run_stdio

    run_stdio(app, dialect)


def _show_what_can_be_shown() -> None:
    """Let a terminal that is not UTF-8 show a question mark for what it has no character for."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def run_words(arguments: Sequence[str], session: Run) -> int:
    """Run `mnemic` with *arguments* and the flags of *session*; its exit code."""
    environment = session.environment
    colour = False if environment.get("NO_COLOR") else True if environment.get("FORCE_COLOR") else None
    return guarded(
        session,
        lambda: program().main(list(arguments), "mnemic", standalone_mode=False, obj=session, color=colour),
    )


def _close_stdout() -> None:
    """Redirect the interpreter's final flush: the reader of our output has left."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
