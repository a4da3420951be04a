"""What notes in Markdown say: a memory for each file, or for each section of one that has several."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from mnemic.client_config.instruction_block import without_block
from mnemic.errors import Invalid
from mnemic.model.time import iso
from mnemic.transfer import markdown_note
from mnemic.transfer.foreign_memories import ForeignContent, ForeignMemory
from mnemic.transfer.markdown_note import NotePage, Pointer, Section
from mnemic.transfer.note_identity import NotePaths
from mnemic.transfer.records import FlawRecord

SOURCE = "markdown"
ENDINGS = (".md", ".markdown")
PASSED_OVER = frozenset({".git", "node_modules", ".obsidian", ".trash"})
"""Folders whose notes are not one's own."""
RELATED = "related_to"
PATH = " › "
"""Stands between the headings of a path."""
TITLES, TAGS = ("title", "name"), ("tags", "tag")
SUMMARIES, KINDS = ("summary", "description"), ("kind", "type")
UID, CREATED = "uid", "created"
"""What the front matter of a note that Mnemic has written says of its memory."""
FIELDS = ("priority", "confidence", "tier", "valid_from", "valid_to", "expires_at")
"""What it may say of it besides, as the memory's fields are called."""
_UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
INDEX = "MEMORY.md"
"""What Claude Code calls the list of the notes in its memory folder."""
INDEX_LINE = re.compile(r"\s*[-*] \[[^\]]*\]\(([^)]+\.md)\)")


def is_index(page: NotePage) -> bool:
    """Whether a note only lists others, as the one does in which Claude Code keeps the contents of its folder."""
    lines = [line for section in page.sections for line in section.text.split("\n") if line.strip()]
    return bool(lines) and all(map(INDEX_LINE.match, lines))


@dataclass(frozen=True, slots=True)
class _Note:
    """A section as a memory to be."""

    key: str
    title: str
    page: str
    folders: tuple[str, ...]
    namespace: str
    text: str
    written_at: str


@dataclass(frozen=True, slots=True)
class _File:
    """A file that could be read, and by which paths it is known: the first is its name."""

    path: Path
    names: Sequence[str]
    namespace: str
    page: NotePage
    written_at: str


def content_of(path: Path, namespace: str) -> ForeignContent:
    """The notes of a file or a folder, for *namespace*."""
    is_folder = path.is_dir()
    return content_of_files(
        path if is_folder else path.parent, _below(path) if is_folder else [path], namespace
    )


def content_of_files(folder: Path, paths: Sequence[Path], namespace: str) -> ForeignContent:
    """The notes of these files, most of which lie in *folder*."""
    content = ForeignContent()
    notes: list[_Note] = []
    seen: Counter[str] = Counter()
    for file in _files(NotePaths(folder, paths), paths, namespace, content.flaws):
        if file.path.name == INDEX and is_index(file.page):
            continue
        for section in file.page.sections:
            if _is_empty(section, file, content.flaws):
                continue
            note, coming = _memory_of(file, section, seen)
            notes.append(note)
            content.memories.append(coming)
    _link(content, notes)
    return content


