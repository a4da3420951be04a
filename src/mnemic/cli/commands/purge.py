"""`mnemic purge`: erase a text, such as a person's name, everywhere, and prove it."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mnemic.console import output
from mnemic.console.run import Run, Verb, pass_run
from mnemic.console.terminal import count, safe
from mnemic.errors import StoreUnusable

if TYPE_CHECKING:
    from mnemic.app import App

CHUNK = 1 << 22
LONGEST_CHARACTER = 16
"""Bytes that a character may take where its parts are written one by one."""
SQLITE = b"SQLite format 3\0"
MOST_LISTED = 20


@click.command(cls=Verb)
@click.argument("text")
@click.option(
    "--verify", is_flag=True, help="Change nothing; show where TEXT is found. Exit code 1 if anywhere."
)
@click.option("--dry-run", is_flag=True, help="Show what would be purged.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_run
def purge(run: Run, text: str, verify: bool, dry_run: bool, yes: bool) -> int:
    """Erase every memory that holds TEXT, or ever did, for good.

    TEXT is found in names, texts, tags and metadata of memories in any state, whatever its case. Links, sessions,
    mirrored notes, the recall log and the history of all of them are included. Then the store, its files, mirrors and
    the backups that were made with `mnemic backup` are searched, and what still holds TEXT is named.
    """
    from mnemic.core.maintenance.erasure import empty_log, find_text, purge_text

    purged = 0
    with run.open_existing() as app:
        if not verify:
            occurrences = find_text(app.ctx, text)
            found = occurrences.counts
            counted = _counted(found) or "nothing"
            if dry_run:
                held = _titles(app, occurrences.memories)
                facts = {"found": found, "memories": held, "dry_run": True}
                output.tell(run, facts, f"Holding {text!r}: {counted}.", *_memory_lines(held))
                return 0
            if found:
                _confirm(f"Purge for good what holds {text!r}: {counted}?", yes)
                purged = purge_text(app.ctx, text)
                _update_mirrors(app)
                empty_log(app.ctx)
        left = find_text(app.ctx, text).counts
        places = list(_places(app))
    # Only now: closing the store writes what was erased through to its file.
    files, unread = _searched(app, places, text)
    is_clean = not (left or files or unread)
    facts = {"purged": purged, "left": left, "files": files, "unread": unread, "clean": is_clean}
    done = [] if verify else [f"Purged {count(purged, 'memory', 'memories')}."]
    output.tell(run, facts, *done, *_lines(text, left, files, unread))
    return 0 if is_clean else 1


def _titles(app: App, numbers: Collection[int]) -> list[dict[str, object]]:
    return [{"id": one.id, "title": one.title} for one in app.ctx.read().get(sorted(numbers))]


def _memory_lines(memories: Sequence[Mapping[str, object]]) -> Iterator[str]:
    yield from (f"    {one['id']} {safe(str(one['title']))}" for one in memories[:MOST_LISTED])
    if len(memories) > MOST_LISTED:
        yield f"    and {len(memories) - MOST_LISTED:,} more"


def _counted(found: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({number:,})" for name, number in found.items())


def _confirm(question: str, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("This cannot be undone: add --yes, or --dry-run to look first.")
    click.confirm(question, abort=True, err=True)


def _lines(text: str, left: dict[str, int], files: list[str], unread: list[str]) -> Iterator[str]:
    if not (left or files or unread):
        yield f"Verified: {text!r} stands nowhere in the store, its files, mirrors and backups."
        return
    if left:
        yield (
            f"Still holding {text!r}: "
            + ", ".join(f"{name} ({count:,})" for name, count in left.items())
            + "."
        )
    for file in files:
        yield f"Still holding {text!r}: {file}"
    yield from (f"Not searched: {one}" for one in unread)


def _update_mirrors(app: App) -> None:
    """Let mirrored folders erase the notes of what was purged."""
    from mnemic.core.copies import copies
    from mnemic.transfer.folder_mirror import MARKER, FolderMirror

    for copy in copies(app.ctx.read()):
        folder = Path(copy.path)
        if copy.kind == "folder" and (folder / MARKER).is_file():
            FolderMirror(folder, copy.namespace).sync(app.ctx)


def _places(app: App) -> Iterator[Path]:
    """The files of the store, of its mirrors and of its backups."""
    from mnemic.core.copies import copies

    database = Path(app.settings.database).expanduser()
    yield from (path for path in database.parent.glob(f"{database.name}*") if path.is_file())
    for copy in copies(app.ctx.read()):
        path = Path(copy.path)
        yield from (one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]


def _searched(app: App, places: Sequence[Path], text: str) -> tuple[list[str], list[str]]:
    """The files that hold the text, and those that cannot be read, with the reason."""
    holding, unread = [], []
    for path in places:
        try:
            if _holds(path, text) or _holds_as_database(app, path, text):
                holding.append(str(path))
        except FileNotFoundError:
            continue
        except OSError as error:
            unread.append(f"{path}: {error.strerror}")
    return holding, unread


def _holds(path: Path, text: str) -> bool:
    """Whether the bytes of the file hold the text, ignoring case and Unicode form."""
    from mnemic.core.maintenance.erasure import checked, folded

    needle = checked(text)
    before = b""
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            data = before + chunk
            if needle.encode() in data.lower():
                return True
            if not needle.isascii() and needle in folded(data.decode(errors="replace")):
                return True
            before = data[-len(needle) * LONGEST_CHARACTER :]
    return False


def _holds_as_database(app: App, path: Path, text: str) -> bool:
    """Whether a copy of the store holds the text: its pages may part a text that its bytes then do not show."""
    from mnemic.core.maintenance.erasure import stands_elsewhere

    with path.open("rb") as file:
        is_database = file.read(len(SQLITE)) == SQLITE
    if not is_database or path.samefile(Path(app.settings.database).expanduser()):
        return False
    with suppress(StoreUnusable):  # of another format, or another program's: its bytes were searched
        return stands_elsewhere(app.ctx, path, text)
    return False
