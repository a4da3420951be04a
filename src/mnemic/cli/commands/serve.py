"""`mnemic serve` and `mnemic mcp`: the daemon, and one client's server on standard input and output."""

from __future__ import annotations

import sys
from typing import Any

import click

from mnemic.app import NATIVE
from mnemic.cli.dialect_names import LISTED, names
from mnemic.console import output
from mnemic.console.run import Run, Verb, pass_run, tier_option
from mnemic.console.terminal import bold, faint


@click.command(cls=Verb, params=[tier_option()])
@click.option("--host", metavar="ADDRESS", help="Address to listen on. [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", help="Port to listen on. [default: 9077]")
@click.option("--token", metavar="SECRET", help="Token that grants full access. [env: MNEMIC_TOKEN]")
@click.option("--fast-writes", is_flag=True, default=None, help="Acknowledge writes before they are on disk.")
@click.option(
    "--allow-path",
    multiple=True,
    metavar="FOLDER",
    help="Folder that tools may read files from; may be given several times.",
)
@pass_run
def serve(run: Run, /, **given: Any) -> None:
    """Serve MCP and HTTP until interrupted.

    Listens on this machine only, unless --host says otherwise; any other address needs a token.
    """
    from mnemic.transports.http.auth import AuthPolicy
    from mnemic.transports.http.daemon import run_http

    flags = {name: value for name, value in given.items() if value not in (None, ())}
    with run.open(**flags) as app:

        def greet(address: str) -> None:
            policy = AuthPolicy(app.settings.host, app.settings.token)
            output.lines(greeting(address, app.settings.shown_database, policy.needs_token))
            sys.stdout.flush()

        run_http(app, app.settings.host, app.settings.port, greet)


def greeting(address: str, database: str, needs_token: bool) -> list[str]:
    """Where the daemon is, and what to paste into a client."""
    header = ' --header "Authorization: Bearer $MNEMIC_TOKEN"' if needs_token else ""
    variable = " --bearer-token-env-var MNEMIC_TOKEN" if needs_token else ""
    entry = f'"type": "http", "url": "{address}/mcp"'
    entry += ', "headers": {"Authorization": "Bearer TOKEN"}' if needs_token else ""
    return [
        f"Mnemic serves {bold(address)} from {database}",
        "",
        "Paste into a client:",
        faint("  Claude Code      ") + f"claude mcp add --transport http mnemic {address}/mcp{header}",
        faint("  Codex            ") + f"codex mcp add mnemic --url {address}/mcp{variable}",
        faint("  Cursor, VS Code  ") + f'"mnemic": {{{entry}}}',
        faint("  without a daemon ") + "mnemic install CLIENT",
        "",
        faint("Ctrl-C ends it."),
    ]


@click.command(cls=Verb, params=[tier_option()], epilog=LISTED)
@click.option(
    "--dialect",
    default=NATIVE,
    show_default=True,
    metavar="NAME",
    shell_complete=names,
    help="Dialect to serve.",
)
@click.option(
    "--tools",
    type=click.Choice(["core", "all"]),
    help="Offer the core tools of the native dialect, or all. [default: core]",
)
@click.option(
    "--in-process",
    is_flag=True,
    expose_value=False,
    help="Serve from this process instead of the local daemon.",
)
@pass_run
def mcp(run: Run, dialect: str, tools: str | None) -> None:
    """Serve MCP over standard input and output. Clients start this; `mnemic install` configures them."""
    serve_stdio(run, dialect, tools)


def serve_stdio(run: Run, dialect: str, tools: str | None = None) -> None:
    """Serve the tools of *dialect* to one client on standard input and output."""
    from mnemic.app import dialect as known

    assert run.server is not None, "this run was given nothing to serve with"
    served = known(dialect)
    opened = run.open_native if dialect == NATIVE else run.open
    with opened(tools=tools, **run.database_of(served)) as app:
        run.server(app, served)