def _files(
    known: NotePaths, paths: Iterable[Path], namespace: str, flaws: list[FlawRecord]
) -> Iterator[_File]:
    for found in paths:
        name = known.name(found)
        try:
            text = found.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError:
            flaws.append(FlawRecord(name, "is no text in UTF-8"))
            continue
        except OSError as error:
            flaws.append(FlawRecord(name, f"cannot be read: {error.strerror}"))
            continue
        if "\0" in text:
            flaws.append(FlawRecord(name, "is no text"))
            continue
        if not _is_text(found.name):
            shown = os.fsencode(found.name).decode(errors="backslashreplace")
            flaws.append(FlawRecord(shown, "its name is no text in UTF-8"))
            continue
        page = markdown_note.read(without_block(text))
        if page.fault:
            flaws.append(
                FlawRecord(f"the front matter of {name}", f"{page.fault}; it is kept as text of the note")
            )
        written_at = iso(found.stat().st_mtime_ns // 1_000)
        yield _File(found, known.identities(found), namespace, page, written_at)


def _is_text(name: str) -> bool:
    try:
        return bool(name.encode())
    except UnicodeEncodeError:
        return False


def _below(folder: Path) -> list[Path]:
    found = [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix.lower() in ENDINGS
        and PASSED_OVER.isdisjoint(path.relative_to(folder).parts[:-1])
        and path.is_file()
    ]
    if not found:
        raise Invalid(f"There is no Markdown file in {folder.name or folder}.", "file")
    return found


def _is_empty(section: Section, file: _File, flaws: list[FlawRecord]) -> bool:
    """Whether there is nothing to remember. A heading without text is kept in the metadata of those below it."""
    if section.text:
        return markdown_note.is_inclusion(section.text)
    is_above = any(one.above == section.heading for one in file.page.sections if one.above)
    if not is_above:
        what = f"nothing below {section.heading!r}" if section.heading else "there is nothing in it"
        flaws.append(FlawRecord(file.names[0], what))
    return True


def _memory_of(file: _File, section: Section, seen: Counter[str]) -> tuple[_Note, ForeignMemory]:
    facts, is_only = file.page.facts, len(file.page.sections) == 1
    given = next((title for name in TITLES if (title := _title(facts.get(name)))), "")
    chosen = (given, section.heading) if is_only else (section.heading, given)
    heading = next((name for name in chosen if name), file.path.stem)
    title = heading if is_only else PATH.join(_path(file, section, given))
    place = f"{file.path}\n{section.heading or ''}"
    seen[place] += 1
    identity, *former = section_identities(file.names, section.heading, seen[place])
    key = f"{file.namespace}\n{identity}"
    uid = _uid(facts) if is_only else ""
    entry = {
        "title": title,
        "namespace": file.namespace,
        "content": section.text,
        **_described(facts),
        "tags": list(dict.fromkeys(_tags(facts))),
        "tier": "long",
        "source": SOURCE,
        "metadata": _metadata(file, section),
        "created_at": file.written_at,
        "updated_at": file.written_at,
    } | (_written_here(facts, file) if uid else {})
    folders = tuple(file.names[0].split("/")[:-1])
    note = _Note(key, heading, file.path.stem, folders, file.namespace, section.text, file.written_at)
    label = f"{file.names[0]}: {title}"
    return note, ForeignMemory(
        key=key, entry=entry, label=label, uid=uid, identity=identity, former=tuple(former)
    )


def _uid(facts: Mapping[str, Any]) -> str:
    """The uid that the front matter gives a note which Mnemic has written; nothing if it gives none."""
    uid = facts.get(UID)
    return uid if isinstance(uid, str) and _UID.fullmatch(uid) else ""


def _written_here(facts: Mapping[str, Any], file: _File) -> dict[str, Any]:
    """What the front matter of a note says that Mnemic has written: fields, and metadata for the rest."""
    texts = {name: facts[name] for name in FIELDS if isinstance(facts.get(name), str)}
    words = {UID, CREATED, *FIELDS, *TITLES, *TAGS, *SUMMARIES, *KINDS}
    rest = {name: value for name, value in facts.items() if name not in words}
    created = facts.get(CREATED) if isinstance(facts.get(CREATED), str) else None
    numbers: dict[str, Any] = {
        name: _as_number(texts[name]) for name in ("priority", "confidence") if name in texts
    }
    return {**texts, **numbers, "metadata": rest, "created_at": created or file.written_at}


def _as_number(digits: str) -> float | str:
    try:
        return int(digits) if digits.isdigit() else float(digits)
    except ValueError:
        return digits


def section_identities(paths: Iterable[str], heading: str | None, number: int) -> list[str]:
    """What the section under a *heading*, the first or which of its file, is known by: of each of these paths."""
    return [f"{SOURCE} {path}\n{heading or ''}\n{number}" for path in paths]


def _path(file: _File, section: Section, given: str) -> list[str]:
    """The heading path of a section: the title of its page, the heading above it and its own.

    Twelve records of decisions have twelve sections called "Decision", which only this tells apart.
    """
    page = given or (file.path.stem if section.above is None else "")
    names = (page, section.above, section.heading)
    return list(dict.fromkeys(name for name in names if name))


def _described(facts: Mapping[str, Any]) -> dict[str, str]:
    """The summary and the kind, under the names that Obsidian and Claude Code give them too."""
    nested = facts.get("metadata")
    type = nested.get("type") if isinstance(nested, dict) else None
    summary = next((text for name in SUMMARIES if (text := _title(facts.get(name)))), "")
    kind = next((text for name in KINDS if (text := _title(facts.get(name)))), _title(type))
    return {name: text for name, text in (("summary", summary), ("kind", kind)) if text}


def _title(given: Any) -> str:
    return " ".join(given.split()) if isinstance(given, str) else ""


def _tags(facts: dict[str, Any]) -> Iterator[str]:
    for name in TAGS:
        given = facts.get(name, [])
        items = given.replace(",", " ").split() if isinstance(given, str) else _texts(given)
        yield from (item.strip().lstrip("#") for item in items if item.strip("# \n"))


def _texts(given: Any) -> Iterator[str]:
    """The texts in a list and in the lists below it."""
    for item in given if isinstance(given, list) else ():
        if isinstance(item, str):
            yield item
        else:
            yield from _texts(item)


def _is_list_of_tags(given: Any) -> bool:
    return isinstance(given, str) or (isinstance(given, list) and all(map(_is_list_of_tags, given)))


def _metadata(file: _File, section: Section) -> dict[str, Any]:
    """What else is said of the note. Tags that are no texts cannot become tags, so they are kept here."""
    facts = {
        name: value
        for name, value in file.page.facts.items()
        if name not in TAGS or not _is_list_of_tags(value)
    }
    headings = [name for name in (section.above, section.heading) if name]
    path = {"headings": headings} if headings else {}
    return {**facts, **path, "file": file.names[0]}


def _link(content: ForeignContent, notes: Sequence[_Note]) -> None:
    """Link each note with those it points to; one that is not there becomes a name that links can point to."""
    index = _Index(notes)
    for note in notes:
        for pointer in markdown_note.pointers(note.text):
            target = index.found(pointer, note)
            if target is None:
                name = pointer.page or pointer.heading
                target = f"name {note.namespace}\n{name}"
                content.names[target] = (note.namespace, name)
            if target != note.key:
                content.links.append(_pointing(note, target))


def _pointing(note: _Note, target: str) -> dict[str, str]:
    """The link from *note*; one that was ended here is known again by the moment it was written at."""
    return {
        "source_id": note.key,
        "target_id": target,
        "relation": RELATED,
        "created_at": note.written_at,
    }


class _Index:
    """The notes by the names under which others link to them, ignoring case."""

    def __init__(self, notes: Iterable[_Note]):
        self._known: dict[tuple[str, ...], list[_Note]] = {}
        for note in notes:
            for name in ((note.page,), (note.page, note.title), ("", note.title)):
                self._known.setdefault(tuple(part.casefold() for part in name), []).append(note)

    def found(self, pointer: Pointer, at: _Note) -> str | None:
        """The key of the note that *pointer* means: of several the one in the same namespace, then the nearest."""
        page = pointer.page or at.page
        names: list[tuple[str, ...]] = [(page, pointer.heading)] if pointer.heading else []
        names += [(page,), ("", page)] if pointer.page else [("", pointer.heading)]
        for name in names:
            known = self._known.get(tuple(part.casefold() for part in name), [])
            if known:
                return max(known, key=lambda note: _nearness(note, at)).key
        return None


def _nearness(note: _Note, at: _Note) -> tuple[bool, int]:
    shared = takewhile(lambda pair: pair[0] == pair[1], zip(note.folders, at.folders, strict=False))
    return note.namespace == at.namespace, sum(1 for _ in shared)
