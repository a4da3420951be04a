"""`mnemic backup` and `mnemic restore`: whole databases, and forgotten memories."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnemic.atomic_write import unused
from mnemic.cli.command_index import find
from mnemic.cli.derive import arguments, command_for, declared, explained, perform
from mnemic.cli.parameters import written_fields
from mnemic.console import output
from mnemic.console.progress import progress
from mnemic.console.run import Run, Verb, pass_run
from mnemic.console.terminal import count, size
from mnemic.core.copies import Copy, note_copy
from mnemic.core.stats import COUNTED
from mnemic.errors import Busy, Conflict, Invalid, StoreUnusable
from mnemic.model.filter import Filter
from mnemic.storage.files import make_folder, put_in_place, sync

if TYPE_CHECKING:
    from mnemic.app import App

LOG = "-wal"
LEFTOVERS = (LOG, "-shm")
"""What SQLite keeps beside a database; it must not outlive the file it belongs to."""


@click.command(cls=Verb)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@pass_run
def backup(run: Run, file: Path, force: bool) -> None:
    """Copy the whole database to FILE while it is in use."""
    _must_be_free(file, force)
    with run.open_existing() as app, progress("Copying") as told:
        note_copy(app.ctx, Copy("backup", str(file.absolute())))
        app.ctx.engines.backup(app.ctx.store, file, told)
    length = file.stat().st_size
    output.tell(run, {"file": str(file), "bytes": length}, f"Copied to {file} ({size(length)}).")


def _must_be_free(file: Path, force: bool) -> None:
    """Refuse a missing folder, a target that is no regular file, or an existing file without --force."""
    try:
        str(file.absolute()).encode()
    except UnicodeEncodeError:
        raise Invalid("file: is not UTF-8 text, as the name of a database must be", "file") from None
    if not file.absolute().parent.is_dir():
        raise Invalid(f"file: there is no folder {file.parent}", "file")
    if not file.exists():
        return
    if not file.is_file():
        raise Invalid(f"file: {file} is no file", "file")
    if not force:
        raise Conflict(f"{file} is already there; --force replaces it")


def restore() -> click.Command:
    """The native `restore MEMORY...`, which with --from restores a backup instead."""
    operation = declared(find("restore"))
    command, fields = command_for(operation), written_fields(operation.request)
    command.help = f"{explained(operation)}\n\nWith --from FILE, restore the whole database from a backup."
    for param in command.params:
        if isinstance(param, click.Argument):
            param.required, param.metavar = False, f"[{param.metavar}]"
    command.params[1:1] = [_from_option(), _force_option()]

    @click.pass_context
    def either(ctx: click.Context, /, source: Path | None, force: bool, **given: Any) -> int:
        memories = arguments(ctx, fields)
        if (source is None) == (not memories):
            raise click.UsageError("Give memories, or --from FILE.", ctx)
        run = ctx.ensure_object(Run)
        return restore_from(run, source, force) if source else perform(run, operation, memories, fields)

    command.callback = either
    return command


def _from_option() -> click.Option:
    existing = click.Path(path_type=Path, exists=True, dir_okay=False)
    return click.Option(
        ["--from", "source"], type=existing, help="Restore the whole database from this backup."
    )


def _force_option() -> click.Option:
    return click.Option(
        ["--force"], is_flag=True, help="With --from: replace a database that holds memories."
    )


def restore_from(run: Run, source: Path, force: bool) -> int:
    """Put the backup *source* in the database's place, keeping what it replaces beside it."""
    settings = run.settings()
    if "://" in settings.database:
        raise Invalid("db: only a SQLite file can be restored from a backup", "db")
    target = Path(settings.database).expanduser()
    make_folder(target.parent)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as folder:
        copy = _copied(source, Path(folder))
        memories = _memories_in(run, source, copy)
        if target.exists():
            _must_give_way(run, target, force)
        kept = _kept_beside(target)
        put_in_place(copy, target)
    facts = {"restored": str(target), "memories": memories, **({"kept": str(kept)} if kept else {})}
    beside = [f"What was there is now {kept}."] if kept else []
    counted = count(memories, "memory", "memories")
    output.tell(run, facts, f"Restored {counted} to {target}.", *beside)
    return 0


def _copied(source: Path, folder: Path) -> Path:
    """A copy of *source* that may be written, with the log that a database has whose user was killed."""
    for tail in ("", LOG):
        if (file := Path(f"{source}{tail}")).exists():
            Path(shutil.copyfile(file, folder / file.name)).chmod(0o600)
    return folder / source.name


def _memories_in(run: Run, source: Path, copy: Path) -> int:
    """How many memories the copy of a backup holds; an error if it is damaged or no database of ours.

    Opening it brings it up to date, and closing it leaves one file that holds everything.
    """
    with run.open(db=str(copy)) as app:
        faults = app.ctx.engines.check(app.ctx.store)
        if faults:
            raise StoreUnusable(f"{source} is damaged: {faults[0]}")
        memories = _memories(app)
    sync(copy)
    return memories


def _memories(app: App) -> int:
    return sum(app.ctx.read().tally(Filter(states=COUNTED), "state").values())


def _must_give_way(run: Run, target: Path, force: bool) -> None:
    """Refuse to replace a database that has memories, is unreadable or is open elsewhere."""
    try:
        with run.open(db=str(target)) as app:
            held = _memories(app)
    except StoreUnusable as error:
        if not force:
            raise Conflict(f"{error} --force replaces it and keeps a copy.") from None
        return
    if held and not force:
        raise Conflict(
            f"{target} holds {count(held, 'memory', 'memories')}; --force replaces it and keeps a copy"
        )
    if any(
        Path(f"{target}{tail}").exists() for tail in LEFTOVERS
    ):  # the last to close a database removes them
        raise Busy(f"Another process has {target} open; end it and try again")


def _kept_beside(target: Path) -> Path | None:
    """Keep the file at *target* under a second name before it is replaced; returns that name."""
    if not target.exists():
        return None
    kept = unused(target)
    try:
        os.link(target, kept)  # not moved: whoever comes when we were killed would begin an empty one
    except OSError:
        target.rename(kept)
    for tail in LEFTOVERS:
        if (old := Path(f"{target}{tail}")).exists():
            old.rename(f"{kept}{tail}")
    return kept
