"""Answers on standard output: JSON when asked for, else lines for people."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import click
import orjson

from mnemic.console.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mnemic.console.run import Run

MOST_ERRORS = 20

# What a terminal could take for a command, U+0080 to U+009F included, which JSON leaves as they are.
_UNSAFE_IN_JSON = re.compile(r"[\x7f-\x9f]")


def tell(run: Run, facts: dict[str, Any], *sentences: str) -> None:
    """Show *facts* as JSON if that was asked for, else *sentences*."""
    present(run, facts, sentences)


def present(run: Run, facts: dict[str, Any], shown: Iterable[str]) -> None:
    """Show *facts* as JSON if that was asked for, else the lines *shown*, which are only then made."""
    if run.as_json:
        json(facts)
    else:
        lines(shown)


def json(value: Any) -> None:
    """Print *value* as JSON: indented on a terminal, else on one line."""
    stream = sys.stdout.buffer
    if stream.isatty():
        text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
        click.echo(_UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text))
    else:
        stream.write(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE))


def lines(shown: Iterable[str]) -> None:
    """Print lines for people; colours are dropped where they would not be seen as such."""
    for line in shown:
        click.echo(line)


def tell_errors(run: Run, errors: Sequence[str]) -> None:
    """Say on standard error what was passed over, unless the answer in JSON has it."""
    if run.as_json:
        return
    for error in errors[:MOST_ERRORS]:
        print(f"Skipped: {safe(error)}", file=sys.stderr)
    if len(errors) > MOST_ERRORS:
        print(f"Skipped: {len(errors) - MOST_ERRORS:,} more", file=sys.stderr)
