"""`mnemic mirror`: a folder of Markdown notes and the memories of a namespace, kept equal while it runs."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mnemic.cli.commands.transfer import conflict_lines
from mnemic.console import output
from mnemic.console.progress import progress
from mnemic.console.run import Run, Verb, pass_run
from mnemic.errors import Invalid
from mnemic.transfer.mirror_pace import LOOK_SECONDS, pause_after

if TYPE_CHECKING:
    from mnemic.app import App
    from mnemic.core.context import Context
    from mnemic.transfer.folder_mirror import FolderMirror
    from mnemic.transfer.folder_state import MirrorReport


@click.command(cls=Verb)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), required=False)
@click.option("--claude-code", is_flag=True, help="Mirror what Claude Code knows of this project.")
@click.option("--once", is_flag=True, help="Make both sides equal and end.")
@click.option(
    "--always/--no-always",
    default=None,
    help="Let the daemon keep FOLDER equal whenever it runs, or no longer; then end.",
)
@pass_run
def mirror(run: Run, folder: Path | None, claude_code: bool, once: bool, always: bool | None) -> int:
    """Keep FOLDER, such as an Obsidian vault, and the memories of the namespace equal, in both directions.

    Edits, renames and deletions on either side arrive on the other within seconds. A deleted memory moves its file to
    .trash; a deleted file deletes its memory, which can be restored. Where both sides changed the same text, the later
    version stays and the other is kept beside it as a copy. Runs until it is interrupted.

    With --always the folder is added to the setting `mirror`: from the next start on, the local daemon and `mnemic
    serve` keep it equal by themselves.
    """
    if (folder is None) != claude_code:
        raise click.UsageError("Name either a folder or --claude-code.")
    from mnemic.transfer.claude_code import main_root_of, memory_folder
    from mnemic.transfer.folder_mirror import FolderMirror

    here = run.folder or Path.cwd()
    place = folder or memory_folder(here, os.environ)
    if always is False:
        return _keep_no_longer(run, place)
    with run.open_native() as app:
        if always:  # refused before anything is written
            _keep_always(run, place, app)
        kept = FolderMirror(place, app.ctx.namespace, main_root_of(here) if claude_code else None)
        with progress("Mirroring") as told:
            total = kept.sync(app.ctx, told)
        _tell(run, total)
        if once or always:
            return 1 if total.errors else 0
        try:
            pause = LOOK_SECONDS
            while True:
                _wait(kept, app.ctx, pause)
                began = time.monotonic()
                done = kept.sync(app.ctx)
                pause = pause_after(time.monotonic() - began, has_changed=done.changes > 0)
                if done.changes or done.errors or done.conflicts:
                    _tell(run, done)
                    total.add(done)
        except KeyboardInterrupt:
            output.tell(run, _facts(total), f"Stopped. In all: {_sentence(total)}")
    return 0


def _wait(kept: FolderMirror, ctx: Context, pause: float) -> None:
    """Wait so long, or until memories have changed."""
    until = time.monotonic() + pause
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(LOOK_SECONDS, left))
        if kept.is_behind(ctx):
            return


def _keep_always(run: Run, folder: Path, app: App) -> None:
    """Add the folder to the setting `mirror`, which counts for the database that is set there."""
    from mnemic import config_file
    from mnemic.settings import MirroredFolder, mirrored_folders

    one = MirroredFolder(Path(os.path.realpath(folder)), app.ctx.namespace)
    config_file.put_list("mirror", [str(one)], keeps=lambda entry: not _is_of(entry, one.folder))
    if one not in mirrored_folders(app.settings.database, os.environ):
        config_file.put_list("mirror", [], keeps=lambda entry: entry != str(one))
        raise Invalid(
            f"The daemon mirrors folders of the database in {config_file.path()} alone, which is another one. "
            f"`mnemic config set db {app.settings.shown_database}` makes it this one."
        )
    output.tell(run, {"always": str(one)}, f"The daemon keeps {one} equal from its next start on.")


def _keep_no_longer(run: Run, folder: Path) -> int:
    from mnemic import config_file

    place = Path(os.path.realpath(folder))
    removed = config_file.put_list("mirror", [], keeps=lambda entry: not _is_of(entry, place))
    sentence = f"From its next start on, the daemon leaves {place} alone. Its files stay."
    output.tell(
        run, {"removed": removed}, sentence if removed else f"The setting mirror does not name {place}."
    )
    return 0 if removed else 1


def _is_of(entry: str, folder: Path) -> bool:
    return Path(os.path.realpath(Path(entry.rpartition("=")[0]).expanduser())) == folder


def _tell(run: Run, done: MirrorReport) -> None:
    output.tell(run, _facts(done), *_lines(done))
    output.tell_errors(run, done.errors)


def _facts(done: MirrorReport) -> dict[str, object]:
    from mnemic.transfer.wire import conflict_entry

    return {
        "files_written": done.written,
        "files_removed": done.removed,
        "memories_changed": done.changed,
        "memories_deleted": done.deleted,
        "conflicts": [conflict_entry(clash) for clash in done.conflicts],
        "errors": done.errors,
    }


def _lines(done: MirrorReport) -> Iterator[str]:
    yield _sentence(done)
    yield from conflict_lines(done.conflicts)


def _sentence(done: MirrorReport) -> str:
    files = "file" if done.written == 1 else "files"
    memories = "memory" if done.changed == 1 else "memories"
    return (
        f"{done.written:,} {files} written, {done.removed:,} removed; "
        f"{done.changed:,} {memories} changed, {done.deleted:,} deleted."
    )
