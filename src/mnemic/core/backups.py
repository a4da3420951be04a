"""Backups of the database in one folder: make, list and restore them while others use the store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mnemic.atomic_write import unused
from mnemic.core.context import Context
from mnemic.core.copies import Copy, note_copy
from mnemic.core.history import undo_after
from mnemic.errors import Invalid, NotFound
from mnemic.model.change import BEGINNING, Change, Position
from mnemic.model.filter import ChangeFilter
from mnemic.model.time import Moment, iso
from mnemic.storage.files import make_folder
from mnemic.storage.queries import newest_change

PATTERN = "*.db"


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup file, its size, and when it was made."""

    path: Path
    bytes: int
    made_at: Moment


def listed(folder: Path) -> list[Backup]:
    """The backups in *folder*, newest first."""
    found = ((path, path.stat()) for path in folder.glob(PATTERN)) if folder.is_dir() else ()
    every = [Backup(path, told.st_size, told.st_mtime_ns // 1_000) for path, told in found]
    return sorted(every, key=lambda one: (one.made_at, one.path.name), reverse=True)


def make(ctx: Context, folder: Path) -> Path:
    """A new backup of the whole database in *folder*."""
    make_folder(folder)
    name = iso(ctx.now())[:19].replace(":", "").replace("T", "-")
    target = folder / f"mnemic-{name}.db"
    target = unused(target, ".db") if target.exists() else target
    note_copy(ctx, Copy("backup", str(target)))
    ctx.engines.backup(ctx.store, target)
    return target


def restore(ctx: Context, folder: Path, name: str, *, dry_run: bool = False) -> int:
    """Undo all changes since the backup called *name* was made; how many these are.

    The file itself is not put in place: other processes have the database open and follow its journal. The present
    state is backed up first. What was purged since stays purged.
    """
    file = next((one.path for one in listed(folder) if one.path.name == Path(name).name), None)
    if file is None:
        raise NotFound(f"There is no backup {Path(name).name[:80]}")
    position = _taken_at(ctx, file)
    if dry_run:
        return len(undo_after(ctx, position, dry_run=True))
    make(ctx, folder)
    return len(undo_after(ctx, position))


def _taken_at(ctx: Context, file: Path) -> Position:
    """Where in the journal the backup *file* was taken; Invalid if it is a backup of another store."""
    newest = ctx.engines.elsewhere(file).asked(newest_change)
    if newest is None:
        return BEGINNING
    known = next(ctx.read().journal(ChangeFilter(sequences=(newest.sequence,))), None)
    if known is None or _identity(known) != _identity(newest):
        raise Invalid(
            f"{file.name} is no backup of this database as it stands. End the daemon and run `mnemic restore --from` "
            "to put it in its place.",
            "restore",
        )
    return known.position


def _identity(change: Change) -> tuple[object, ...]:
    """What a change keeps even if what it touched is purged."""
    return change.sequence, change.at, change.actor, change.operation, change.subject, change.subject_id
