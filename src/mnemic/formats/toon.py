"""TOON, the token-oriented notation of ai-memory: what the fields are is said once, then comes a row for each memory.

A pipe is written `\\|` and a line break `\\n`, and every other value as it is. For what is written to be read back,
a backslash is doubled too, but only where it would be taken for the beginning of one of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

COMPACT = ("id", "title", "tier", "namespace", "priority", "score", "tags")
FULL = (
    *("id", "title", "tier", "namespace", "priority", "confidence", "score", "access_count"),
    *("tags", "source", "created_at", "updated_at"),
)
STANDARD = ("id", "title", "content")
META = ("count", "mode")

ESCAPES = {"\\": "\\", "|": "|", "n": "\n"}
"""What follows a backslash, and what both stand for."""
ESCAPES_OF_THE_CODE = {**ESCAPES, ":": ":", "r": "\r"}
"""The same as ai-memory's program writes it, which differs from its document."""

_SPECIAL = re.compile(r"\||\n|\\(?=[\\|n\n]|\Z)")
_WRITTEN = {"|": r"\|", "\n": r"\n", "\\": r"\\"}
_ESCAPED = re.compile(r"\\(.)")
_CELL = re.compile(r"((?:[^\\|]|\\.?)*)(\||\Z)")
_HEADER = re.compile(r"(\w+)\[([^\]]*)\]:\Z")


@dataclass(frozen=True, slots=True)
class Document:
    """What a text in TOON says: scalars by name, and lists of rows by name, all of it as text."""

    meta: dict[str, str] = field(default_factory=dict)
    tables: dict[str, list[dict[str, str]]] = field(default_factory=dict)


def write(content: Mapping[str, Any], fields: Sequence[str]) -> str:
    """An answer with `memories` or `results`, and perhaps a `standard` or `standards`, in TOON with these *fields*."""
    meta = "|".join(f"{name}:{cell(content[name])}" for name in META if name in content)
    standards = content.get("standards", [content["standard"]] if "standard" in content else [])
    lines = [meta] if meta else []
    if standards:
        lines += _table("standards", STANDARD, standards)
    lines += _table("memories", fields, content.get("memories", content.get("results", ())))
    return "\n".join(lines) + "\n"


def _table(name: str, fields: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> list[str]:
    header = f"{name}[{'|'.join(fields)}]:"
    return [header, *("|".join(cell(row.get(field)) for field in fields) for row in rows)]


def cell(value: Any) -> str:
    """One value as it stands in a row."""
    match value:
        case None:
            return ""
        case bool():
            return "1" if value else "0"
        case str():
            return _SPECIAL.sub(lambda found: _WRITTEN[found[0]], value)
        case Mapping():
            return "[object]"
        case list() | tuple():
            return cell(",".join(map(str, value)))
    return str(value)


def read(text: str, escapes: Mapping[str, str] = ESCAPES) -> Document:
    """What *text* says; an empty cell is an empty text."""
    document = Document()
    rows: list[dict[str, str]] = []
    fields: list[str] = []
    for number, line in enumerate(text.split("\n")):
        if header := _HEADER.match(line):
            fields = header[2].split("|")
            rows = document.tables.setdefault(header[1], [])
        elif number == 0:
            document.meta.update(_pair(part) for part in _cells(line, escapes) if part)
        elif line:
            rows.append(dict(zip(fields, _cells(line, escapes), strict=True)))
    return document


def _pair(part: str) -> tuple[str, str]:
    name, _, value = part.partition(":")
    return name, value


def _cells(line: str, escapes: Mapping[str, str]) -> list[str]:
    """The values of a row."""
    found, start = [], 0
    while match := _CELL.match(line, start):
        found.append(_ESCAPED.sub(lambda pair: escapes.get(pair[1], pair[0]), match[1]))
        start = match.end()
        if not match[2]:
            break
    return found
