"""`mnemic service`: run `mnemic serve` whenever the user is logged in."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mnemic.console import output
from mnemic.console.run import Run, VerbGroup, pass_run
from mnemic.errors import Unavailable

if TYPE_CHECKING:
    from mnemic.service import Command, Service

SECONDS = 60
_dry_run = click.option("--dry-run", is_flag=True, help="Show the file and the commands, and do nothing.")


@click.group(cls=VerbGroup)
def service() -> None:
    """Run `mnemic serve` at every login: REST, MCP over HTTP and the dashboard.

    MCP clients on this machine need no service: `mnemic mcp` starts the local daemon by itself.
    """


@service.command()
@click.option("--host", metavar="ADDRESS", help="Address to listen on. [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(1, 65535), metavar="N", help="Port to listen on. [default: 9077]")
@_dry_run
@pass_run
def install(run: Run, host: str | None, port: int | None, dry_run: bool) -> None:
    """Install and start it. Doing it again applies changed options."""
    made = described(run, host, port)
    if not dry_run:
        made.file.parent.mkdir(parents=True, exist_ok=True)
        is_new = not made.file.exists()
        made.file.write_bytes(made.text.encode(made.encoding))
        if made.system == "launchd" and not is_new:
            _attempt(made.stop)
        _carry_out(made.start, f"{made.file} is written, but the service is not started")
    verbs = ("Would write", "would run") if dry_run else ("Wrote", "ran")
    lines = [f"{verbs[0]} {made.file} and {verbs[1]}:", *(f"  {shlex.join(one)}" for one in made.start)]
    shown = [*lines, "", made.text.rstrip()] if dry_run else [*lines, f"Its log: {made.log}"]
    output.tell(run, _facts(made, dry_run), *shown)


@service.command()
@_dry_run
@pass_run
def uninstall(run: Run, dry_run: bool) -> None:
    """Stop it and remove its file. Memories and settings stay."""
    made = described(run)
    is_there = made.file.exists()
    if is_there and not dry_run:
        _attempt(made.stop)  # it may be stopped already
        made.file.unlink()
        _attempt(made.reload)
    done = "Would remove" if dry_run else "Removed"
    output.tell(
        run, _facts(made, dry_run), f"{done} {made.file}." if is_there else "The service is not installed."
    )


@service.command()
@pass_run
def status(run: Run) -> None:
    """Show whether it is installed and runs."""
    made = described(run)
    is_there = made.file.exists()
    runs = is_there and _attempt([made.state])
    state = "running" if runs else "installed, not running" if is_there else "not installed"
    facts = {"installed": is_there, "running": runs, "file": str(made.file), "log": made.log}
    output.tell(run, facts, f"{state} ({made.system}, {made.file})")


def described(run: Run, host: str | None = None, port: int | None = None) -> Service:
    """The service of this user on this system. A database set by a variable is named: a service sees none."""
    from mnemic.client_config import ConfigScope
    from mnemic.client_config.executable import executable
    from mnemic.service import service_of

    database = run.settings().db
    if database and "://" not in database:
        database = str(Path(database).expanduser().absolute())
    flags = (("--db", database), ("--host", host), ("--port", port and str(port)))
    words = [
        executable(ConfigScope.USER),
        "serve",
        *(word for flag in flags if flag[1] for word in map(str, flag)),
    ]
    user = os.getuid() if hasattr(os, "getuid") else 0
    return service_of(sys.platform, Path.home(), user, os.environ, words)


def _carry_out(commands: Sequence[Command], problem: str) -> None:
    """Run *commands*; Unavailable, with what they said, if one fails."""
    for words in commands:
        done = _ran(words)
        if done is None or done.returncode:
            said = (
                " ".join((done.stderr or done.stdout).split())[:300] if done else f"{words[0]} was not found"
            )
            raise Unavailable(f"{problem}: {said}. Later: {' && '.join(map(shlex.join, commands))}")


def _attempt(commands: Sequence[Command]) -> bool:
    """Run *commands*; whether all succeeded."""
    ended = [_ran(words) for words in commands]
    return all(one is not None and one.returncode == 0 for one in ended)


def _ran(words: Command) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None


def _facts(made: Service, dry_run: bool) -> dict[str, object]:
    return {"system": made.system, "file": str(made.file), "log": made.log, "dry_run": dry_run}
