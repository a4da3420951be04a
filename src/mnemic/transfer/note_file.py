"""A Markdown file of a mirror: what it says of a memory or of several, and how memories are written into it.

What a file says is a mapping from keys to values: `title`, `kind`, `summary` and so on, `tags`, `metadata:KEY`,
`link:TYPE` and the text. The same is said of a memory, so that both can be compared.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mnemic.client_config import instruction_block
from mnemic.errors import Invalid
from mnemic.model import limits
from mnemic.model.enums import Tier
from mnemic.model.memory import MEMORY_RULES, Memory, body_of
from mnemic.model.time import Moment, iso, parse_moment
from mnemic.transfer import front_matter, markdown_note
from mnemic.transfer.markdown import PATH
from mnemic.transfer.markdown_note import NotePage, Section
from mnemic.transfer.three_way_merge import METADATA

TEXT, TITLE, TAGS, LINK = "text", "title", "tags", "link:"
UID, STATEMENTS, CONFLICT = "uid", "statements", "conflict_of"
"""Keys of the front matter that are ours: which memory it is, that its text is a list, what a copy is a copy of."""
WORDS = {
    TITLE: ("title", "name"),
    TAGS: ("tags", "tag"),
    "kind": ("kind", "type"),
    "summary": ("summary", "description"),
}
"""What a field may be called in the front matter; the first is what we call it."""
NUMBERS = {"priority": 5, "confidence": 1.0}
MOMENTS = ("valid_from", "valid_to", "expires_at")
USUAL = {**NUMBERS, "kind": "note", "tier": str(Tier.LONG)}
"""What a field is if nothing is said of it; a note that says so says nothing."""
SILENT = frozenset({"file", "headings"})
"""Metadata that tells where a note stands, which the file does by itself."""
_ITEM = re.compile(r"[-*+] ")
_WIKILINK = re.compile(r"\[\[([^\[\]\n|#]+)(?:#[^\[\]\n|]*)?(?:\|[^\[\]\n]*)?\]\]")

Said = dict[str, Any]


@dataclass(frozen=True, slots=True)
class NoteFile:
    """A note as read from its file."""

    block: str
    """The front matter with its dashes, empty if there is none."""
    body: str
    page: NotePage

    @property
    def uid(self) -> str | None:
        """The uid of the memory that the whole file is; None if the file is not ours."""
        told = self.page.facts.get(UID)
        if not isinstance(told, str):
            return None
        try:
            return str(uuid.UUID(told))
        except ValueError:
            raise Invalid(
                f"uid: {told[:40]!r} is none; remove the line to store the note as a new memory"
            ) from None

    @property
    def is_conflict(self) -> bool:
        """Whether it is a copy of a version that lost, which is no memory."""
        return CONFLICT in self.page.facts

    @property
    def sections(self) -> Sequence[Section]:
        """What becomes a memory each: all of it, or the sections of a note with several headings."""
        if self.uid is not None:
            whole = self.body.strip("\n")
            return (Section(None, None, whole, 0, self.body.count("\n") + 1),)
        return [
            section
            for section in self.page.sections
            if section.text and not markdown_note.is_inclusion(section.text)
        ]

    @property
    def is_whole(self) -> bool:
        """Whether the file is one memory."""
        return self.uid is not None or len(self.page.sections) == 1


def parse(text: str) -> NoteFile:
    """The note in *text*; Invalid if its front matter is no YAML."""
    text = text.replace("\r\n", "\n")
    block, body = front_matter.split(text)
    page = markdown_note.read(instruction_block.blanked(text))
    if page.fault:
        raise Invalid(f"front matter: {page.fault}")
    is_rule = block and not page.facts and front_matter.read(block) is None
    return NoteFile("", text, page) if is_rule else NoteFile(block, body, page)


# -- what is said


def said_by_file(note: NoteFile, section: Section, stem: str, now: Moment) -> Said:
    """What a file says of the memory that *section* is; Invalid, with the name of the field, if that is none."""
    facts = note.page.facts
    said: Said = {TEXT: plain(section.text), TAGS: _tags(facts), TITLE: _title(note, section, stem)}
    if facts.get(STATEMENTS) == "list":
        said[TEXT] = _items(section.text)
    for name in ("kind", "summary"):
        if told := _told(facts, name):
            said[name] = told
    said |= _checked(facts, now)
    for key, value in facts.items():
        if key in _known_keys() or key in SILENT:
            continue
        if links := _links(value):
            said[f"{LINK}{key}"] = links
        else:
            said[f"{METADATA}{key}"] = value
    return {key: value for key, value in said.items() if USUAL.get(key) != value}


def _known_keys() -> set[str]:
    return {UID, STATEMENTS, CONFLICT, "tier", "namespace", "created", *NUMBERS, *MOMENTS}.union(
        *WORDS.values()
    )


def _title(note: NoteFile, section: Section, stem: str) -> str:
    given = _told(note.page.facts, TITLE)
    if note.is_whole:
        return given or (note.uid is None and section.heading) or stem
    names = (given or (stem if section.above is None else ""), section.above, section.heading)
    return PATH.join(dict.fromkeys(name for name in names if name)) or stem


def _told(facts: Mapping[str, Any], name: str) -> str:
    """The text that the front matter gives a field under one of its names."""
    for word in WORDS[name]:
        told = facts.get(word)
        if isinstance(told, str) and told.strip():
            return " ".join(told.split())
    nested = facts.get("metadata")
    if name == "kind" and isinstance(nested, dict) and isinstance(nested.get("type"), str):
        return str(nested["type"])
    return ""


def _checked(facts: Mapping[str, Any], now: Moment) -> Said:
    said: Said = {}
    for name in NUMBERS:
        if facts.get(name):
            said[name] = _number(name, facts[name])
    for name in MOMENTS:
        if facts.get(name):
            said[name] = parse_moment(str(facts[name]), name, now)
    if facts.get("tier"):
        if facts["tier"] not in list(Tier):
            raise Invalid(f"tier: must be short, mid or long, not {str(facts['tier'])[:40]!r}", "tier")
        said["tier"] = str(facts["tier"])
    return said


def _number(name: str, told: Any) -> float:
    try:
        value = int(told) if name == "priority" else float(told)
    except (TypeError, ValueError):
        raise Invalid(f"{name}: must be a number, not {str(told)[:40]!r}", name) from None
    MEMORY_RULES[name](name, value)
    return value


def _tags(facts: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    for word in WORDS[TAGS]:
        told = facts.get(word, [])
        items = told.replace(",", " ").split() if isinstance(told, str) else told
        found += [item.strip().lstrip("#") for item in items if isinstance(item, str)]
    return sorted({tag for tag in found if tag})


def _links(value: Any) -> list[str]:
    """The notes that a value names, if it is nothing but links to notes."""
    items = value if isinstance(value, list) else [value]
    found = [_WIKILINK.fullmatch(item.strip()) if isinstance(item, str) else None for item in items]
    return sorted(match[1].strip() for match in found if match) if items and all(found) else []


def said_by_memory(memory: Memory, links: Mapping[str, Sequence[str]] | None = None) -> Said:
    """The same of a memory, with the names of what it links to by type."""
    said: Said = {TEXT: plain(memory.content), TAGS: sorted(memory.tags), TITLE: memory.title}
    if is_listed(memory):
        said[TEXT] = [plain(text) for text in memory.texts if text.strip()]
    said |= {"kind": memory.kind} if memory.kind != USUAL["kind"] else {}
    said |= {"summary": " ".join(memory.summary.split())} if memory.summary else {}
    said |= {name: getattr(memory, name) for name, usual in NUMBERS.items() if getattr(memory, name) != usual}
    said |= {name: getattr(memory, name) for name in MOMENTS if getattr(memory, name) is not None}
    said |= {"tier": str(memory.tier)} if memory.tier is not Tier.LONG else {}
    for key, value in memory.metadata.items():
        if key not in SILENT and key not in _known_keys():
            said[f"{METADATA}{key}"] = as_text(value)
    return said | {f"{LINK}{type}": sorted(names) for type, names in (links or {}).items() if names}


def is_listed(memory: Memory) -> bool:
    """Whether a file shows the statements of *memory* as a list."""
    return len(memory.statements) > 1 and limits.is_statement(memory.content)


def as_text(value: object) -> Any:
    """A value of metadata as the front matter is read: texts, lists and mappings."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return [as_text(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): as_text(item) for key, item in value.items()}
    return "" if value is None else str(value)


