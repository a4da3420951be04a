"""`mnemic daemon`: the local daemon that the clients of a database share."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from mnemic.console import output
from mnemic.console.run import Run, VerbGroup, pass_run
from mnemic.console.terminal import count, size
from mnemic.daemon_client.address import Address, address_of
from mnemic.daemon_client.client import ask
from mnemic.errors import Unavailable

STOP_SECONDS = 15.0
"""A daemon that is told to end has calls in progress for five seconds, then closes what it has open."""


@click.group(cls=VerbGroup)
def daemon() -> None:
    """Show or stop the local daemon, which MCP clients of this database start and share."""


@daemon.command()
@pass_run
def status(run: Run) -> None:
    """Show whether it runs, for how many clients, and how much memory it takes."""
    facts = status_of(run.settings().database)
    lines = [mirrored(one) for one in facts["mirrors"]] if facts else []
    output.tell(run, {"running": facts is not None, **(facts or {})}, described(facts), *lines)


@daemon.command()
@pass_run
def stop(run: Run) -> None:
    """End it. Calls in progress are finished; clients that are connected start a new one when they need it."""
    address = address_of(str(Path(run.settings().database).expanduser()))
    facts = ask(address, "stop") if address else None
    if address and facts:
        _wait_for_end(address)
    sentence = f"Ended process {facts['process']}." if facts else "It is not running."
    output.tell(run, {"stopped": facts is not None}, sentence)


def _wait_for_end(address: Address) -> None:
    ends_at = time.monotonic() + STOP_SECONDS
    while Path(address.lock).exists():
        if time.monotonic() > ends_at:
            raise Unavailable("The daemon is still busy. Try again, or end its process.")
        time.sleep(0.02)


def status_of(database: str) -> dict[str, Any] | None:
    """What the daemon of *database* says of itself; None if it does not run."""
    address = None if "://" in database else address_of(str(Path(database).expanduser()))
    return ask(address, "status") if address else None


def mirrored(facts: dict[str, Any]) -> str:
    """A mirrored folder in one line."""
    how = facts["problem"] or (
        f"in step at {facts['in_step_at']}" if facts["in_step_at"] else "not looked at yet"
    )
    return f"mirrors {facts['folder']}={facts['namespace']}: {how}"


def described(facts: dict[str, Any] | None) -> str:
    """The daemon in one line."""
    if facts is None:
        return "not running; MCP clients start it"
    lasts = count(facts["seconds"] // 60, "minute")
    clients = count(facts["clients"], "client")
    return (
        f"process {facts['process']}, version {facts['version']}, {clients}, {size(facts['memory_bytes'])}, "
        f"running for {lasts}; ends {facts['idle_limit_seconds']} s after the last client"
    )
