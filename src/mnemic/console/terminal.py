"""Words, colours and shapes for people: ages, bars, excerpts, tables. Knows nothing of memories."""

from __future__ import annotations

import functools
import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from datetime import UTC, tzinfo

import click

from mnemic.model.time import DAY, HOUR, MINUTE, SECOND, YEAR, Moment
from mnemic.model.time_phrases import datetime_of

INDENT = "    "
NARROWEST, WIDEST = 60, 110
"""In fewer columns there would be no room for a title beside a score; a narrower terminal wraps our lines."""

_AGES = ((YEAR, "y"), (DAY, "d"), (HOUR, "h"), (MINUTE, "m"), (SECOND, "s"))
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SIZES = ("bytes", "KB", "MB", "GB", "TB")


_COLUMNS: ContextVar[int | None] = ContextVar("columns", default=None)


def show_in_columns(columns: int) -> None:
    """Write for a terminal of this width from now on, instead of the one of this process."""
    _COLUMNS.set(columns)


def width() -> int:
    """How many columns to write in."""
    columns = _COLUMNS.get() or shutil.get_terminal_size((100, 24)).columns
    return max(NARROWEST, min(columns, WIDEST))


def safe(text: str) -> str:
    """*text* without characters that a terminal would obey instead of show."""
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n").expandtabs(4))


def bold(text: str) -> str:
    """*text* as a heading."""
    return click.style(text, bold=True)


def faint(text: str) -> str:
    """*text* as an aside."""
    return click.style(text, dim=True)


def good(text: str) -> str:
    """*text* as good news."""
    return click.style(text, fg="green")


def bad(text: str) -> str:
    """*text* as bad news."""
    return click.style(text, fg="red")


def doubtful(text: str) -> str:
    """*text* as neither."""
    return click.style(text, fg="yellow")


def name(text: str) -> str:
    """*text* as the name of something."""
    return click.style(text, fg="cyan")


def age(moment: Moment, now: Moment) -> str:
    """How long before *now* a moment lies: `2h ago`, or `in 3d` if it is to come."""
    distance = abs(now - moment)
    if distance < 10 * SECOND:
        return "just now"
    unit, letter = next(pair for pair in _AGES if distance >= pair[0])
    span = f"{distance // unit}{letter}"
    return f"{span} ago" if moment <= now else f"in {span}"


_ZONE: ContextVar[tzinfo] = ContextVar("zone", default=UTC)


def show_times_in(zone: tzinfo) -> None:
    """Show dates in this time zone from now on."""
    _ZONE.set(zone)


def minute(moment: Moment) -> str:
    """A moment as a date with its hour and minute."""
    return f"{datetime_of(moment, _ZONE.get()):%Y-%m-%d %H:%M %Z}"


def stamp(moment: Moment, now: Moment) -> str:
    """A moment as a date and an age."""
    return f"{minute(moment)} {faint(age(moment, now))}"


def bar(share: float, cells: int = 10) -> str:
    """A bar of *cells* characters, filled by *share* between 0 and 1."""
    filled = round(max(0.0, min(1.0, share)) * cells)
    full, empty = _cells(sys.stdout.encoding or "ascii")
    return full * filled + empty * (cells - filled)


@functools.lru_cache(maxsize=4)
def _cells(encoding: str) -> tuple[str, str]:
    """The characters of a bar that a terminal of this encoding can show."""
    try:
        "█░".encode("utf-8" if encoding.lower() == "ascii" else encoding)  # click writes UTF-8 to ASCII
    except (UnicodeEncodeError, LookupError):
        return "#", "."
    return "█", "░"


def size(count: int) -> str:
    """A number of bytes as people say it."""
    amount, unit = float(count), 0
    while amount >= 1024 and unit < len(_SIZES) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{amount:.0f} {_SIZES[unit]}" if unit == 0 or amount >= 100 else f"{amount:.1f} {_SIZES[unit]}"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """*number* with its noun: `1 memory`, `2 memories`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def spread(counts: Mapping[str, int]) -> str:
    """Counts by name, the largest first, at most eight."""
    largest = sorted(counts.items(), key=lambda pair: -pair[1])
    shown = [f"{safe(label)} {number:,}" for label, number in largest[:8]]
    return ", ".join(shown) + (f", {len(largest) - 8} more" if len(largest) > 8 else "")


def excerpt(text: str, lines: int, columns: int) -> list[str]:
    """The beginning of *text* in at most *lines* lines."""
    flat = " ".join(safe(text).split())
    return textwrap.wrap(flat, columns, max_lines=lines, placeholder=" …") if flat else []


def paragraphs(text: str, columns: int) -> Iterator[str]:
    """*text* whole, long lines wrapped."""
    for line in safe(text).split("\n"):
        yield from textwrap.wrap(line, columns, replace_whitespace=False, drop_whitespace=False) or [""]


def columns_of(text: str) -> int:
    """How many columns *text* takes up: wide characters two, combining ones none."""
    return sum(
        0 if unicodedata.combining(character) else 1 + (unicodedata.east_asian_width(character) in "WF")
        for character in click.unstyle(text)
    )


def table(rows: Sequence[Sequence[str]], gap: str = "  ") -> Iterator[str]:
    """*rows* with their cells in columns."""
    widths = [max(columns_of(cell) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell + " " * (wide - columns_of(cell)) for cell, wide in zip(row, widths, strict=True)]
        yield gap.join(cells).rstrip()


def plain(value: object) -> str:
    """A value without the syntax of a programming language."""
    if isinstance(value, (list, tuple)):
        return ", ".join(plain(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
