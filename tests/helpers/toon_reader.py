"""A reader of TOON, which clients of ai-memory have and Mnemic itself does not need."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_ESCAPES = {"|": "|", "n": "\n"}
_ESCAPED = re.compile(r"\\([|n])")
_CELL = re.compile(r"((?:[^\\|]|\\\|?)*)(\||\Z)")
_HEADER = re.compile(r"(\w+)\[([^\]]*)\]:\Z")


@dataclass(frozen=True, slots=True)
class Document:
    """What a text in TOON says: scalars by name, and lists of rows by name, all of it as text."""

    meta: dict[str, str] = field(default_factory=dict)
    tables: dict[str, list[dict[str, str]]] = field(default_factory=dict)


def read(text: str) -> Document:
    """What *text* says; an empty cell is an empty text."""
    document = Document()
    rows: list[dict[str, str]] = []
    fields: list[str] = []
    for number, line in enumerate(text.split("\n")):
        if header := _HEADER.match(line):
            fields = header[2].split("|")
            rows = document.tables.setdefault(header[1], [])
        elif number == 0:
            document.meta.update(_pair(part) for part in _cells(line) if part)
        elif line:
            rows.append(dict(zip(fields, _cells(line), strict=True)))
    return document


def _pair(part: str) -> tuple[str, str]:
    name, _, value = part.partition(":")
    return name, value


def _cells(line: str) -> list[str]:
    """The values of a row."""
    found, start = [], 0
    while match := _CELL.match(line, start):
        found.append(_ESCAPED.sub(lambda pair: _ESCAPES[pair[1]], match[1]))
        start = match.end()
        if not match[2]:
            break
    return found
