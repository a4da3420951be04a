"""TOON, the token-oriented notation of ai-memory: what the fields are is said once, then comes a row for each memory.

A pipe is written `\\|` and a line break `\\n`, and everything else as it is, a backslash too: so its document wants it,
although a path such as `C:\\new` then reads as if it had a line break.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

COMPACT = ("id", "title", "tier", "namespace", "priority", "score", "tags")
FULL = (
    *("id", "title", "tier", "namespace", "priority", "confidence", "score", "access_count"),
    *("tags", "source", "created_at", "updated_at"),
)
STANDARD = ("id", "title", "content")
META = ("count", "mode")


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
    """One value as written in a row."""
    match value:
        case None:
            return ""
        case bool():
            return "1" if value else "0"
        case str():
            return value.replace("|", r"\|").replace("\n", r"\n")
        case Mapping():
            return "[object]"
        case list() | tuple():
            return cell(",".join(map(str, value)))
    return str(value)
