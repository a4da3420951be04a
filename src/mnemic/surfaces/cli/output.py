"""Answers on standard output: JSON when asked for, else a view made for people."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import click
import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import BaseModel

    from mnemic.surfaces.cli.session import Session

# What a terminal could take for a command, U+0080 to U+009F included, which JSON leaves as they are.
_UNSAFE_IN_JSON = re.compile(r"[\x7f-\x9f]")


def answer(session: Session, reply: BaseModel) -> int:
    """Show *reply* the way the session asks for; the exit code it stands for."""
    if session.as_json:
        from mnemic.dialects.operation import as_json

        json(as_json(reply))
    else:
        from mnemic.surfaces.cli.views import view

        lines(view(reply))
    return 1 if was_refused(reply) else 0


def was_refused(reply: BaseModel) -> bool:
    """True for a reply that says nothing of what was asked for was stored."""
    return bool(getattr(reply, "refused", None)) and not getattr(reply, "stored", True)


def tell(session: Session, facts: dict[str, Any], *sentences: str) -> None:
    """Show *facts* as JSON if that was asked for, else *sentences*."""
    present(session, facts, sentences)


def present(session: Session, facts: dict[str, Any], shown: Iterable[str]) -> None:
    """Show *facts* as JSON if that was asked for, else the lines *shown*, which are only then made."""
    if session.as_json:
        json(facts)
    else:
        lines(shown)


def json(value: Any) -> None:
    """Print *value* as JSON: indented on a terminal, in one line elsewhere."""
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
