"""`mnemic export` and `mnemic import`: all memories as JSON, or as lines that lose nothing."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from mnemic import exchange
from mnemic.app import SOURCES, SYSTEMS, VARIABLES, dialect
from mnemic.exchange import Format
from mnemic.surfaces.cli import output
from mnemic.surfaces.cli.progress import progress
from mnemic.surfaces.cli.session import Session, Verb, pass_session
from mnemic.surfaces.cli.text import safe, size
from mnemic.surfaces.files import written_whole

if TYPE_CHECKING:
    from mnemic.core.context import Context
    from mnemic.core.moving.arrivals import Imported

MOST_ERRORS = 20
STANDARD_INPUT = "standard input"


@click.command(cls=Verb)
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in Format]),
    help="json: one document of living memories; jsonl: lossless lines. [default: json]",
)
@click.option("--journal", is_flag=True, help="Include the whole history; implies --format jsonl.")
@click.option("--to", "system", type=click.Choice(SYSTEMS), help="Write a file that this system reads.")
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to this file instead of standard output.",
)
@pass_session
def export(
    session: Session, form: str | None, journal: bool, system: str | None, target: Path | None
) -> None:
    """Export all memories and links.

    As one JSON document, or with --format jsonl as lines that hold everything: deleted memories, ids, times, counters
    and, with --journal, the whole history. With --to, living memories as a file of another system; what that system
    cannot hold is listed.
    """
    if journal and form == Format.JSON:
        raise click.UsageError("--journal: only lines can hold the journal; use --format jsonl")
    if system is not None:
        if form or journal:
            raise click.UsageError("--to: the system settles the format; leave --format and --journal out")
        _sent(session, system, target)
        return
    with session.open() as app, _sink(target) as stream:
        chosen = Format.JSONL if journal else Format(form or Format.JSON)
        for piece in exchange.export(app.ctx, chosen, journal=journal):
            stream.write(piece)
    _tell_written(session, target)


def _tell_written(session: Session, target: Path | None, **more: Any) -> None:
    """Say which file was written; standard output holds the export itself where none was named."""
    if target is not None:
        length = target.stat().st_size
        output.tell(
            session, {"file": str(target), "bytes": length, **more}, f"Wrote {target} ({size(length)})."
        )


def _sent(session: Session, system: str, target: Path | None) -> None:
    from mnemic.core.moving.sending import send

    if target is None and system == "agentic-memory" and sys.stdout.isatty():
        raise click.UsageError("--to agentic-memory: its files are no text; name one with --output")
    with session.open() as app:
        sent = send(app.ctx, system)
    with _sink(target) as stream:
        stream.write(sent.data)
    _tell_written(session, target, lost=dict(sent.lost))
    if sent.lost:
        told = ", ".join(f"{what} ({count:,})" for what, count in sent.lost.items())
        print(f"{system} has no place for: {told}.", file=sys.stderr)


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
@pass_session
def import_(session: Session, file: Path, system: str | None, form: str | None, dry_run: bool) -> int:
    """Import memories and links from FILE or standard input.

    A memory with a known id, or a known chosen name, is updated; the newer version wins. What is invalid is skipped and
    listed. With --from, FILE belongs to another system and is only read.
    """
    if system is not None:
        return _brought(session, system, file, dry_run)
    done = taken_in(session, file, Format(form) if form else None, dry_run=dry_run)
    _report(session, done, dry_run)
    return 1 if done.errors and not done.imported else 0


def taken_in(session: Session, file: Path, form: Format | None = None, *, dry_run: bool = False) -> Imported:
    """Import the document in *file*, or from standard input for `-`, and say what came of it."""
    with _source(file) as stream:
        first = exchange.first_line(stream)
        _must_be_text(file, first)
        with _target(session, dry_run) as ctx, progress("Importing") as told:
            return exchange.take_in(ctx, first, stream, form or exchange.looks_like(first), told)


def _brought(session: Session, system: str, file: Path, dry_run: bool) -> int:
    from mnemic.app import bring

    with (
        _named(file, system) as path,
        _target(session, dry_run, **_place_of(session, system)) as ctx,
        progress("Importing") as told,
    ):
        done = bring(ctx, system, path, told)
    _report(session, done, dry_run, {"links": done.links, "titles": done.titles})
    return 1 if done.errors and not done.imported and not done.skipped else 0


def _place_of(session: Session, system: str) -> dict[str, Any]:
    """Where the vocabulary of *system* looks. It is heavy, so it is only asked if there are variables to tell it."""
    is_tuned = any(name.startswith(VARIABLES) for name in os.environ)
    return session.database_of(dialect(system)) if is_tuned and system in SYSTEMS else {}


@contextmanager
def _named(file: Path, system: str) -> Iterator[Path]:
    """*file*, or one that holds what comes from standard input."""
    if str(file) != "-":
        yield file
        return
    if system not in SYSTEMS or system == "agentic-memory":
        raise click.UsageError(f"--from {system} reads no standard input; name its file.")
    with tempfile.TemporaryDirectory(prefix="mnemic-") as folder:
        path = Path(folder) / STANDARD_INPUT
        path.write_bytes(sys.stdin.buffer.read())
        if exchange.is_database(path.read_bytes()):
            raise click.UsageError("A database cannot be read from standard input; name its file.")
        yield path


@contextmanager
def _source(file: Path) -> Iterator[IO[bytes]]:
    if str(file) == "-":
        yield sys.stdin.buffer
    elif file.is_dir():
        raise click.BadParameter(f"File {str(file)!r} is a directory.", param_hint="'[FILE]'")
    else:
        with file.open("rb") as stream:
            yield stream


def _must_be_text(file: Path, first: bytes) -> None:
    """Refuse a database."""
    if exchange.is_database(first):
        raise click.UsageError(
            f"{file.name} is a database. --from ai-memory, lorekeeper or mcp-memory reads one of theirs; "
            "`mnemic sync` one of ours."
        )


@contextmanager
def _target(session: Session, dry_run: bool, **place: Any) -> Iterator[Context]:
    """Where memories go; on a dry run a copy, so that what it says is what would happen."""
    if not dry_run:
        with session.open(**place) as app:
            yield app.ctx
        return
    with tempfile.TemporaryDirectory(prefix="mnemic-") as folder:
        copy = Path(folder) / "copy.db"
        if Path(session.settings(**place).database).expanduser().exists():
            with session.open(**place) as app:
                app.ctx.store.backup(copy)
        with session.open(db=str(copy), embedder="none", fast_writes=True) as app:
            yield app.ctx


def _report(session: Session, done: Imported, dry_run: bool, more: Mapping[str, Any] | None = None) -> None:
    facts = {"imported": done.imported, "skipped": done.skipped, "errors": list(done.errors), **(more or {})}
    known = f", {done.skipped:,} {'are' if dry_run else 'were'} known" if done.skipped else ""
    verb = "Would import" if dry_run else "Imported"
    output.tell(
        session,
        {**facts, "dry_run": True} if dry_run else facts,
        f"{verb} {done.imported:,}{known}.",
        *(_titles(done) if more and dry_run else ()),
    )
    tell_errors(session, done.errors)


def _titles(done: Imported) -> Iterator[str]:
    """What the first of them are called, and how many links there are."""
    yield from (f"  {safe(' '.join(title.split()))}" for title in done.titles)
    if done.imported > len(done.titles):
        yield f"  and {done.imported - len(done.titles):,} more"
    if done.links:
        yield f"New links: {done.links:,}."


def tell_errors(session: Session, errors: Sequence[str]) -> None:
    """Say on standard error what was passed over, unless the answer in JSON has it."""
    if session.as_json:
        return
    for error in errors[:MOST_ERRORS]:
        print(f"Skipped: {safe(error)}", file=sys.stderr)
    if len(errors) > MOST_ERRORS:
        print(f"Skipped: {len(errors) - MOST_ERRORS:,} more", file=sys.stderr)
