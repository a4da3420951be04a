"""What notes in Markdown say: a memory for each file, or for each section of one that has several."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mnemic.core.moving.cargo import Cargo, Piece
from mnemic.errors import Invalid
from mnemic.formats import markdown
from mnemic.formats.markdown import Page, Pointer, Section
from mnemic.model.values import iso

SOURCE = "markdown"
ENDINGS = (".md", ".markdown")
PASSED_OVER = frozenset({".git", "node_modules", ".obsidian", ".trash"})
"""Folders whose notes are not one's own."""
RELATED = "related_to"
TITLES, TAGS = ("title", "name"), ("tags", "tag")


@dataclass(frozen=True, slots=True)
class _Note:
    """A section as a memory to be."""

    key: str
    title: str
    page: str
    namespace: str
    text: str
    written_at: str


@dataclass(frozen=True, slots=True)
class _File:
    """A file that could be read."""

    path: Path
    namespace: str
    page: Page
    written_at: str


def cargo_of(path: Path, namespace: str | None) -> Cargo:
    """The notes of a file or a folder; each goes to the namespace that is named after its folder, if none is given."""
    cargo = Cargo()
    notes: list[_Note] = []
    seen: Counter[str] = Counter()
    for file in _files(path, namespace, cargo.flaws):
        for section in file.page.sections:
            if _is_empty(section, file, cargo.flaws):
                continue
            note, piece = _piece(file, section, seen)
            notes.append(note)
            cargo.pieces.append(piece)
    _link(cargo, notes)
    return cargo


def _files(path: Path, namespace: str | None, flaws: list[str]) -> Iterator[_File]:
    for found in _below(path) if path.is_dir() else [path]:
        try:
            text = found.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError:
            flaws.append(f"{found.name}: is no text in UTF-8")
            continue
        except OSError as error:
            flaws.append(f"{found.name}: cannot be read: {error.strerror}")
            continue
        if "\0" in text:
            flaws.append(f"{found.name}: is no text")
            continue
        home = _folder(found) if namespace is None else namespace
        if not _is_text(found.name + home):
            shown = os.fsencode(found.name).decode(errors="backslashreplace")
            flaws.append(f"{shown}: its name or its folder's is no text in UTF-8")
            continue
        yield _File(found, home, markdown.read(text), iso(found.stat().st_mtime_ns // 1_000))


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


def _folder(path: Path) -> str:
    """The name of the folder it lies in, or of the next that is not hidden: a project's, not `.claude`."""
    names = (parent.name for parent in path.resolve().parents)
    chosen = next((name for name in names if name and not name.startswith(".")), "")
    return "-".join(chosen.split())


def _is_empty(section: Section, file: _File, flaws: list[str]) -> bool:
    """Whether there is nothing to remember. A heading that only stands above others lives on in their metadata."""
    if section.text:
        return False
    is_above = any(one.above == section.heading for one in file.page.sections if one.above)
    if not is_above:
        what = f"nothing below {section.heading!r}" if section.heading else "there is nothing in it"
        flaws.append(f"{file.path.name}: {what}")
    return True


def _piece(file: _File, section: Section, seen: Counter[str]) -> tuple[_Note, Piece]:
    facts, is_only = file.page.facts, len(file.page.sections) == 1
    given = next((str(facts[name]) for name in TITLES if isinstance(facts.get(name), str)), "")
    chosen = (given, section.heading) if is_only else (section.heading, given)
    title = next((name for name in chosen if name), file.path.stem)
    identity = f"{SOURCE} {file.path.name}\n{section.heading or ''}"
    key = f"{file.namespace}\n{identity}"
    seen[key] += 1
    identity, key = f"{identity}\n{seen[key]}", f"{key}\n{seen[key]}"
    entry = {
        "title": title,
        "namespace": file.namespace,
        "content": section.text,
        "tags": list(dict.fromkeys(_tags(facts))),
        "tier": "long",
        "source": SOURCE,
        "metadata": _metadata(file, section),
        "created_at": file.written_at,
        "updated_at": file.written_at,
    }
    note = _Note(key, title, file.path.stem, file.namespace, section.text, file.written_at)
    return note, Piece(key=key, entry=entry, label=f"{file.path.name}: {title}", identity=identity)


def _tags(facts: dict[str, Any]) -> Iterator[str]:
    for name in TAGS:
        given = facts.get(name, [])
        items = given if isinstance(given, list) else str(given).replace(",", " ").split()
        yield from (item.lstrip("#") for item in items if item.strip("#"))


def _metadata(file: _File, section: Section) -> dict[str, Any]:
    facts = {name: value for name, value in file.page.facts.items() if name not in TAGS}
    above = {"under": section.above} if section.above else {}
    return {**facts, **above, "file": file.path.name}


def _link(cargo: Cargo, notes: Sequence[_Note]) -> None:
    """Link each note with those it points to; one that is not there becomes a name that links can point to."""
    index = _Index(notes)
    for note in notes:
        for pointer in markdown.pointers(note.text):
            target = index.found(pointer, note)
            if target is None:
                name = pointer.page or pointer.heading
                target = f"name {note.namespace}\n{name}"
                cargo.names[target] = (note.namespace, name)
            if target != note.key:
                cargo.links.append(_pointing(note, target))


def _pointing(note: _Note, target: str) -> dict[str, str]:
    """The link from *note*; one that was ended here is known again by the moment it was written at."""
    return {
        "source_id": note.key,
        "target_id": target,
        "relation": RELATED,
        "created_at": note.written_at,
    }


class _Index:
    """The notes by the names under which others point to them, whatever the case."""

    def __init__(self, notes: Iterable[_Note]):
        self._known: dict[tuple[str, ...], list[_Note]] = {}
        for note in notes:
            for name in ((note.page,), (note.page, note.title), ("", note.title)):
                self._known.setdefault(tuple(part.casefold() for part in name), []).append(note)

    def found(self, pointer: Pointer, at: _Note) -> str | None:
        """The key of the note that *pointer* means where it stands, one of the same namespace if there are several."""
        page = pointer.page or at.page
        names: list[tuple[str, ...]] = [(page, pointer.heading)] if pointer.heading else []
        names += [(page,), ("", page)] if pointer.page else [("", pointer.heading)]
        for name in names:
            known = self._known.get(tuple(part.casefold() for part in name), [])
            near = [note for note in known if note.namespace == at.namespace]
            if known:
                return (near or known)[0].key
        return None
