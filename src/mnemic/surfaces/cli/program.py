"""`mnemic`: global options, the table of commands, and how errors end."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

import click

from mnemic import __version__
from mnemic.dialects import COMMAND_LINES
from mnemic.errors import NotFound
from mnemic.surfaces.cli.failure import FAILED, guarded
from mnemic.surfaces.cli.lazy_group import LazyGroup, Table, load
from mnemic.surfaces.cli.listing import find, listed
from mnemic.surfaces.cli.session import Session, global_options

# Commands that are no operation of the native dialect: where each is found, and its one-line help, so that
# listing them imports nothing.
OWN = {
    "Find": {
        "shell": ("shell:shell", "Type commands one after another over one open store."),
    },
    "Carry": {
        "export": ("transfer:export", "Export all memories and links, as JSON or for another system."),
        "import": ("transfer:import_", "Import memories and links, from JSON or from another system."),
        "sync": ("syncing:sync", "Sync with another database or a daemon."),
        "backup": ("backups:backup", "Copy the whole database to a file; `restore --from` puts it back."),
        "embed": ("upkeep:embed", "Compute missing vectors now."),
    },
    "Connect": {
        "mcp": ("serving:mcp", "Serve MCP over standard input and output."),
        "serve": ("serving:serve", "Serve MCP and HTTP on an address."),
        "install": ("connecting:install", "Add Mnemic to the configuration of an MCP client."),
        "uninstall": ("connecting:uninstall", "Remove Mnemic from the configuration of an MCP client."),
        "token": ("tokens:token", "Create, list and revoke access tokens for HTTP."),
        "call": ("calling:call", "Call any tool of any dialect with JSON."),
    },
    "Look after": {
        "doctor": ("doctor:doctor", "Check the installation and say what is broken."),
        "config": ("configuration:config", "Show the settings and where each comes from."),
        "man": ("manual:man", "Print the manual page."),
        "completions": ("completions:completions", "Print a shell completion script."),
    },
}

# Operations whose command does something more.
EXTENDED = {"restore": "backups:restore"}

# In which section the derived commands stand, and in which order; others come last.
PLACES: dict[str, tuple[str, ...]] = {
    "Remember": ("remember", "revise", "session"),
    "Find": ("recall", "open", "list", "verify", "explore", "stats", "namespaces", "shell"),
    "Relate": ("link", "rate", "reflect", "tidy"),
    "Delete and undo": ("forget", "restore", "history", "undo"),
    "Carry": (),
    "Connect": (),
    "Look after": (),
    "Other command lines": (),
}
ELSEWHERE = "Relate"
_HERE = "mnemic.surfaces.cli."


def _table() -> Table:
    """The commands that are not derived, the command lines of other systems included."""
    own = {
        title: {name: (_HERE + place, text) for name, (place, text) in rows.items()}
        for title, rows in OWN.items()
    }
    return {**own, "Other command lines": COMMAND_LINES}


class Program(LazyGroup):
    """`mnemic`: its own commands, and those derived from the operations of the native dialect."""

    def rows(self) -> dict[str, list[tuple[str, str]]]:
        """The names and one-line helps of all commands, by section."""
        found = {title: list(super(Program, self).rows().get(title, ())) for title in PLACES}
        for item in listed().values():
            title = next((title for title, names in PLACES.items() if item.name in names), ELSEWHERE)
            found[title].append((item.name, _first_sentence(item.text)))
        for title, names in PLACES.items():
            found[title].sort(key=lambda row: names.index(row[0]) if row[0] in names else len(names))
        return found

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command *cmd_name*, imported now; None if there is none."""
        if cmd_name in EXTENDED:
            return load(_HERE + EXTENDED[cmd_name])
        return super().get_command(ctx, cmd_name) or self._derived(cmd_name)

    def _derived(self, name: str) -> click.Command | None:
        try:
            command = find(name)
        except NotFound:
            return None
        from mnemic.surfaces.cli.derived import command_for, declared

        return command_for(declared(command))

    def hint(self, ctx: click.Context, typed: str) -> str:
        """As any group; a command of another system's command line is pointed out."""
        for name, (place, _) in COMMAND_LINES.items():
            below = load(place)
            if isinstance(below, click.Group) and typed in below.list_commands(ctx):
                return f" ai-memory's command is `mnemic {name} {typed}`.{super().hint(ctx, typed)}"
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
        code = run_words(arguments, Session(as_json="--json" in arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        _close_stdout()
        return FAILED
    return code


def _show_what_can_be_shown() -> None:
    """Let a terminal that is not UTF-8 show a question mark for what it has no character for."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def run_words(arguments: Sequence[str], session: Session) -> int:
    """Run `mnemic` with *arguments* and the flags of *session*; its exit code."""
    colour = False if os.environ.get("NO_COLOR") else True if os.environ.get("FORCE_COLOR") else None
    return guarded(
        session,
        lambda: program().main(list(arguments), "mnemic", standalone_mode=False, obj=session, color=colour),
    )


def _close_stdout() -> None:
    """Let the interpreter's last flush go nowhere: whoever read our output has left."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
