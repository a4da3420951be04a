"""`mnemic export` and `mnemic import`: all memories as JSON, or as lines that lose nothing."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import click

from mnemic.app import SOURCES, SYSTEMS, dialect
from mnemic.atomic_write import written_whole
from mnemic.console import output
from mnemic.console.input_values import binary_input
from mnemic.console.progress import progress
from mnemic.console.run import Run, Verb, is_missing, pass_run
from mnemic.console.terminal import safe, size
from mnemic.dialects import declared
from mnemic.transfer import formats
from mnemic.transfer.formats import Format

if TYPE_CHECKING:
    from mnemic.core.context import Context
    from mnemic.storage.tables import Copyable
    from mnemic.transfer.import_report import Clash, Report

STANDARD_INPUT = "standard input"
MARKDOWN = "markdown"


@click.command(cls=Verb)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), required=False)
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in Format]),
    help="json: one document of living memories; jsonl: lossless lines. [default: json]",
)
@click.option("--journal", is_flag=True, help="Include the whole history; implies --format jsonl.")
@click.option(
    "--to",
    "system",
    type=click.Choice((*SYSTEMS, MARKDOWN)),
    help="Write a file that this system reads, or with markdown a note for each memory into FOLDER.",
)
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to this file instead of standard output.",
)
@pass_run
def export(
    run: Run, folder: Path | None, form: str | None, journal: bool, system: str | None, target: Path | None
) -> None:
    """Export all memories and links.

    As one JSON document, or with --format jsonl as lines that hold everything: deleted memories, ids, times, counters
    and, with --journal, the whole history. With --to, living memories as a file of another system; what that system
    cannot hold is listed. `--to markdown FOLDER` writes notes with front matter and wikilinks, for Obsidian and others.
    """
    if (folder is not None) != (system == MARKDOWN):
        raise click.UsageError("--to markdown and FOLDER go together: `mnemic export --to markdown FOLDER`")
    if journal and form == Format.JSON:
        raise click.UsageError("--journal: only lines can hold the journal; use --format jsonl")
    if system is not None:
        if form or journal:
            raise click.UsageError("--to: the system settles the format; leave --format and --journal out")
        if folder is not None:
            _write_notes(run, folder)
        else:
            _sent(run, system, target)
        return
    with run.open(reads=True) as app, _sink(target) as stream:
        chosen = Format.JSONL if journal else Format(form or Format.JSON)
        for piece in formats.export(app.ctx, chosen, journal=journal):
            stream.write(piece)
    _tell_written(run, target)


def _tell_written(run: Run, target: Path | None, **more: Any) -> None:
    """Say which file was written; standard output holds the export itself where none was named."""
    if target is not None:
        length = target.stat().st_size
        output.tell(run, {"file": str(target), "bytes": length, **more}, f"Wrote {target} ({size(length)}).")


def _write_notes(run: Run, folder: Path) -> None:
    from mnemic.transfer.folder_mirror import export_notes

    with run.open(reads=True) as app, progress("Exporting") as advance:
        done = export_notes(app.ctx, folder, app.ctx.namespace, advance)
    facts = {"folder": str(folder), "files": done.written}
    output.tell(run, facts, f"Wrote {done.written:,} notes to {folder}.")


def _sent(run: Run, system: str, target: Path | None) -> None:
    from mnemic.app import export_to, files_of

    if target is None and not files_of(system).is_text and sys.stdout.isatty():
        raise click.UsageError(f"--to {system}: its files are no text; name one with --output")
    with run.open(reads=True) as app:
        sent = export_to(app.ctx, system)
    with _sink(target) as stream:
        stream.write(sent.data)
    _tell_written(run, target, lost=dict(sent.lost))
    if sent.lost:
        losses = ", ".join(f"{what} ({count:,})" for what, count in sent.lost.items())
        print(f"{system} has no place for: {losses}.", file=sys.stderr)


@contextmanager
def _sink(target: Path | None) -> Iterator[IO[bytes]]:
    if target is None:
        yield sys.stdout.buffer
    else:
        with written_whole(target) as stream:
            yield stream


@click.command("import", cls=Verb)
@click.argument(
    "file",
    type=click.Path(path_type=Path, exists=True, allow_dash=True),
    default="-",
    metavar="[FILE]",
)
@click.option(
    "--from",
    "system",
    type=click.Choice(SOURCES),
    help="System that FILE comes from: its database, export or folder.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in Format]),
    help="Format of FILE. [default: detected]",
)
@click.option("--dry-run", is_flag=True, help="Show what would be imported without doing it.")
@pass_run
def import_(run: Run, file: Path, system: str | None, form: str | None, dry_run: bool) -> int:
    """Import memories and links from FILE or standard input.

    A memory with a known id, or a known chosen name, is merged field by field: what was changed in FILE is taken over,
    what was changed here stays. A field that both changed is listed with both versions; the newer wins, the other stays
    in the history. What is invalid is skipped and listed. With --from, FILE belongs to another system and is only read.
    """
    if system is not None:
        return _brought(run, system, file, dry_run)
    done = taken_in(run, file, Format(form) if form else None, dry_run=dry_run)
    _report(run, done, dry_run)
    return 1 if done.errors and not done.imported else 0


def taken_in(run: Run, file: Path, form: Format | None = None, *, dry_run: bool = False) -> Report:
    """Import the document in *file*, or from standard input for `-`, and say what came of it."""
    with binary_input(file) as stream:
        first = formats.first_line(stream)
        formats.refuse_database(file.name, first)
        with target_store(run, dry_run) as ctx, progress("Importing") as advance:
            return formats.take_in(ctx, first, stream, form or formats.looks_like(first), advance)


def _brought(run: Run, system: str, file: Path, dry_run: bool) -> int:
    from mnemic.app import import_from

    with (
        _named(file, system) as path,
        target_store(run, dry_run, in_project=system == MARKDOWN, **_place_of(run, system)) as ctx,
        progress("Importing") as advance,
    ):
        done = import_from(ctx, system, path, advance)
    _report(run, done, dry_run, {"links": done.links, "titles": done.titles})
    return 1 if done.errors and not done.imported and not done.skipped else 0


def _place_of(run: Run, system: str) -> dict[str, Any]:
    """The database that the variables of the system's dialect name, as a flag."""
    if system not in SYSTEMS or not run.environment.get(str(declared(system, "DATABASE_FOLDER"))):
        return {}
    return run.database_of(dialect(system))


