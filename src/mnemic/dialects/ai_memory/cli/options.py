"""Options shared by several memory commands, and the filter they build."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from mnemic.console.input_values import from_json, must_be_text, read_stdin, split
from mnemic.dialects.ai_memory import validation
from mnemic.errors import Invalid
from mnemic.model.enums import Tier
from mnemic.model.filter import Filter
from mnemic.model.time import Moment

F = TypeVar("F", bound=Callable[..., Any])

MOST = 10_000
"""Maximum number of memories shown."""


class WordList(click.ParamType[str]):
    """A text, which must be UTF-8."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """*value* as it is, or Invalid."""
        must_be_text(value, (param and param.name) or "argument")
        return value


class OneOf(click.Choice[str]):
    """A closed set, offered for completion; ai-memory's own rule refuses other values."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """*value* as it is."""
        return value


WORDS = WordList()
TIER = OneOf([tier.value for tier in Tier])

id_argument = click.argument("id", type=WORDS, metavar="ID")
in_namespace = click.option("-n", "--namespace", type=WORDS, metavar="NAME", help="Only this namespace.")
of_tier = click.option("-t", "--tier", type=TIER, help="Only this tier.")
with_tags = click.option(
    "--tags", multiple=True, type=WORDS, metavar="TAG,...", help="Only memories with one of these tags."
)
since = click.option(
    "--since", type=WORDS, metavar="TIME", help="Only memories since then, as 2026-01-31 or 7d."
)
until = click.option("--until", type=WORDS, metavar="TIME", help="Only memories until then.")
offset = click.option(
    "--offset", type=click.IntRange(0, 2**53), default=0, metavar="N", help="Skip the first N."
)
dry_run = click.option("--dry-run", is_flag=True, help="Show what would be done without doing it.")


def at_most(default: int, most: int = MOST) -> Callable[[F], F]:
    """The option that says how many at most."""
    return click.option(
        "--limit",
        type=click.IntRange(1, most),
        default=default,
        show_default=True,
        metavar="N",
        help="Most results.",
    )


def several(given: Sequence[str]) -> tuple[str, ...] | None:
    """The parts of an option that may be given often and holds a list each time; None if it was not given."""
    return tuple(part for text in given for part in split(text)) if given else None


def narrowed(given: Mapping[str, Any], now: Moment) -> Filter:
    """The filter of the options, without the namespace."""
    return Filter(
        tags=_some(given, "tags"),
        tier=validation.tier(given["tier"]) if given.get("tier") is not None else None,
        since=validation.moment(given["since"], "since", now) if given.get("since") is not None else None,
        until=validation.moment(given["until"], "until", now) if given.get("until") is not None else None,
    )


def _some(given: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    """The parts of a list; one that was given and is empty is refused, lest a filter be none without a word."""
    found = several(given.get(name, ()))
    if found == ():
        raise Invalid(f"{name}: is empty", name)
    return found


def joined_words(words: Sequence[str], field: str) -> str:
    """Words that need no quotes as one text, which must not be empty."""
    text = " ".join(words)
    if not text.strip():
        raise Invalid(f"{field} is required", field)
    return text


def body(text: str | None) -> str | None:
    """The content as given; `-` reads standard input."""
    return read_stdin("content").rstrip("\n") if text == "-" else text


def json_object(text: str | None, field: str) -> Any:
    """The JSON that an option holds, or None if it was not given."""
    return None if text is None else from_json(text, field)
