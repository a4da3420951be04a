"""What a written value means: lists, JSON, standard input. Loads no models, so any command may use it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click
import orjson

from mnemic.errors import Invalid


def split(text: str) -> list[str]:
    """The parts of a comma-separated *text*, trimmed, without empty ones."""
    return [part.strip() for part in text.split(",") if part.strip()]


def from_json(text: str | bytes, field: str) -> Any:
    """The JSON value *text* holds, or Invalid naming *field*."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Invalid(f"{field}: not valid JSON: {error}", field) from None


def must_be_text(given: Any, field: str) -> None:
    """Refuse a word whose bytes are no text: it reaches us with surrogates in their place."""
    try:
        str(given).encode()
    except UnicodeEncodeError:
        raise Invalid(f"{field}: is not UTF-8 text", field) from None


def read_stdin(field: str) -> str:
    """Everything on standard input as text, or Invalid naming *field*."""
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise Invalid(f"{field}: standard input is not UTF-8 text", field) from None


@contextmanager
def binary_input(file: Path) -> Iterator[IO[bytes]]:
    """The bytes of *file*, or of standard input for `-`."""
    if str(file) == "-":
        yield sys.stdin.buffer
    elif file.is_dir():
        raise click.BadParameter(f"File {str(file)!r} is a directory.", param_hint="'[FILE]'")
    else:
        with file.open("rb") as stream:
            yield stream
