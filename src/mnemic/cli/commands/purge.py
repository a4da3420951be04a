"""`mnemic purge`: erase a text, such as a person's name, everywhere, and prove it."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mnemic.console import output
from mnemic.console.run import Run, Verb, pass_run
from mnemic.console.terminal import count, safe

if TYPE_CHECKING:
    from mnemic.app import App

CHUNK = 1 << 22
MOST_LISTED = 20


@click.command(cls=Verb)
@click.argument("text")
@click.option(
    "--verify", is_flag=True, help="Change nothing; say where TEXT stands. Exit code 1 if anywhere."
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
    from mnemic.core.maintenance.erasure import find_text, purge_text

    purged = 0
    with run.open_existing() as app:
        if not verify:
            occurrences = find_text(app.ctx, text)
            found = occurrences.counts
            told = _counted(found) or "nothing"
            if dry_run or not found:
                held = _titles(app, occurrences.memories)
                facts = {"found": found, "memories": held, "dry_run": dry_run}
                output.tell(run, facts, f"Holding {text!r}: {told}.", *_memory_lines(held))
                return 0
            _confirm(f"Purge for good what holds {text!r}: {told}?", yes)
            purged = purge_text(app.ctx, text)
            _update_mirrors(app)
        left = find_text(app.ctx, text).counts
        places = list(_places(app))
    # Only now: closing the store writes what was erased through to its file.
    files = [str(path) for path in places if _holds(path, text)]
    facts = {"purged": purged, "left": left, "files": files, "clean": not left and not files}
    done = [] if verify else [f"Purged {count(purged, 'memory', 'memories')}."]
    output.tell(run, facts, *done, *_lines(text, left, files))
    return 1 if left or files else 0


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


def _lines(text: str, left: dict[str, int], files: list[str]) -> Iterator[str]:
    if not left and not files:
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


def _holds(path: Path, text: str) -> bool:
    needles = {form.encode() for form in (text, text.lower(), text.upper(), text.title())}
    lower = text.lower().encode()
    before = b""
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                data = before + chunk
                if lower in data.lower() or any(needle in data for needle in needles):
                    return True
                before = data[-len(lower) * 4 :]
    except OSError:
        return False
    return False
