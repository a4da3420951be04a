"""Edits to TOML that touch nothing but the one table they are about. Comments and order stay."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date, time

_HEADER = re.compile(r"[ \t]*\[\[?([^\[\]]+)\]\]?[ \t]*(?:#.*)?")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def with_table(text: str, path: Sequence[str], entries: Mapping[str, object]) -> str:
    """*text* with the table at *path* holding *entries*: in its place if it is there, else at the end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    table = [f"[{'.'.join(map(_key, path))}]"]
    table += [f"{_key(key)} = {_written(value)}" for key, value in entries.items()]
    written = "".join(line + newline for line in table)
    lines = _lines(text)
    span = _span(lines, path)
    if span is not None:
        return "".join([*lines[: span[0]], written, *lines[span[1] :]])
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += newline
    gap = newline if lines and lines[-1].strip() else ""
    return "".join(lines) + gap + written


def without_table(text: str, path: Sequence[str]) -> str:
    """*text* without the table at *path* and the tables below it; the same text if it is not there."""
    lines = _lines(text)
    span = _span(lines, path)
    if span is None:
        return text
    before, after = lines[: span[0]], lines[span[1] :]
    while before and not before[-1].strip() and not (after and after[0].strip()):
        before.pop()
    return "".join([*before, *after])


def _lines(text: str) -> list[str]:
    """The lines of *text* with their ends. TOML knows one kind of line break, `splitlines` many."""
    return re.findall(r"[^\n]*\n|[^\n]+$", text)


def _span(lines: Sequence[str], path: Sequence[str]) -> tuple[int, int] | None:
    """The lines of the table at *path* and those below it, without what leads up to the next table."""
    headers = [(number, _parts(line)) for number, line in enumerate(lines) if _parts(line)]
    ours = [number for number, parts in headers if parts[: len(path)] == list(path)]
    if not ours:
        return None
    end = next((number for number, _ in headers if number > ours[-1]), len(lines))
    while end > ours[-1] + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return ours[0], end


def _parts(line: str) -> list[str]:
    """The keys of a table's header, or nothing if *line* is none."""
    found = _HEADER.fullmatch(line.rstrip("\r\n"))
    return [part.strip().strip("\"'") for part in found[1].split(".")] if found else []


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key)


def _written(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_written(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_written(item) for item in value) + "]"
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, float):
        return str(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
