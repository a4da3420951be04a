"""`mnemic export` and `mnemic import`: all memories as JSON, or as lines that lose nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click
import orjson

from mnemic.surfaces.cli import output
from mnemic.surfaces.cli.files import written_whole
from mnemic.surfaces.cli.progress import progress
from mnemic.surfaces.cli.reading import from_json
from mnemic.surfaces.cli.session import Session, Verb, pass_session

if TYPE_CHECKING:
    from mnemic.core.context import Context
    from mnemic.core.transfer import Imported


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
@click.argument("file", type=click.File("rb"), default="-", metavar="[FILE]")
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in Format]),
    help="How FILE is written. [default: as it looks]",
)
@pass_session
def import_(session: Session, file: IO[bytes], form: str | None) -> int:
    """Read memories and links from FILE or standard input.

    What is already known by the same id stays; what is invalid is skipped and told.
    """
    first = file.readline()
    with session.open() as app:
        done = _taken_in(app.ctx, first, file, Format(form) if form else _looks_like(first))
    _report(session, done)
    return 1 if done.errors and not done.imported else 0


def _looks_like(first: bytes) -> Format:
    """Lines, if the first one is a whole JSON object that is no document of memories."""
    try:
        record = orjson.loads(first)
    except orjson.JSONDecodeError:
        return Format.JSON
    return Format.JSON if isinstance(record, dict) and "memories" in record else Format.JSONL


def _taken_in(ctx: Context, first: bytes, rest: IO[bytes], form: Format) -> Imported:
    from mnemic.core import transfer

    if form is Format.JSON:
        return transfer.import_json(ctx, from_json(first + rest.read(), "file"))
    with progress("Importing") as told:
        return transfer.import_lines(ctx, _texts(first, rest), told)


def _texts(first: bytes, rest: Iterable[bytes]) -> Iterator[str]:
    yield first.decode(errors="replace")
    for line in rest:
        yield line.decode(errors="replace")


def _report(session: Session, done: Imported) -> None:
    facts = {"imported": done.imported, "skipped": done.skipped, "errors": list(done.errors)}
    known = f", {done.skipped:,} were known" if done.skipped else ""
    output.tell(session, facts, f"Imported {done.imported:,}{known}.")
    if not session.as_json:
        for error in done.errors[:20]:
            print(f"Skipped: {error}", file=sys.stderr)
        if len(done.errors) > 20:
            print(f"Skipped: {len(done.errors) - 20:,} more", file=sys.stderr)
