"""`mnemic capture`: pause, resume and show what hooks keep."""

from __future__ import annotations

import click

from mnemic.console import output
from mnemic.console.run import Run, VerbGroup, pass_run
from mnemic.console.terminal import count, minute
from mnemic.model.time import Moment


@click.group(cls=VerbGroup)
def capture() -> None:
    """Pause or resume what the hooks of coding agents keep. `mnemic tidy review` lists what was captured."""


@capture.command()
@click.option("--for", "span", metavar="SPAN", help="For so long, as 2h or 1d. [default: until resumed]")
@pass_run
def pause(run: Run, span: str | None) -> None:
    """Capture nothing for a while, in any project."""
    from mnemic.core.capture import pause as pausing
    from mnemic.model.time import parse_span

    with run.open_native() as app:
        until = app.ctx.now() + parse_span(span, "for") if span else pausing.ALWAYS
        pausing.pause(app.ctx, until)
    _tell(run, until)


@capture.command()
@pass_run
def resume(run: Run) -> None:
    """Capture again."""
    from mnemic.core.capture import pause as pausing

    with run.open_native() as app:
        pausing.resume(app.ctx)
    _tell(run, None)


@capture.command()
@pass_run
def status(run: Run) -> None:
    """Say whether anything is captured."""
    from mnemic.core.capture import pause as pausing

    with run.open_native(reads=True) as app:
        until = pausing.paused_until(app.ctx)
    _tell(run, until)


@capture.command()
@pass_run
def summarise(run: Run) -> None:
    """Let the language model write the latest summaries of sessions that it has not written yet.

    Hooks do so by themselves when a session ends, in the background.
    """
    from mnemic.core.capture import episode

    with run.open_native() as app:
        written = episode.summarise(app.ctx)
    output.tell(run, {"written": written}, f"{count(written, 'summary', 'summaries')} written.")


def _tell(run: Run, until: Moment | None) -> None:
    from mnemic.core.capture.pause import ALWAYS

    settings = run.settings()
    is_paused = until is not None
    facts = {
        "on": settings.capture and not is_paused,
        "paused": is_paused,
        "exclude": list(settings.capture_exclude),
    }
    output.tell(run, facts, _sentence(settings.capture, until, ALWAYS))


def _sentence(is_on: bool, until: Moment | None, always: Moment) -> str:
    if not is_on:
        return "Capture is off by setting (capture = false)."
    if until is None:
        return "Capture is on."
    return (
        "Capture is paused until `mnemic capture resume`."
        if until == always
        else f"Capture is paused until {minute(until)}."
    )