def fields_of(said: Mapping[str, Any], changed: Iterable[str], memory: Memory | None) -> dict[str, Any]:
    """The fields of a memory that *changed* sets, for a patch or a draft."""
    fields: dict[str, Any] = {}
    metadata = dict(memory.metadata) if memory else {}
    for key in changed:
        value = said.get(key)
        if key.startswith(METADATA):
            metadata[key.removeprefix(METADATA)] = value
        elif key == TEXT:
            fields["texts"] = tuple(value) if isinstance(value, list) else body_of(value or "")
        elif key == TAGS:
            fields["tags"] = tuple(value or ())
        elif key == "tier":
            fields["tier"] = Tier(value or Tier.LONG)
        elif key in NUMBERS:
            fields[key] = NUMBERS[key] if value is None else value
        elif key == "kind":
            fields["kind"] = value or "note"
        elif key != TITLE and not key.startswith(LINK):
            fields[key] = value
    told = {key: value for key, value in metadata.items() if value is not None}
    return fields | ({"metadata": told} if not memory or told != dict(memory.metadata) else {})


# -- writing


EMPTY = NoteFile("", "", NotePage())
"""A file that is to be made."""
CLAUDE_CODE = NoteFile("", "", NotePage({"name": "", "description": "", "type": ""}))
"""The same in the memory folder of Claude Code, which calls fields otherwise."""


