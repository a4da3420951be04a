"""Files of memories in our own formats: one JSON document, or lines that lose nothing."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import IO, TYPE_CHECKING

import orjson

from mnemic.errors import Invalid

if TYPE_CHECKING:
    from mnemic.core.context import Context
    from mnemic.storage.base import Progress
    from mnemic.transfer.document import Check
    from mnemic.transfer.import_report import Report


class Format(StrEnum):
    """How memories are written to a file."""

    JSON = "json"
    JSONL = "jsonl"


def export(ctx: Context, form: Format, *, journal: bool = False) -> Iterator[bytes]:
    """All memories and links as pieces of a file; only lines can hold the *journal*."""
    if form is Format.JSON:
        from mnemic.transfer.document import write_json

        yield from write_json(ctx)
    else:
        from mnemic.transfer.jsonl import export_lines

        for line in export_lines(ctx, journal=journal):
            yield line.rstrip("\n").encode() + b"\n"


def first_line(stream: IO[bytes]) -> bytes:
    """The first line of a file, by which its format is known, without a byte order mark."""
    return stream.readline().removeprefix(BOM_UTF8)


def is_database(head: bytes) -> bool:
    """Whether a file that begins with *head* is a SQLite database."""
    from mnemic.core.allowed_files import SQLITE

    return head.startswith(SQLITE)


def refuse_database(name: str, head: bytes) -> None:
    """Invalid if the file called *name*, which begins with *head*, is a database."""
    if is_database(head):
        raise Invalid(
            f"{name} is a database. `mnemic import --from SYSTEM` reads one of another system; "
            "`mnemic sync` one of ours.",
            "file",
        )


def looks_like(first: bytes) -> Format:
    """The format of a file by its first line: lines, if that is a whole JSON object that is no document."""
    try:
        record = orjson.loads(first)
    except orjson.JSONDecodeError:
        return Format.JSON
    return Format.JSON if isinstance(record, dict) and "memories" in record else Format.JSONL


def take_in(
    ctx: Context,
    first: bytes,
    rest: IO[bytes],
    form: Format,
    progress: Progress | None = None,
    *,
    check: Check | None = None,
    check_link: Check | None = None,
) -> Report:
    """Import a file of ours, given its *first* line and the *rest*; the checks are for a JSON document alone."""
    if form is Format.JSON:
        from mnemic.transfer.document import import_json
        from mnemic.transfer.document_entry import loaded

        document = loaded(first + rest.read())
        return import_json(ctx, document, check=check, check_link=check_link, progress=progress)
    from mnemic.transfer.jsonl import import_lines

    return import_lines(ctx, _texts(first, rest), progress)


def _texts(first: bytes, rest: Iterable[bytes]) -> Iterator[str]:
    yield first.decode(errors="replace")
    for line in rest:
        yield line.decode(errors="replace")
