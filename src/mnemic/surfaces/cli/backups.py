"""`mnemic backup` and `mnemic restore`: whole databases, and forgotten memories."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import click

from mnemic.errors import Conflict, Invalid, MnemicError, NotFound
from mnemic.surfaces.cli import output
from mnemic.surfaces.cli.derived import arguments, command_for, operation_called, perform
from mnemic.surfaces.cli.fields import written_fields
from mnemic.surfaces.cli.progress import progress
from mnemic.surfaces.cli.session import Session, Verb, pass_session
from mnemic.surfaces.cli.text import size

LEFTOVERS = ("-wal", "-shm")
"""What SQLite keeps beside a database; it must not outlive the file it belongs to."""


@click.command(cls=Verb)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@pass_session
def backup(session: Session, file: Path, force: bool) -> None:
    """Copy the whole database to FILE while it is in use."""
    if file.exists() and not force:
        raise Conflict(f"{file} is already there; --force replaces it")
    part = file.with_name(f".{file.name}.part")
    try:
        with session.open() as app, progress("Copying") as told:
            app.ctx.store.backup(part, told)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
    length = file.stat().st_size
    output.tell(session, {"file": str(file), "bytes": length}, f"Copied to {file} ({size(length)}).")


def restore() -> click.Command:
    """The house's `restore MEMORY...`, which with --from takes a backup instead."""
    operation = operation_called("restore")
    assert operation is not None
    command, fields = command_for(operation), written_fields(operation.request)
    for param in command.params:
        if isinstance(param, click.Argument):
            param.required = False
            param.metavar = f"[{param.metavar}]"
    command.params[1:1] = [
        click.Option(
            ["--from", "source"],
            type=click.Path(path_type=Path, exists=True, dir_okay=False),
            help="A backup that takes the place of the database.",
        ),
        click.Option(["--force"], is_flag=True, help="With --from: even if memories are there now."),
    ]
    command.help = f"{operation.description}\n\nWith --from FILE, put a whole backup in the database's place."

    @click.pass_context
    def callback(ctx: click.Context, /, source: Path | None, force: bool, **given: Any) -> int:
        session = ctx.ensure_object(Session)
        written = arguments(ctx, fields)
        if (source is None) == (not written):
            raise click.UsageError("Give memories, or --from FILE.", ctx)
        if source is None:
            return perform(session, operation, written, fields)
        return restore_from(session, source, force)

    command.callback = callback
    return command


def restore_from(session: Session, source: Path, force: bool) -> int:
    """Put the backup *source* in the database's place, keeping what it replaces beside it."""
    settings = session.settings()
    if "://" in settings.database:
        raise Invalid("db: only a SQLite file can be restored from a backup", "db")
    target = Path(settings.database).expanduser()
    memories = _usable(session, source)
    if target.exists() and not force and _memories_in(session, target):
        raise Conflict(f"{target} holds memories; --force replaces it and keeps it beside")
    kept = _put_in_place(source, target)
    facts = {"restored": str(target), "memories": memories, **({"kept": str(kept)} if kept else {})}
    beside = [f"What was there is now {kept}."] if kept else []
    output.tell(session, facts, f"Restored {memories:,} memories to {target}.", *beside)
    return 0


def _usable(session: Session, source: Path) -> int:
    """How many memories the backup holds; an error if it is damaged or no database of ours.

    Opening a database may migrate it, so a copy is looked at.
    """
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(source, Path(folder) / "copy.db"))
        with session.open(db=str(copy)) as app:
            faults = app.ctx.store.check()
            if faults:
                raise MnemicError(f"{source} is damaged: {faults[0]}")
            return sum(app.ctx.store.read().counts(None, app.ctx.now()).by_state.values())


def _memories_in(session: Session, target: Path) -> int:
    try:
        with session.open(db=str(target)) as app:
            return sum(app.ctx.store.read().counts(None, app.ctx.now()).by_state.values())
    except NotFound:
        return 0


def _put_in_place(source: Path, target: Path) -> Path | None:
    """Move *target* aside, with what belongs to it, and copy *source* there; where the old one is now."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = Path(shutil.copy(source, target.with_name(f".{target.name}.part")))
    part.chmod(0o600)
    kept = None
    if target.exists():
        kept = target.with_name(f"{target.name}.{time.strftime('%Y%m%d-%H%M%S')}")
        for tail in ("", *LEFTOVERS):
            if (old := Path(f"{target}{tail}")).exists():
                old.rename(f"{kept}{tail}")
    part.replace(target)
    return kept
