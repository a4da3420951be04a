"""`mnemic doctor`: what works and what does not, one check at a time."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mnemic.errors import MnemicError
from mnemic.surfaces.cli import output
from mnemic.surfaces.cli.session import Opened, Session, Verb, pass_session
from mnemic.surfaces.cli.text import bad, count, doubtful, good, size

if TYPE_CHECKING:
    from mnemic.app import App
    from mnemic.surfaces.clients import Setup

PARTS = ("mnemic", "apsw", "onnxruntime", "numpy", "numkong", "tokenizers", "starlette")
SCARCE = 500 * 1024 * 1024
PROBE = ("The deployment runs on Friday.", "We deploy on Fridays.", "Bananas are yellow.")


class Health(StrEnum):
    """How a part is doing."""

    OK = "ok"
    NOTE = "note"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found."""

    check: str
    health: Health
    detail: str


@click.command(cls=Verb)
@pass_session
def doctor(session: Session) -> int:
    """Check the installation and say what is broken. The exit code is 1 if something is."""
    found = []
    for finding in findings(session):
        found.append(finding)
        if not session.as_json:
            output.lines([shown(finding)])
    is_sound = all(finding.health is not Health.BROKEN for finding in found)
    if session.as_json:
        output.json({"ok": is_sound, "checks": [asdict(finding) for finding in found]})
    return 0 if is_sound else 1


def shown(finding: Finding) -> str:
    """One finding as a line."""
    marks = {Health.OK: good("ok    "), Health.NOTE: doubtful("note  "), Health.BROKEN: bad("broken")}
    return f"{marks[finding.health]}  {finding.check:<10} {finding.detail}"


def findings(session: Session) -> Iterator[Finding]:
    """Every check in turn; one that fails does not keep the others from being made."""
    yield versions()
    yield checked("settings", lambda: settings(session))
    opened = checked_app(session)
    if isinstance(opened, Finding):
        yield opened
    else:
        with opened as app:
            yield from store_findings(app)
    yield checked("clients", clients)


def checked(check: str, work: Callable[[], Finding]) -> Finding:
    """What *work* finds, or that it failed and how."""
    try:
        return work()
    except MnemicError as error:
        return Finding(check, Health.BROKEN, str(error))
    except Exception as error:  # a doctor reports what it does not understand, too
        return Finding(check, Health.BROKEN, f"{type(error).__name__}: {error}")


def checked_app(session: Session) -> Opened | Finding:
    """The open store, or why it does not open."""
    opened: list[Opened] = []

    def work() -> Finding:
        opened.append(session.open())
        return Finding("database", Health.OK, "")

    finding = checked("database", work)
    return opened[0] if opened else finding


def store_findings(app: App) -> Iterator[Finding]:
    """The checks that need the store."""
    yield checked("database", lambda: database(app))
    yield checked("journal", lambda: journal(app))
    yield checked("model", lambda: model(app))
    yield checked("vectors", lambda: vectors(app))
    yield checked("disk", lambda: disk(app))


def versions() -> Finding:
    """The program and the parts it stands on."""
    parts = ", ".join(f"{part} {release}" for part in PARTS if (release := installed(part)))
    return Finding("versions", Health.OK, f"Python {platform.python_version()} on {sys.platform}; {parts}")


def installed(part: str) -> str | None:
    """The version of an installed distribution, or None."""
    try:
        return version(part)
    except PackageNotFoundError:
        return None


def settings(session: Session) -> Finding:
    """The settings load, from which file, and what in it is none."""
    from mnemic.settings import config_files, strange

    session.settings()
    there = [file for file in config_files(os.environ) if file.exists()]
    told = ", ".join(map(str, there)) or "defaults (no config.toml)"
    unknown = [key for file in there for key in strange(file)]
    if unknown:
        return Finding("settings", Health.NOTE, f"{told}: no setting is called {', '.join(unknown)}")
    return Finding("settings", Health.OK, told)


def database(app: App) -> Finding:
    """The store opens and agrees with itself."""
    faults = app.ctx.store.check()
    where = app.settings.database
    if faults:
        more = f" and {len(faults) - 1} more" if len(faults) > 1 else ""
        return Finding("database", Health.BROKEN, f"{where}: {faults[0]}{more}")
    counts = app.ctx.store.read().counts(None, app.ctx.now())
    living = count(counts.by_state.get("living", 0), "memory", "memories")
    return Finding("database", Health.OK, f"{where}: {living}, {size(counts.size_bytes)}")


def journal(app: App) -> Finding:
    """The newest change can be read."""
    last = next(app.ctx.store.read().journal(limit=1, newest_first=True), None)
    told = count(app.ctx.store.sequence(), "change") if last else "empty"
    return Finding("journal", Health.OK, told)


def model(app: App) -> Finding:
    """Each model loads, and finds like sentences alike."""
    if app.ctx.embedder is None:
        return Finding("model", Health.NOTE, "none: memories are found by words only")
    networks = {each.network: each for each in app.ctx.embedder.models}
    for name, each in networks.items():
        same, alike, other = each.embed(list(PROBE))
        if float(same @ alike) <= float(same @ other):
            return Finding("model", Health.BROKEN, f"{name} finds unlike sentences alike")
    told = "; ".join(f"{name}, {each.dimension} dimensions" for name, each in networks.items())
    return Finding("model", Health.OK, told)


def vectors(app: App) -> Finding:
    """How many statements wait for vectors."""
    waiting = app.ctx.store.read().pending_count() if app.ctx.embedder else 0
    if waiting:
        told = count(waiting, "statement waits", "statements wait")
        return Finding("vectors", Health.NOTE, f"{told} for vectors; `mnemic embed` computes them")
    return Finding("vectors", Health.OK, "none missing")


def disk(app: App) -> Finding:
    """There is room where the database is."""
    if "://" in app.settings.database:
        return Finding("disk", Health.OK, "on a server")
    free = shutil.disk_usage(Path(app.settings.database).expanduser().absolute().parent).free
    health = Health.OK if free > SCARCE else Health.NOTE
    return Finding("disk", health, f"{size(free)} free")


def clients() -> Finding:
    """Which clients are set up to start us, and whether what they start is there."""
    from mnemic.surfaces.clients import configured, this_machine

    found = list(configured(this_machine(), "mnemic"))
    if not found:
        return Finding("clients", Health.NOTE, "none configured; `mnemic install CLIENT` does it")
    worst = max((_health(setup) for setup in found), key=list(Health).index)
    return Finding("clients", worst, ", ".join(map(_told, found)))


def _health(setup: Setup) -> Health:
    if setup.fault:
        return Health.NOTE
    return Health.BROKEN if _is_gone(setup) else Health.OK


def _told(setup: Setup) -> str:
    where = f"{setup.client.title} ({setup.scope})"
    if setup.fault:
        return f"{where}: {setup.file} cannot be read: {setup.fault}"
    if not _is_gone(setup):
        return where
    again = f"; `mnemic install {setup.client.name}` mends it" if Path(setup.command).is_absolute() else ""
    return f"{where} starts {setup.command}, which is not there{again}"


def _is_gone(setup: Setup) -> bool:
    return bool(setup.command) and shutil.which(setup.command) is None
