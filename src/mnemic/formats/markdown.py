"""Notes in Markdown: what stands before the text, the sections it has, and the notes it points to.

What stands before it is read without YAML: `key: value`, lists in brackets or as `- item` lines, and one level of
keys below a key. A line that is none of these is kept as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

UNREAD = "front_matter"
"""Where lines are kept that could not be read."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,2})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_PAIR = re.compile(r"([^\s:#\-\[{][^:]*?)\s*:(?:\s+(.*))?")
_LINK = re.compile(r"(?<!!)\[\[([^\[\]|#\n]*)(?:#([^\[\]|\n]*))?(?:\|[^\[\]\n]*)?\]\]")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a note: its heading (none for what stands before the first), the one above it, and its text."""

    heading: str | None
    above: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """A note: what is said of it, and its sections."""

    facts: dict[str, Any] = field(default_factory=dict)
    sections: tuple[Section, ...] = ()


@dataclass(frozen=True, slots=True)
class Pointer:
    """A link to another note, or with an empty page to this one, and to a heading in it."""

    page: str
    heading: str


def read(text: str) -> Page:
    """The note that *text* is. It has one section unless it has several headings of the first two levels."""
    facts, body = _front(text.replace("\r\n", "\n"))
    found = list(_sections(body))
    if sum(section.heading is not None for section in found) > 1:
        return Page(facts, tuple(found))
    return Page(facts, (_whole(body, found),))


def _whole(body: str, found: list[Section]) -> Section:
    """A note that is one section: the heading is no part of the text if it stands before it."""
    named = next((section for section in found if section.heading is not None), None)
    if named is not None and found[0] is named:
        return named
    return Section(named.heading if named else None, None, body.strip())


def _sections(body: str) -> Iterator[Section]:
    """What stands before the first heading, if anything, and then a section for each."""
    heading: str | None = None
    above = first = None
    lines: list[str] = []
    for line, is_code in _lines(body):
        found = None if is_code else _HEADING.fullmatch(line)
        if not found or not found[2]:
            lines.append(line)
            continue
        if heading is not None or any(map(str.strip, lines)):
            yield Section(heading, above, "\n".join(lines).strip())
        heading, lines = found[2].strip(), []
        above = first if len(found[1]) == 2 else None
        first = heading if len(found[1]) == 1 else first
    if heading is not None or any(map(str.strip, lines)):
        yield Section(heading, above, "\n".join(lines).strip())


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Every line, and whether it is part of fenced code."""
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            yield line, True
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        else:
            yield line, mark is not None
            fence = mark[1] if mark else ""


def pointers(text: str) -> list[Pointer]:
    """The notes that *text* points to with `[[…]]`, each once; what is code points nowhere."""
    plain = _CODE.sub("", "\n".join(line for line, is_code in _lines(text) if not is_code))
    found = (Pointer(_stem(page), (heading or "").strip()) for page, heading in _LINK.findall(plain))
    return [one for one in dict.fromkeys(found) if one.page or one.heading]


def _stem(page: str) -> str:
    return page.strip().replace("\\", "/").rpartition("/")[2].removesuffix(".md").strip()


# -- what stands before the text


def _front(text: str) -> tuple[dict[str, Any], str]:
    """What stands between two lines of dashes at the very beginning, and the rest."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return {}, text
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() in ("---", "..."):
            return _facts(lines[1:number]), "\n".join(lines[number + 1 :])
    return {}, text


def _facts(lines: list[str]) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    unread: list[str] = []
    key = None
    below: list[str] = []
    for line in [*lines, ""]:
        pair = _PAIR.fullmatch(line) if line and not line[0].isspace() else None
        is_below = line.strip() and (line[0].isspace() or line.startswith("- "))
        if is_below and key is not None:
            below.append(line)
            continue
        if key is not None and below:
            facts[key] = _block(facts[key], below)
        below = []
        if pair:
            key = pair[1].strip("\"'")
            facts[key] = _value(pair[2] or "")
        elif line.strip() and not line.lstrip().startswith("#"):
            key = None
            unread.append(line)
    return {**facts, UNREAD: unread} if unread else facts


def _value(text: str) -> Any:
    """A value on the line of its key: a list in brackets, else a text without the quotes around it."""
    text = text.strip()
    if len(text) > 1 and text[0] == "[" and text[-1] == "]":
        return [_plain(item) for item in text[1:-1].split(",") if item.strip()]
    return _plain(text)


def _plain(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _block(value: Any, lines: list[str]) -> Any:
    """A value that goes on below its key: a list, keys of its own, or more of the text."""
    items = [line.strip() for line in lines]
    if not value and all(item.startswith("- ") for item in items):
        return [_plain(item[2:]) for item in items]
    pairs = [_PAIR.fullmatch(item) for item in items]
    if not value and all(pairs):
        return {pair[1]: _value(pair[2] or "") for pair in pairs if pair}
    is_marked = isinstance(value, str) and re.fullmatch(r"[|>][+-]?", value)
    start = [] if is_marked or not value else [str(value)]
    return ("\n" if is_marked and value[0] == "|" else " ").join([*start, *items])
