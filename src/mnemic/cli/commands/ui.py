"""`mnemic ui`: the dashboard in the browser, served by a daemon that runs already or by this command."""

from __future__ import annotations

import sys
import webbrowser
from typing import TYPE_CHECKING, Any

import click

from mnemic.console import output
from mnemic.console.run import Run, Verb, pass_run

if TYPE_CHECKING:
    from mnemic.app import App

LOOK_SECONDS = 2.0


@click.command(cls=Verb)
@click.option("--host", metavar="ADDRESS", help="Address to listen on. [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", help="Port to listen on. [default: 9077]")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@pass_run
def ui(run: Run, /, no_browser: bool, **given: Any) -> None:
    """Open the dashboard in the browser.

    Uses the daemon that listens on the port already, or serves until interrupted.
    """
    flags = {name: value for name, value in given.items() if value is not None}
    with run.open(**flags) as app:
        address = _running(app)
        if address:
            _show(address, no_browser, "Already served by a running daemon.")
        else:
            _serve(app, no_browser)


def _running(app: App) -> str | None:
    """The address of a daemon that serves already, or None."""
    import httpx

    host, port = app.settings.host, app.settings.port
    address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    try:
        found = httpx.get(f"{address}/api/v1/health", timeout=LOOK_SECONDS, trust_env=False).json()
    except (httpx.HTTPError, ValueError):
        return None
    return address if isinstance(found, dict) and found.get("service") == "ai-memory" else None


def _serve(app: App, no_browser: bool) -> None:
    from mnemic.transports.http.daemon import run_http

    run_http(app, app.settings.host, app.settings.port, lambda at: _show(at, no_browser, "Ctrl-C ends it."))


def _show(address: str, no_browser: bool, note: str) -> None:
    output.lines([f"Dashboard: {address}/", note])
    sys.stdout.flush()
    if not no_browser:
        webbrowser.open(f"{address}/")
