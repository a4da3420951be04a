"""`mnemic backup` and `mnemic restore`: whole databases, and forgotten memories."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnemic.errors import Busy, Conflict, Invalid, StoreUnusable
from mnemic.storage.files import make_folder, put_in_place, sync
from mnemic.surfaces.cli import output
from mnemic.surfaces.cli.derived import arguments, command_for, declared, explained, perform
from mnemic.surfaces.cli.fields import written_fields
from mnemic.surfaces.cli.listing import find
from mnemic.surfaces.cli.progress import progress
from mnemic.surfaces.cli.session import Session, Verb, pass_session
from mnemic.surfaces.cli.text import count, size
from mnemic.surfaces.files import unused

if TYPE_CHECKING:
    from mnemic.app import App

LOG = "-wal"
LEFTOVERS = (LOG, "-shm")
"""What SQLite keeps beside a database; it must not outlive the file it belongs to."""


@click.command(cls=Verb)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@pass_session
def backup(session: Session, file: Path, force: bool) -> None:
    """Copy the whole database to FILE while it is in use."""
    _must_be_free(file, force)
    with session.open() as app, progress("Copying") as told:
        app.ctx.store.backup(file, told)
    length = file.stat().st_size
    output.tell(session, {"file": str(file), "bytes": length}, f"Copied to {file} ({size(length)}).")


def _must_be_free(file: Path, force: bool) -> None:
    """Refuse to copy into a folder that is not there, in the place of what is no file, or onto a file unasked."""
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
    """The house's `restore MEMORY...`, which with --from takes a backup instead."""
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
        session = ctx.ensure_object(Session)
        return (
            restore_from(session, source, force) if source else perform(session, operation, memories, fields)
        )

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


def restore_from(session: Session, source: Path, force: bool) -> int:
    """Put the backup *source* in the database's place, keeping what it replaces beside it."""
    settings = session.settings()
    if "://" in settings.database:
        raise Invalid("db: only a SQLite file can be restored from a backup", "db")
    target = Path(settings.database).expanduser()
    make_folder(target.parent)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as folder:
        copy = _copied(source, Path(folder))
        memories = _memories_in(session, source, copy)
        if target.exists():
            _must_give_way(session, target, force)
        kept = _kept_beside(target)
        put_in_place(copy, target)
    facts = {"restored": str(target), "memories": memories, **({"kept": str(kept)} if kept else {})}
    beside = [f"What was there is now {kept}."] if kept else []
    told = count(memories, "memory", "memories")
    output.tell(session, facts, f"Restored {told} to {target}.", *beside)
    return 0


def _copied(source: Path, folder: Path) -> Path:
    """A copy of *source* that may be written, with the log that a database has whose user was killed."""
    for tail in ("", LOG):
        if (file := Path(f"{source}{tail}")).exists():
            Path(shutil.copyfile(file, folder / file.name)).chmod(0o600)
    return folder / source.name


def _memories_in(session: Session, source: Path, copy: Path) -> int:
    """How many memories the copy of a backup holds; an error if it is damaged or no database of ours.

    Opening it brings it up to date, and closing it leaves one file that holds everything.
    """
    with session.open(db=str(copy)) as app:
        faults = app.ctx.store.check()
        if faults:
            raise StoreUnusable(f"{source} is damaged: {faults[0]}")
        memories = _memories(app)
    sync(copy)
    return memories


def _memories(app: App) -> int:
    return sum(app.ctx.store.read().counts(None, app.ctx.now()).by_state.values())


def _must_give_way(session: Session, target: Path, force: bool) -> None:
    """Refuse to replace a database that holds memories, cannot be read or is in use."""
    try:
        with session.open(db=str(target)) as app:
            held = _memories(app)
    except StoreUnusable as error:
        if not force:
            raise Conflict(f"{error} --force replaces it and keeps it beside.") from None
        return
    if held and not force:
        raise Conflict(
            f"{target} holds {count(held, 'memory', 'memories')}; --force replaces it and keeps it beside"
        )
    if any(
        Path(f"{target}{tail}").exists() for tail in LEFTOVERS
    ):  # the last to close a database removes them
        raise Busy(f"Another process has {target} open; end it and try again")


def _kept_beside(target: Path) -> Path | None:
    """Give what is at *target* another name, too: where it will be when it is replaced."""
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
