"""`mnemic export` and `mnemic import`: all memories as JSON, or as lines that lose nothing."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click
import orjson

from mnemic.app import FOREIGN
from mnemic.errors import Invalid
from mnemic.surfaces.cli import output
from mnemic.surfaces.cli.files import written_whole
from mnemic.surfaces.cli.progress import progress
from mnemic.surfaces.cli.session import Session, Verb, pass_session
from mnemic.surfaces.cli.text import safe

if TYPE_CHECKING:
    from mnemic.core.arrivals import Imported
    from mnemic.core.context import Context
    from mnemic.storage.base import Progress

SQLITE = b"SQLite format 3\0"
"""How every SQLite database begins."""
LONG_NUMBER = re.compile(rb"\d{19}")
MOST_ERRORS = 20


class Format(StrEnum):
    """How memories are written down."""

    JSON = "json"
    JSONL = "jsonl"


@click.command(cls=Verb)
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in Format]),
    help="One document, or lossless lines. [default: json]",
)
@click.option("--journal", is_flag=True, help="Every change too; implies --format jsonl.")
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A file instead of standard output.",
)
@pass_session
def export(session: Session, form: str | None, journal: bool, target: Path | None) -> None:
    """Write all memories and links.

    As one JSON document, or with --format jsonl as lines that hold everything: forgotten memories, ids,
    times, counters and, with --journal, the whole history.
    """
    if journal and form == Format.JSON:
        raise click.UsageError("--journal: only lines can hold the journal; use --format jsonl")
    with session.open() as app, _sink(target) as stream:
        for piece in _pieces(app.ctx, Format.JSONL if journal else Format(form or Format.JSON), journal):
            stream.write(piece)


def _pieces(ctx: Context, form: Format, journal: bool) -> Iterator[bytes]:
    from mnemic.core import transfer

    if form is Format.JSON:
        yield orjson.dumps(transfer.export_json(ctx), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    else:
        for line in transfer.export_lines(ctx, journal=journal):
            yield line.rstrip("\n").encode() + b"\n"


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
    type=click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True),
    default="-",
    metavar="[FILE]",
)
@click.option(
    "--from", "system", type=click.Choice(list(FOREIGN)), help="FILE is another system's database or export."
)
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in Format]),
    help="How FILE is written. [default: as it looks]",
)
@click.option("--dry-run", is_flag=True, help="Say what would come, and change nothing.")
@pass_session
def import_(session: Session, file: Path, system: str | None, form: str | None, dry_run: bool) -> int:
    """Read memories and links from FILE or standard input.

    What is known by the same id or title is brought up to date, the newer version winning; what is invalid is
    skipped and told. With --from ai-memory, FILE is ai-memory's database, which is only read, or its export.
    """
    with _source(file) as stream:
        first = stream.readline()
        _must_be_text(file, first, system)
        with _target(session, dry_run) as ctx, progress("Importing") as told:
            if first.startswith(SQLITE):
                done = _from_database(ctx, file, system or "", told)
            else:
                chosen = Format.JSON if system else Format(form) if form else _looks_like(first)
                done = _taken_in(ctx, first, stream, chosen, told, is_foreign=system is not None)
    _report(session, done, dry_run)
    return 1 if done.errors and not done.imported else 0


@contextmanager
def _source(file: Path) -> Iterator[IO[bytes]]:
    if str(file) == "-":
        yield sys.stdin.buffer
    else:
        with file.open("rb") as stream:
            yield stream


def _must_be_text(file: Path, first: bytes, system: str | None) -> None:
    """Refuse a database, unless someone is there to read it."""
    if not first.startswith(SQLITE):
        return
    if system is None:
        raise click.UsageError(
            f"{file.name} is a database. --from ai-memory reads one of ai-memory's; `mnemic sync` one of ours."
        )
    if str(file) == "-":
        raise click.UsageError("A database cannot be read from standard input; name its file.")


@contextmanager
def _target(session: Session, dry_run: bool) -> Iterator[Context]:
    """Where memories go; on a dry run a copy, so that what it says is what would happen."""
    if not dry_run:
        with session.open() as app:
            yield app.ctx
        return
    with tempfile.TemporaryDirectory(prefix="mnemic-") as folder:
        copy = Path(folder) / "copy.db"
        if Path(session.settings().database).expanduser().exists():
            with session.open() as app:
                app.ctx.store.backup(copy)
        with session.open(db=str(copy), embedder="none", fast_writes=True) as app:
            yield app.ctx


def _looks_like(first: bytes) -> Format:
    """Lines, if the first one is a whole JSON object that is no document of memories."""
    try:
        record = orjson.loads(first)
    except orjson.JSONDecodeError:
        return Format.JSON
    return Format.JSON if isinstance(record, dict) and "memories" in record else Format.JSONL


def _from_database(ctx: Context, file: Path, system: str, told: Progress) -> Imported:
    from mnemic.app import read_foreign
    from mnemic.core import transfer

    return transfer.import_json(ctx, read_foreign(system, file), progress=told)


def _taken_in(
    ctx: Context, first: bytes, rest: IO[bytes], form: Format, told: Progress, *, is_foreign: bool
) -> Imported:
    """Everything another system wrote is welcome; a document of no known origin has to keep ai-memory's rules."""
    from mnemic.core import transfer
    from mnemic.dialects.ai_memory import rules

    if form is Format.JSON:
        check = None if is_foreign else rules.entry
        return transfer.import_json(ctx, _document(first + rest.read()), check=check, progress=told)
    return transfer.import_lines(ctx, _texts(first, rest), told)


def _document(text: bytes) -> Any:
    """The JSON value in *text*."""
    try:
        # orjson turns an integer of more than 64 bits into a float without a word.
        return json.loads(text) if LONG_NUMBER.search(text) else orjson.loads(text)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"file: not valid JSON: {str(error)[:200]}", "file") from None


def _texts(first: bytes, rest: Iterable[bytes]) -> Iterator[str]:
    yield first.decode(errors="replace")
    for line in rest:
        yield line.decode(errors="replace")


def _report(session: Session, done: Imported, dry_run: bool) -> None:
    facts = {"imported": done.imported, "skipped": done.skipped, "errors": list(done.errors)}
    known = f", {done.skipped:,} {'are' if dry_run else 'were'} known" if done.skipped else ""
    verb = "Would import" if dry_run else "Imported"
    output.tell(
        session, {**facts, "dry_run": True} if dry_run else facts, f"{verb} {done.imported:,}{known}."
    )
    tell_errors(session, done.errors)


def tell_errors(session: Session, errors: Sequence[str]) -> None:
    """Say on standard error what was passed over, unless the answer in JSON has it."""
    if session.as_json:
        return
    for error in errors[:MOST_ERRORS]:
        print(f"Skipped: {safe(error)}", file=sys.stderr)
    if len(errors) > MOST_ERRORS:
        print(f"Skipped: {len(errors) - MOST_ERRORS:,} more", file=sys.stderr)
