"""Edits of one member two levels down in a YAML file; the lines of everything else stay."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml


class YamlError(ValueError):
    """The text is not YAML, or is written in a way that cannot be edited by lines."""


def read(text: str) -> Any:
    """The value *text* holds; an empty mapping if it holds none."""
    try:
        held = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise YamlError(" ".join(str(error).split())[:200]) from None
    return {} if held is None else held


def with_member(text: str, path: Sequence[str], value: Any) -> str:
    """*text* with the member at *path* set to *value*; a third step of the path sets a key of the member."""
    key, name, *rest = path
    if rest:
        value = {**read(text)[key][name], rest[0]: value}
    lines = without_member(text, (key, name)).splitlines(keepends=True)
    place = _line_of(lines, key)
    if place is None:
        head = [] if not lines or lines[-1].endswith("\n") else ["\n"]
        return "".join([*lines, *head, f"{key}:\n", *_block(name, value, "  ")])
    if re.match(rf"{re.escape(key)}:\s*\{{\s*\}}\s*$", lines[place]):
        lines[place] = f"{key}:\n"
    inner = _indent_below(lines, place) or "  "
    return "".join([*lines[: place + 1], *_block(name, value, inner), *lines[place + 1 :]])


def without_member(text: str, path: Sequence[str]) -> str:
    """*text* without the member at *path*; the same text if it is not there."""
    key, *rest = path
    lines = text.splitlines(keepends=True)
    place = _line_of(lines, key)
    if place is None:
        return text
    if not rest:
        return "".join(lines[:place] + lines[_end_of(lines, place) :])
    inner = _indent_below(lines, place)
    end = _end_of(lines, place)
    for at in range(place + 1, end):
        if inner and re.match(rf"{inner}[\"']?{re.escape(rest[0])}[\"']?:(?:\s|$)", lines[at]):
            return "".join(_without(lines, place, at))
    return text


def _without(lines: list[str], place: int, at: int) -> list[str]:
    """*lines* without the member on line *at* of the mapping on line *place*, which may be empty then."""
    left = lines[:at] + lines[_end_of(lines, at) :]
    if not _indent_below(left, place):
        left[place] = left[place].rstrip("\n") + " {}\n"
    return left


def _block(name: str, value: Mapping[str, Any], indent: str) -> list[str]:
    written = yaml.safe_dump({name: value}, sort_keys=False, allow_unicode=True, width=10_000)
    return [indent + line for line in written.splitlines(keepends=True)]


def _line_of(lines: Sequence[str], key: str) -> int | None:
    return next((at for at, line in enumerate(lines) if re.match(rf"{re.escape(key)}:(?:\s|$)", line)), None)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))]


def _is_blank(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _indent_below(lines: Sequence[str], place: int) -> str:
    """How the members of the mapping on line *place* are indented; empty if it has none."""
    below = (line for line in lines[place + 1 : _end_of(lines, place)] if not _is_blank(line))
    return _indent(next(below, ""))


def _end_of(lines: Sequence[str], place: int) -> int:
    """The line behind the member that begins on line *place*."""
    own = len(_indent(lines[place]))
    end = place + 1
    for at in range(place + 1, len(lines)):
        if _is_blank(lines[at]):
            continue
        if len(_indent(lines[at])) <= own and not (lines[at].lstrip().startswith("- ")):
            break
        end = at + 1
    return end
