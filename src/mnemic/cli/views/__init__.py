"""Replies as people read them: the view made for a kind of reply, or a plain one for any other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mnemic.console import output
from mnemic.console.terminal import INDENT, faint, plain, safe

if TYPE_CHECKING:
    from pydantic import BaseModel

    from mnemic.console.run import Run

# The modules that know how to show a dialect's replies, loaded when one is to be shown.
HOMES = {"mnemic.dialects.native": "mnemic.cli.views.native"}


def answer(run: Run, reply: BaseModel) -> int:
    """Print *reply* as JSON or for people, and return the exit code."""
    if run.as_json:
        from mnemic.dialects.framework import as_json

        output.json(as_json(reply))
    else:
        output.lines(view(reply))
    return 1 if was_refused(reply) else 0


def was_refused(reply: BaseModel) -> bool:
    """True for a reply that says nothing of what was asked for was stored."""
    return bool(getattr(reply, "refused", None)) and not getattr(reply, "stored", True)


def view(reply: BaseModel) -> Iterator[str]:
    """The lines that show *reply*."""
    from mnemic.dialects.framework import as_json

    shown = made_for(type(reply))
    yield from shown(reply) if shown else anything(as_json(reply))


def made_for(kind: type[BaseModel]) -> Callable[[Any], Iterator[str]] | None:
    """The view made for this kind of reply, or None."""
    home = HOMES.get(kind.__module__.rpartition(".")[0])
    views: Mapping[str, Callable[[Any], Iterator[str]]] = import_module(home).VIEWS if home else {}
    return views.get(kind.__name__)


def anything(content: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """Any reply: a line a field, lists and objects below their name."""
    for label, value in content.items():
        if isinstance(value, Mapping) and value:
            yield f"{indent}{faint(label)}"
            yield from anything(value, indent + INDENT)
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            yield f"{indent}{faint(label)}"
            yield from listed(value, indent + INDENT)
        else:
            yield f"{indent}{faint(label)} {safe(plain(value))}"


def listed(items: Iterable[Mapping[str, Any]], indent: str) -> Iterator[str]:
    """Several objects, an empty line between two."""
    for position, item in enumerate(items):
        if position:
            yield ""
        yield from anything(item, indent)
