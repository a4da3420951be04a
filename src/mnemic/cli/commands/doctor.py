"""`mnemic doctor`: what works and what does not, one check at a time."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mnemic.console import output
from mnemic.console.run import OpenStore, Run, Verb, is_missing, pass_run
from mnemic.console.terminal import bad, doubtful, good, size
from mnemic.core import health_checks
from mnemic.core.health_checks import CheckResult, Health, checked

if TYPE_CHECKING:
    from mnemic.app import App
    from mnemic.client_config import Setup

PARTS = ("mnemic", "apsw", "onnxruntime", "numpy", "numkong", "tokenizers", "starlette")
SCARCE = 500 * 1024 * 1024
FULL = 4 * 1024 * 1024
"""Less than the log of SQLite may need."""


@click.command(cls=Verb)
@pass_run
def doctor(run: Run) -> int:
    """Check the installation and say what is broken. The exit code is 1 if something is."""
    found = []
    for finding in findings(run):
        found.append(finding)
        if not run.as_json:
            output.lines([shown(finding)])
    is_sound = all(finding.health is not Health.BROKEN for finding in found)
    if run.as_json:
        output.json({"ok": is_sound, "checks": [asdict(finding) for finding in found]})
    return 0 if is_sound else 1


def shown(finding: CheckResult) -> str:
    """One finding as a line."""
    marks = {Health.OK: good("ok    "), Health.NOTE: doubtful("note  "), Health.BROKEN: bad("broken")}
    return f"{marks[finding.health]}  {finding.check:<10} {finding.detail}"


def findings(run: Run) -> Iterator[CheckResult]:
    """Every check in turn; one that fails does not keep the others from being made."""
    yield versions()
    yield checked("settings", lambda: settings(run))
    opened = checked_app(run)
    if isinstance(opened, CheckResult):
        yield opened
    else:
        with opened as app:
            yield from store_findings(run, app)
    yield checked("daemon", lambda: local_daemon(run))
    yield checked("mirrors", lambda: mirrors(run))
    yield checked("clients", clients)


def checked_app(run: Run) -> OpenStore | CheckResult:
    """The open store, or why it does not open."""
    opened: list[OpenStore] = []

    def work() -> CheckResult:
        opened.append(run.open(reads=True))
        return CheckResult("database", Health.OK, "")

    finding = checked("database", work)
    return opened[0] if opened else finding


def store_findings(run: Run, app: App) -> Iterator[CheckResult]:
    """The checks that need the store."""
    yield checked("database", lambda: database(run, app))
    yield checked("journal", lambda: health_checks.journal(app.ctx))
    yield checked("model", lambda: health_checks.model(app.ctx))
    yield checked("vectors", lambda: health_checks.vectors(app.ctx))
    yield checked("disk", lambda: disk(run.settings().database))


def versions() -> CheckResult:
    """Versions of the program and its dependencies."""
    parts = ", ".join(f"{part} {release}" for part in PARTS if (release := installed(part)))
    return CheckResult(
        "versions", Health.OK, f"Python {platform.python_version()} on {sys.platform}; {parts}"
    )


def installed(part: str) -> str | None:
    """The version of an installed distribution, or None."""
    try:
        return version(part)
    except PackageNotFoundError:
        return None


def settings(run: Run) -> CheckResult:
    """Whether the settings load, from which file, and which keys are unknown."""
    from mnemic.settings import config_files, read_file, unknown_keys

    run.settings()
    there = [file for file in config_files(os.environ) if file.exists()]
    files = ", ".join(map(str, there)) or "defaults (no config.toml)"
    unknown = [key for file in there for key in unknown_keys(file, read_file(file))]
    if unknown:
        return CheckResult("settings", Health.NOTE, f"{files}: no setting is called {', '.join(unknown)}")
    return CheckResult("settings", Health.OK, files)


def database(run: Run, app: App) -> CheckResult:
    """The store opens and agrees with itself; where it is."""
    settings = run.settings()
    if is_missing(settings.database):
        return _unmade(settings.shown_database, Path(settings.database).expanduser().absolute())
    found = health_checks.database(app.ctx)
    return replace(found, detail=f"{settings.shown_database}: {found.detail}")


def _unmade(shown: str, file: Path) -> CheckResult:
    """A database that is not there yet: whether it can be made."""
    there = next(folder for folder in file.parents if folder.exists())
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        return CheckResult("database", Health.OK, f"{shown}: made with the first memory")
    advice = "Change its permissions, or name another database with --db or MNEMIC_DB"
    return CheckResult(
        "database", Health.BROKEN, f"{shown}: cannot be made, {there} may not be written. {advice}"
    )


def disk(database: str) -> CheckResult:
    """There is room where the database is."""
    if "://" in database:
        return CheckResult("disk", Health.OK, "on a server")
    place = Path(database).expanduser().absolute()
    free = shutil.disk_usage(next(folder for folder in place.parents if folder.is_dir())).free
    if free < FULL:
        return CheckResult(
            "disk", Health.BROKEN, f"{size(free)} free: memories cannot be stored. Free some space"
        )
    health = Health.OK if free > SCARCE else Health.NOTE
    return CheckResult("disk", health, f"{size(free)} free")


def local_daemon(run: Run) -> CheckResult:
    """Whether the local daemon runs, and if it is of this version."""
    from mnemic import __version__
    from mnemic.cli.commands.daemon import described, status_of

    facts = status_of(run.settings().database)
    is_other = facts is not None and facts["version"] != __version__
    sentence = (
        f"{described(facts)}. `mnemic daemon stop` makes room for {__version__}"
        if is_other
        else described(facts)
    )
    return CheckResult("daemon", Health.NOTE if is_other else Health.OK, sentence)


def mirrors(run: Run) -> CheckResult:
    """The folders that are set to be mirrored, and whether a daemon keeps them in step now."""
    from mnemic.cli.commands.daemon import mirrored, status_of
    from mnemic.settings import mirrored_folders
    from mnemic.transfer.folder_mirror import FolderMirror

    database = run.settings().database
    folders = mirrored_folders(database, os.environ)
    if not folders:
        return CheckResult("mirrors", Health.OK, "none set; `mnemic mirror FOLDER --always` sets one")
    kept = (status_of(database) or {}).get("mirrors", [])
    if kept:
        health = Health.NOTE if any(one["problem"] for one in kept) else Health.OK
        return CheckResult("mirrors", health, "; ".join(map(mirrored, kept)))
    missing = [str(one) for one in folders if not FolderMirror(one.folder, one.namespace).is_begun]
    if missing:
        return CheckResult("mirrors", Health.NOTE, f"not there or not begun: {', '.join(missing)}")
    return CheckResult(
        "mirrors", Health.OK, f"{', '.join(map(str, folders))}; kept in step while a client or `serve` runs"
    )


def clients() -> CheckResult:
    """Which clients are set up to start us, and whether what they start is there."""
    from mnemic.client_config import configured, this_machine

    found = list(configured(this_machine(), "mnemic"))
    if not found:
        return CheckResult("clients", Health.NOTE, "none configured; `mnemic install CLIENT` does it")
    worst = max((_health(setup) for setup in found), key=list(Health).index)
    return CheckResult("clients", worst, ", ".join(map(_setup_line, found)))


def _health(setup: Setup) -> Health:
    if setup.fault:
        return Health.NOTE
    return Health.BROKEN if _is_gone(setup) else Health.OK


def _setup_line(setup: Setup) -> str:
    where = f"{setup.client.title} ({setup.scope})"
    if setup.fault:
        return f"{where}: {setup.file} cannot be read: {setup.fault}"
    if not _is_gone(setup):
        return where
    again = f"; `mnemic install {setup.client.name}` mends it" if Path(setup.command).is_absolute() else ""
    return f"{where} starts {setup.command}, which is not there{again}"


def _is_gone(setup: Setup) -> bool:
    return bool(setup.command) and shutil.which(setup.command) is None
