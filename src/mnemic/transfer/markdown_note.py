"""Markdown notes: their front matter, sections and wiki links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mnemic.transfer import front_matter
from mnemic.transfer.front_matter import FrontMatterError

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,2})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_LINK = re.compile(r"(?<!!)\[\[([^\[\]|#\n]*)(?:#([^\[\]|\n]*))?(?:\|[^\[\]\n]*)?\]\]")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)

_INCLUSION = re.compile(r"(?<!\S)@([^\s@][^\s]*\.(?:md|markdown))\b", re.IGNORECASE)
_INCLUDING = re.compile(rf"\s*(?:[-*+] +)?{_INCLUSION.pattern}\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a note: its heading (none before the first), the one above it, and its text."""

    heading: str | None
    above: str | None
    text: str
    first: int = field(default=0, compare=False)
    """Its lines in the note behind the front matter: from the one below its heading on."""
    last: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class NotePage:
    """A note: the keys of its front matter, its sections, and why the front matter could not be read, if so."""

    facts: dict[str, Any] = field(default_factory=dict)
    sections: tuple[Section, ...] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Pointer:
    """A link to another note, or with an empty page to this one, and to a heading in it."""

    page: str
    heading: str


def read(text: str) -> NotePage:
    """The note that *text* is. It has one section unless it has several headings of the first two levels.

    Front matter that is not valid YAML stays in the text.
    """
    text = text.replace("\r\n", "\n")
    head, body = front_matter.split(text)
    try:
        facts = front_matter.read(head) if head else {}
    except FrontMatterError as error:
        return NotePage({}, _parts(text, _led(head, list(_sections(body)))), str(error))
    if facts is None:
        return NotePage({}, _parts(text, list(_sections(text))))
    return NotePage(facts, _parts(body, list(_sections(body))))


def _parts(body: str, found: list[Section]) -> tuple[Section, ...]:
    """The sections *found* in *body* if several have headings, else one for all of it."""
    if sum(section.heading is not None for section in found) > 1:
        return tuple(found)
    return (_whole(body, found),)


def _led(head: str, found: list[Section]) -> list[Section]:
    """The sections *found*, with *head* as text in front of them."""
    if found and found[0].heading is None:
        return [Section(None, None, f"{head}\n{found[0].text}"), *found[1:]]
    return [Section(None, None, head), *found]


def _whole(body: str, found: list[Section]) -> Section:
    """A note that is one section: a heading before the text is no part of it."""
    named = next((section for section in found if section.heading is not None), None)
    if named is not None and found[0] is named:
        return named
    return Section(named.heading if named else None, None, body.strip(), 0, body.count("\n") + 1)


def _sections(body: str) -> Iterator[Section]:
    """The text before the first heading, if any, then a section for each heading."""
    heading: str | None = None
    above = first = None
    lines: list[str] = []
    place = 0
    for number, (line, is_code) in enumerate(_lines(body)):
        found = None if is_code else _HEADING.fullmatch(line)
        if not found or not found[2]:
            lines.append(line)
            continue
        if heading is not None or any(map(str.strip, lines)):
            yield Section(heading, above, "\n".join(lines).strip(), place, number)
        heading, lines, place = found[2].strip(), [], number + 1
        above = first if len(found[1]) == 2 else None
        first = heading if len(found[1]) == 1 else first
    if heading is not None or any(map(str.strip, lines)):
        yield Section(heading, above, "\n".join(lines).strip(), place, place + len(lines))


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
    """The notes that *text* points to with `[[…]]`, each once; code is ignored."""
    found = (
        Pointer(_stem(page), (heading or "").strip()) for page, heading in _LINK.findall(_without_code(text))
    )
    return [one for one in dict.fromkeys(found) if one.page or one.heading]


def inclusions(text: str) -> list[str]:
    """The files that *text* includes with `@path`, as Claude Code and Gemini CLI read it; code is ignored."""
    return list(dict.fromkeys(_INCLUSION.findall(_without_code(text))))


def is_inclusion(text: str) -> bool:
    """Whether *text* does nothing but include other notes, so that there is nothing to remember in it."""
    lines = [line for line in text.split("\n") if line.strip()]
    return bool(lines) and all(map(_INCLUDING.fullmatch, lines))


def _without_code(text: str) -> str:
    return _CODE.sub("", "\n".join(line for line, is_code in _lines(text) if not is_code))


def _stem(page: str) -> str:
    return page.strip().replace("\\", "/").rpartition("/")[2].removesuffix(".md").strip()
