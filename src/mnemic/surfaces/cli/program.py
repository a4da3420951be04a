"""The program itself: its own options, its table of commands, and how every failure ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from mnemic import __version__
from mnemic.errors import Busy, Invalid, MnemicError, NotFound, Unavailable
from mnemic.surfaces.cli.session import Session, global_options

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

FAILED, MISUSED, BUSY, INTERRUPTED = 1, 2, 3, 130

# The commands that are no operation of a dialect: where each is found and, so that listing them imports
# nothing, what it does.
OWN: dict[str, dict[str, tuple[str, str]]] = {
    "Remember": {
        "store": ("storing:store", "Keep a memory under a title, for a project and a time."),
        "update": ("storing:update", "Change a memory's text or fields."),
        "promote": ("storing:promote", "Make a memory long-term."),
    },
    "Find": {
        "recall": ("finding:recall", "Find what is known about something, by meaning and by words."),
        "search": ("finding:search", "Find the memories that hold all of these words."),
        "list": ("finding:list_", "List memories by priority."),
        "get": ("finding:get", "Show a memory whole, with its links."),
        "stats": ("finding:stats", "Show the store in numbers."),
        "namespaces": ("finding:namespaces", "List the namespaces."),
        "shell": ("shell:shell", "Look around and tidy up by short commands."),
    },
    "Relate": {
        "link": ("relating:link", "Relate two memories, or end that."),
        "resolve": ("relating:resolve", "Settle a contradiction between two memories."),
        "consolidate": ("relating:consolidate", "Make one memory of several."),
        "auto-consolidate": ("relating:auto_consolidate", "Make one memory of each group that shares a tag."),
    },
    "Let go": {
        "forget": ("leaving:forget", "Take memories out of use, by id or by filter."),
        "delete": ("storing:delete", "Take one memory out of use."),
        "archive": ("leaving:archive", "Look into the archive, bring back from it, empty it."),
        "gc": ("leaving:gc", "Archive what has expired."),
    },
    "Carry": {
        "export": ("transfer:export", "Write all memories and links, as JSON or for another system."),
        "import": ("transfer:import_", "Read memories and links, from JSON or from another system."),
        "mine": ("mining:mine", "Import the conversations of a Claude, ChatGPT or Slack export."),
        "sync": ("syncing:sync", "Hold the same memories here and in another database or daemon."),
        "backup": ("backups:backup", "Copy the whole database to a file; `restore --from` puts it back."),
        "embed": ("upkeep:embed", "Compute the vectors that are still missing."),
    },
    "Connect": {
        "serve": ("serving:serve", "Serve MCP and HTTP on an address."),
        "mcp": ("serving:mcp", "Serve MCP over standard input and output."),
        "call": ("calling:call", "Call any tool of any dialect with JSON."),
        "install": ("connecting:install", "Add Mnemic to the configuration of an MCP client."),
        "uninstall": ("connecting:uninstall", "Take Mnemic out of the configuration of an MCP client."),
        "token": ("tokens:token", "Make, list and revoke access tokens for HTTP."),
    },
    "Look after": {
        "doctor": ("doctor:doctor", "Say what works and what does not."),
        "config": ("configuration:config", "Show the settings in force and where each comes from."),
        "man": ("manual:man", "Print the manual page."),
        "completions": ("completions:completions", "Print the completion script for a shell."),
    },
}


# The commands that are an operation and something more.
EXTENDED = {"restore": "backups:restore"}

# Where the commands stand that are operations, and in which order people meet them; others come last.
PLACES: dict[str, tuple[str, ...]] = {
    "Remember": ("store", "remember", "update", "revise", "promote", "session"),
    "Find": ("recall", "search", "list", "get", "open", "verify", "explore", "stats", "namespaces", "shell"),
    "Relate": ("link", "resolve", "consolidate", "auto-consolidate", "rate", "reflect", "tidy"),
    "Let go": ("forget", "delete", "restore", "history", "undo", "archive", "gc"),
}
ELSEWHERE = "Relate"


class Program(click.Group):
    """`mnemic`: finds a command among its own, else among the dialects' operations, and imports no other."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command's name."""
        return [name for rows in sections().values() for name, _ in rows]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command *cmd_name*, imported now."""
        own = {name: place for commands in OWN.values() for name, (place, _) in commands.items()}
        if place := {**own, **EXTENDED}.get(cmd_name):
            return _load(place)
        from mnemic.surfaces.cli.listing import find

        try:
            command = find(cmd_name)
        except NotFound:
            return None
        from mnemic.surfaces.cli.derived import command_for, declared

        return command_for(declared(command))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by what they are for."""
        for title, rows in sections().items():
            with formatter.section(title):
                formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands whose names begin like *incomplete*, without importing any of them."""
        from click.shell_completion import CompletionItem

        rows = [row for rows in sections().values() for row in rows if row[0].startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(name, help=text) for name, text in rows), *options]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with near names offered when there is no such command."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], self.list_commands(ctx), n=3)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise click.UsageError(f"No such command: {args[0]}.{hint}", error.ctx) from None


def _load(place: str) -> click.Command:
    module, _, name = place.partition(":")
    found = getattr(import_module(f"mnemic.surfaces.cli.{module}"), name)
    return found if isinstance(found, click.Command) else found()


def sections() -> dict[str, list[tuple[str, str]]]:
    """The commands and what each does, by what they are for."""
    from mnemic.surfaces.cli.listing import listed

    found = {title: [(name, text) for name, (_, text) in rows.items()] for title, rows in OWN.items()}
    for item in listed().values():
        title = next((title for title, names in PLACES.items() if item.name in names), ELSEWHERE)
        found[title].append((item.name, _first_sentence(item.text)))
    for title, names in PLACES.items():
        found[title].sort(key=lambda row: names.index(row[0]) if row[0] in names else len(names))
    return found


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
        params=[*global_options(), show_version],
        help="Memory for AI agents: keep what is learnt, find it again.",
        epilog="`mnemic COMMAND --help` says more.",
        subcommand_metavar="COMMAND",
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


def run(arguments: Sequence[str]) -> int:
    """Run `mnemic` with *arguments*; its exit code. Failures are told on standard error, in a sentence."""
    try:
        code = _guarded(
            lambda: program().main(list(arguments), "mnemic", standalone_mode=False, **_context())
        )
        sys.stdout.flush()
    except BrokenPipeError:
        _close_stdout()
        return FAILED
    return code


def _context() -> dict[str, Any]:
    colour = False if os.environ.get("NO_COLOR") else True if os.environ.get("FORCE_COLOR") else None
    return {"obj": Session(), "color": colour}


def _guarded(work: Callable[[], Any]) -> int:
    """*work*'s exit code, with what it raises told and turned into one."""
    try:
        result = work()
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return INTERRUPTED
    except MnemicError as error:
        return _told(str(error), exit_code(error))
    except BrokenPipeError:
        raise
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        return _told(f"{error.strerror or type(error).__name__}{where}", FAILED)
    except Exception as error:
        if os.environ.get("MNEMIC_DEBUG"):
            raise
        return _told(f"Unexpected {type(error).__name__}. MNEMIC_DEBUG=1 shows where.", FAILED)


def _told(message: str, code: int) -> int:
    click.echo(f"Error: {message}", err=True)
    return code


def exit_code(error: MnemicError) -> int:
    """The exit code that says what kind of failure *error* is."""
    if isinstance(error, Invalid):
        return MISUSED
    return BUSY if isinstance(error, (Busy, Unavailable)) else FAILED


def _close_stdout() -> None:
    """Let the interpreter's last flush go nowhere: whoever read our output has left."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