def written(note: NoteFile, memory: Memory, said: Said, shown: Said, stem: str) -> str:
    """The text of a file that holds one memory, so that it says *said* where it says *shown* now."""
    is_new = not note.block and not note.body
    keys: dict[str, Any] = {UID: memory.uid} if is_new else {}
    facts = note.page.facts
    if is_new and facts:  # Claude Code wants to know what a note is about before it opens it.
        keys |= {"name": said[TITLE], "description": said.get("summary") or said[TITLE]}
    for key in {**said, **shown}:
        if key != TEXT and said.get(key) != shown.get(key):
            keys |= _front_keys(facts, key, said.get(key), stem)
    is_list = isinstance(said[TEXT], list)
    if is_list != (facts.get(STATEMENTS) == "list"):
        keys[STATEMENTS] = "list" if is_list else None
    if facts.get(UID) not in (None, memory.uid):
        keys[UID] = memory.uid  # a copy of another note
    if is_new:
        keys["created"] = iso(memory.created_at)
    block = front_matter.edited(note.block, keys) if keys else note.block
    body = note.body if said[TEXT] == shown.get(TEXT) else _with_text(note, said[TEXT])
    return f"{block}\n{body}" if block else body


def _front_keys(facts: Mapping[str, Any], key: str, value: Any, stem: str) -> dict[str, Any]:
    """What to set in the front matter so that *key* is *value*, under the name it has there already."""
    if key.startswith(METADATA):
        return {key.removeprefix(METADATA): value}
    if key.startswith(LINK):
        links = [f"[[{name}]]" for name in value or ()]
        return {key.removeprefix(LINK): links or None}
    if key in MOMENTS:
        return {key: None if value is None else iso(value)}
    word = next((name for name in WORDS.get(key, ()) if name in facts), key)
    if key == TITLE and value == stem:
        value = None
    return {word: value or None}


def _with_text(note: NoteFile, text: str | list[str]) -> str:
    """The body with another text in the place of the one section."""
    told = _listed(text) if isinstance(text, list) else text
    sections = note.sections
    return replaced(note, sections[0], told) if note.block or note.body else f"{told}\n"


def replaced(note: NoteFile, section: Section, text: str | None) -> str:
    """The body with *text* as that of *section*; for None without the section and its heading."""
    lines = note.body.split("\n")
    first, last = section.first, section.last
    held, ours, rest = _around_block(lines[first:last])
    if text is None:
        head = first - (section.heading is not None)
        return "\n".join([*lines[:head], *ours, *lines[last:]])
    before, after = _blank_around(held)
    after = after or ([] if lines[last:] or ours else [""])
    behind = _blank_around(rest)[1] if any(map(str.strip, rest)) else rest
    told = [*before, *text.split("\n"), *after, *ours, *behind]
    return "\n".join([*lines[:first], *told, *lines[last:]])


def _around_block(lines: list[str]) -> tuple[list[str], list[str], list[str]]:
    """The lines before the block that `mnemic install` wrote, the block, and the lines behind it."""
    text = "\n".join(lines)
    first = len(text.partition(instruction_block.BEGIN)[0].split("\n")) - 1
    behind = len(text.partition(instruction_block.END)[0].split("\n"))
    if first >= behind or behind > len(lines) or instruction_block.END not in text:
        return lines, [], []
    return lines[:first], lines[first:behind], lines[behind:]


def _blank_around(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """The blank lines before and behind a text, which stay."""
    count = len(lines)
    head = next((place for place, line in enumerate(lines) if line.strip()), count)
    tail = next((place for place, line in enumerate(reversed(lines)) if line.strip()), 0)
    return list(lines[:head]) if head < count else [], list(lines[count - tail :]) if tail else []


def conflict_copy(text: str, uid: str) -> str:
    """A version that lost, as a file of its own that is no memory."""
    note = parse(text)
    block = front_matter.edited(note.block, {UID: None, CONFLICT: uid})
    return f"{block}\n{note.body}"


def _listed(texts: Sequence[str]) -> str:
    """Statements as a list, further lines of one indented."""
    return "\n".join("- " + text.replace("\n", "\n  ").replace("\n  \n", "\n\n") for text in texts)


def _items(text: str) -> list[str]:
    """The statements of a list; the text before it is one too."""
    items: list[list[str]] = []
    for line in text.split("\n"):
        if _ITEM.match(line):
            items.append([line[2:]])
        elif items and (not line.strip() or line.startswith("  ")):
            items[-1].append(line[2:])
        elif items and items[-1][-1].strip():
            items[-1].append(line)
        else:
            items.append([line])
    return [told for told in (plain("\n".join(item)) for item in items) if told]


def plain(text: str) -> str:
    """*text* as a file gives it back: without blank lines and blanks around it."""
    return text.replace("\r\n", "\n").strip()