@contextmanager
def _named(file: Path, system: str) -> Iterator[Path]:
    """*file*, or one that holds what comes from standard input."""
    if str(file) != "-":
        yield file
        return
    from mnemic.app import files_of

    if system not in SYSTEMS or not files_of(system).is_text:
        raise click.UsageError(f"--from {system} reads no standard input; name its file.")
    with tempfile.TemporaryDirectory(prefix="mnemic-") as folder:
        path = Path(folder) / STANDARD_INPUT
        path.write_bytes(sys.stdin.buffer.read())
        if formats.is_database(path.read_bytes()):
            raise click.UsageError("A database cannot be read from standard input; name its file.")
        yield path


@contextmanager
def target_store(run: Run, dry_run: bool, *, in_project: bool = False, **place: Any) -> Iterator[Context]:
    """Where memories go; on a dry run a copy, so that what it says is what would happen.

    If *in_project*, they go to the namespace of the project unless another is named.
    """
    opened = run.open_native if in_project else run.open
    if not dry_run:
        with opened(**place) as app:
            yield app.ctx
        return
    with tempfile.TemporaryDirectory(prefix="mnemic-") as folder:
        copy = Path(folder) / "copy.db"
        database = run.settings(**place).database
        if not is_missing(database):
            with run.open(reads=True, **place) as app:
                _copy_present(app.ctx, copy, is_file="://" not in database)
        with opened(db=str(copy), embedder="none", fast_writes=True) as app:
            yield app.ctx


def _copy_present(ctx: Context, copy: Path, *, is_file: bool) -> None:
    """Copy the store of *ctx*, in a file or on a server, into the file *copy*."""
    if is_file:
        ctx.engines.backup(ctx.store, copy)
        return
    from mnemic.app import copy_target
    from mnemic.transfer import store_copy

    store = cast("Copyable", ctx.store)
    with store.row_source() as source, copy_target(str(copy)) as target, progress("Copying") as advance:
        wanted = store_copy.plan(source, target, ctx.store.location)
        store_copy.copy(source, target, ctx.store.location, wanted, advance)


def _report(run: Run, done: Report, dry_run: bool, more: Mapping[str, Any] | None = None) -> None:
    facts = {"imported": done.imported, "skipped": done.skipped, "errors": list(done.errors), **(more or {})}
    facts |= {"attachments": done.attachments} if done.attachments else {}
    facts |= {"conflicts": _conflict_entries(done.conflicts)} if done.conflicts else {}
    known = f", {done.skipped:,} {'are' if dry_run else 'were'} known" if done.skipped else ""
    verb = "Would import" if dry_run else "Imported"
    output.tell(
        run,
        {**facts, "dry_run": True} if dry_run else facts,
        f"{verb} {done.imported:,}{known}.",
        *(_titles(done) if more and dry_run else ()),
        *(
            [f"Attached files are not part of an export: {done.attachments:,} left out."]
            * bool(done.attachments)
        ),
        *conflict_lines(done.conflicts),
    )
    output.tell_errors(run, done.errors)


def _conflict_entries(clashes: Sequence[Clash]) -> list[dict[str, Any]]:
    from mnemic.transfer.wire import conflict_entry

    return [conflict_entry(clash) for clash in clashes]


def conflict_lines(clashes: Sequence[Clash]) -> Iterator[str]:
    """Each field that both sides changed, with both versions."""
    if clashes:
        yield f"Conflicts: {len(clashes):,}, changed on both sides:"
    for clash in clashes[: output.MOST_ERRORS]:
        conflict = clash.conflict
        yield f"  {safe(clash.title)}: {conflict.field}"
        yield f"    here:  {_version(conflict.here)}"
        yield f"    there: {_version(conflict.there)}"
        yield f"    kept:  {_version(conflict.kept)}"
    if len(clashes) > output.MOST_ERRORS:
        yield f"  and {len(clashes) - output.MOST_ERRORS:,} more"


def _version(value: object) -> str:
    """One version of a field, on one line."""
    if value is None:
        return "not set"
    parts = value if isinstance(value, list) else [value]
    return safe(" · ".join(" ".join(str(part).split()) for part in parts if part is not None))


def _titles(done: Report) -> Iterator[str]:
    """What the first of them are called, and how many links there are."""
    yield from (f"  {safe(' '.join(title.split()))}" for title in done.titles)
    if done.imported > len(done.titles):
        yield f"  and {done.imported - len(done.titles):,} more"
    if done.links:
        yield f"New links: {done.links:,}."
