"""From the store to the files: memories that changed are written, files of deleted ones go to the trash."""

from __future__ import annotations

import codecs
import os
import shutil
import uuid
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, unquote

from mnemic.core.context import GLOBAL
from mnemic.core.memories import SUPERSEDES
from mnemic.errors import Invalid
from mnemic.model.annotations import is_hidden
from mnemic.model.change import Position
from mnemic.model.enums import State
from mnemic.model.filter import AliasFilter, EdgeFilter
from mnemic.model.memory import Memory
from mnemic.storage.base import Reader
from mnemic.storage.queries import each_memory, numbers
from mnemic.transfer import note_file
from mnemic.transfer.claude_code import FILE, READ_ANYWAY, is_memory_folder
from mnemic.transfer.exporter import batched
from mnemic.transfer.file_names import file_name, unused_name
from mnemic.transfer.folder_changes import changed_ids
from mnemic.transfer.folder_state import (
    FilePart,
    FileState,
    FolderPass,
    digest,
    folder_of,
    is_elsewhere,
    stem_of,
)
from mnemic.transfer.markdown import INDEX, INDEX_LINE, RELATED
from mnemic.transfer.markdown_note import Section, pointers
from mnemic.transfer.note_file import LINK, TAGS, TITLE, NoteFile
from mnemic.transfer.note_links import LinkNames, links_shown, with_pointers

TRASH = ".trash"
"""Where files of deleted memories go; Obsidian's own folder for that."""
INDEX_LINES, INDEX_BYTES = 200, 25_000
"""Claude Code reads no more of its list of notes."""


class FolderWriter(FolderPass):
    """The memories of a store shown in the files of a folder."""

    def show(self, read: set[str]) -> Position:
        """Write what changed in the store since the last pass, and what the files just read lack: up to where."""
        position = self.ctx.store.newest()
        reader = self.ctx.read()
        places = {part.uid: name for name, state in self.files.items() for part in state.parts}
        memories = {memory.uid: memory for memory in self._to_show(reader, read, places)}
        self._remove(reader, places, memories)
        living = {uid: memory for uid, memory in memories.items() if self._is_shown(memory)}
        self._name_files(living, places)
        names = LinkNames(self.files)
        done = 0
        for batch in batched(living.values()):
            shown = links_shown(reader, batch, names)
            for memory in batch:
                self._write(memory, places[memory.uid], shown.get(memory.id, {}), names, position)
            self.progress(done := done + len(batch), len(living))
        if self._is_claude_codes:
            self._index()
        return position

    def _to_show(self, reader: Reader, read: set[str], places: Mapping[str, str]) -> Iterable[Memory]:
        if self.mirror.position is None:
            return each_memory(reader)
        behind = {name for name, state in self.files.items() if state.is_behind} | read
        uids = [part.uid for name in behind for part in self.files[name].parts]
        ids = changed_ids(reader, self.mirror.position) | set(numbers(reader, uids).values())
        return [memory for batch in batched(sorted(ids)) for memory in reader.get(batch)]

    def _is_shown(self, memory: Memory) -> bool:
        is_here = self.mirror.namespace in (None, memory.namespace) and self.ctx.may_see(memory.namespace)
        return (
            is_here and memory.state is State.LIVING and not is_hidden(memory) and not self._is_read(memory)
        )

    def _is_read(self, memory: Memory) -> bool:
        """Whether Claude Code reads *memory* in a file that is not mirrored."""
        is_instruction = str(memory.metadata.get(FILE)).rpartition("/")[2] in READ_ANYWAY
        return is_instruction and self._is_claude_codes and self.mirror.project is None

    @property
    def _is_claude_codes(self) -> bool:
        """Whether Claude Code reads the folder; it finds in its list what to open."""
        is_its = self.mirror.project is not None or is_memory_folder(self.mirror.path)
        return is_its or (self.mirror.path / INDEX).is_file()

    def _remove(self, reader: Reader, places: dict[str, str], memories: Mapping[str, Memory]) -> None:
        """Move the files of memories that have left to the trash; erase those of purged ones."""
        erased = {uid for uid, _ in reader.aliases(AliasFilter(is_purged=True))}
        purged = erased & places.keys()
        left = {uid for uid, memory in memories.items() if uid in places and not self._is_shown(memory)}
        for uid in purged | left:
            name = places.pop(uid)
            state = self.files[name]
            part = next(part for part in state.parts if part.uid == uid)
            heir = self._heir(reader, memories.get(uid), places) if is_elsewhere(name) else None
            if heir:
                part.uid = heir
                places[heir] = name
                continue
            if len(state.parts) > 1 or is_elsewhere(name):
                self._cut_section(name, part)
                state.parts.remove(part)
            else:
                del self.files[name]
                self._discard(name, is_erased=uid in purged)
                self.report.removed += 1
        if purged:
            self._erase_copies(purged)

    def _discard(self, name: str, *, is_erased: bool) -> None:
        path = self.mirror.path / name
        if is_erased:
            path.unlink(missing_ok=True)
            return
        trash = self.mirror.path / TRASH
        trash.mkdir(exist_ok=True)
        target = trash / path.name
        if target.exists():
            target = trash / f"{path.stem} {uuid.uuid4().hex[:6]}{path.suffix}"
        with suppress(FileNotFoundError):
            path.rename(target)

    def _heir(self, reader: Reader, memory: Memory | None, places: Mapping[str, str]) -> str | None:
        """The uid of the correction of *memory*, which takes its place in the instructions; None if there is none."""
        if memory is None or memory.state is not State.SUPERSEDED:
            return None
        edges = reader.edges(EdgeFilter(targets=(memory.id,), types=(SUPERSEDES,), is_current=True))
        found = reader.get([edge.source_id for edge in edges])
        return next((one.uid for one in found if self._is_shown(one) and one.uid not in places), None)

    def _cut_section(self, name: str, part: FilePart) -> None:
        """Take the section of a memory that has left out of its file."""
        try:
            note = note_file.parse((self.mirror.path / name).read_bytes().decode("utf-8-sig"))
        except (OSError, UnicodeDecodeError, Invalid) as error:
            self.report.errors.append(f"{name}: {part.heading!r} could not be removed: {error}")
            return
        section = _section_of(note, self.files[name], part)
        if section:
            body = note_file.replaced(note, section, None)
            self._put(name, f"{note.block}\n{body}" if note.block else body)

    def _erase_copies(self, uids: Collection[str]) -> None:
        """Erase what the trash and copies of conflicts hold of purged memories."""
        for path in self.mirror.path.rglob("*.md"):
            with suppress(OSError, UnicodeDecodeError, Invalid):
                facts = note_file.parse(path.read_text(encoding="utf-8-sig")).page.facts
                if facts.get(note_file.CONFLICT) in uids or facts.get(note_file.UID) in uids:
                    path.unlink()

    def _name_files(self, living: Mapping[str, Memory], places: dict[str, str]) -> None:
        """Choose a file for each memory that has none; one that was renamed takes its file along."""
        taken: dict[str, set[str]] = {}
        for name in self.files:
            taken.setdefault(folder_of(name), set()).add(stem_of(name).casefold())
        for uid, memory in living.items():
            old = places.get(uid)
            if old is None:
                name = self._new_name(memory, taken)
                self.files[name] = FileState(0, 0, "", [FilePart(uid, title=stem_of(name))], is_own=True)
                places[uid] = name
            elif self._is_renamed(memory, old):
                taken[folder_of(old)].discard(stem_of(old).casefold())
                stem = unused_name(memory.title, uid, taken[folder_of(old)])
                places[uid] = self._rename(old, f"{folder_of(old)}{stem}.md")
                taken[folder_of(old)].add(stem.casefold())

    def _new_name(self, memory: Memory, taken: dict[str, set[str]]) -> str:
        is_one = self.mirror.namespace is not None
        folder = "" if is_one else f"{file_name(memory.namespace, GLOBAL)}/"
        stems = taken.setdefault(folder, set())
        stem = unused_name(memory.title, memory.uid, stems)
        stems.add(stem.casefold())
        return f"{folder}{stem}.md"

    def _is_renamed(self, memory: Memory, name: str) -> bool:
        """Whether a file that is called as its memory was called has to follow."""
        part = self.files[name].parts[0]
        is_alone = len(self.files[name].parts) == 1 and not is_elsewhere(name)
        was_called_so = stem_of(name) == unused_name(part.title, memory.uid, set())
        return is_alone and was_called_so and memory.name is not None and memory.title != part.title

    def _rename(self, old: str, new: str) -> str:
        source, target = self.mirror.path / old, self.mirror.path / new
        if target.exists() or not source.exists():
            return old
        source.rename(target)
        self.files[new] = self.files.pop(old)
        self.found[new] = self.found.get(old, (0, 0))
        self.report.written += 1
        return new

    def _write(
        self, memory: Memory, name: str, links: Mapping[str, list[str]], names: LinkNames, position: Position
    ) -> None:
        """Let a file say what its memory holds, unless someone is changing it right now."""
        state = self.files[name]
        state.is_behind = True
        if name in self.mirror.unreadable:
            return
        try:
            text, note = self._present(name, state)
        except (_Busy, OSError, UnicodeDecodeError, Invalid):
            return
        if state.is_own or (len(note.sections) <= 1 and not is_elsewhere(name)):
            fresh = self._whole(memory, name, note, links, names)
        else:
            fresh = self._section(memory, state, note)
        if fresh != text:
            self._put(name, fresh)
        state.is_behind, state.at = False, str(position)

    def _present(self, name: str, state: FileState) -> tuple[str, NoteFile]:
        """The text of a file as it is known, or of one that is to be made."""
        path = self.mirror.path / name
        if not path.exists():
            return "", note_file.CLAUDE_CODE if self._is_claude_codes else note_file.EMPTY
        data = path.read_bytes()
        if not data.strip():
            return "", note_file.EMPTY
        if digest(data) != state.digest:
            raise _Busy
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
        return text, note_file.parse(text)

    def _whole(
        self, memory: Memory, name: str, note: NoteFile, links: Mapping[str, list[str]], names: LinkNames
    ) -> str:
        part, stem = self.files[name].parts[0], stem_of(name)
        sections = note.sections
        shown = note_file.said_by_file(note, sections[0], stem, self.ctx.now()) if sections else {}
        if not note.block and not note.body:
            shown = {TITLE: stem}
        text = sections[0].text if sections else ""
        said = note_file.said_by_memory(memory, _without_pointers(links, text))
        if memory.name is None:
            said[TITLE] = shown.get(TITLE, stem)  # the file need not follow a title that follows the text
        for key in {*said, *shown}:
            if key.startswith(LINK) and names.are_same(said.get(key, []), shown.get(key, [])):
                said[key] = shown.get(key, said.get(key))
        part.title, part.tags = said[TITLE], said[TAGS]
        told = {
            key.removeprefix(LINK): value for key, value in said.items() if key.startswith(LINK) and value
        }
        part.links = with_pointers(told, text)
        return note_file.written(note, memory, said, shown, stem)

    def _section(self, memory: Memory, state: FileState, note: NoteFile) -> str:
        """The file with the text of one of its sections."""
        part = next(part for part in state.parts if part.uid == memory.uid)
        section = _section_of(note, state, part)
        body = note.body
        if section and note_file.plain(section.text) != note_file.plain(memory.content):
            body = note_file.replaced(note, section, note_file.plain(memory.content))
        return f"{note.block}\n{body}" if note.block else body

    def _put(self, name: str, text: str) -> None:
        """Replace a file atomically; a link stays one, and lines end as they did."""
        path = Path(os.path.realpath(self.mirror.path / name))
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name[:40]}.{os.getpid()}.part")
        data = _as_before(path, text)
        part.write_bytes(data)
        if path.exists():
            shutil.copymode(path, part)
        part.replace(path)
        told = path.stat()
        state = self.files[name]
        state.mtime, state.size, state.digest = told.st_mtime_ns, told.st_size, digest(data)
        self.report.written += 1

    def _index(self) -> None:
        """Keep the list of notes that Claude Code reads first: a line for each note, none for those that are gone."""
        path = self.mirror.path / INDEX
        lines = path.read_text(encoding="utf-8-sig").split("\n") if path.is_file() else []
        kept = [line for line in lines if not (m := INDEX_LINE.match(line)) or self._has(unquote(m[1]))]
        listed = {unquote(match[1]) for line in kept if (match := INDEX_LINE.match(line))}
        for name, state in self.files.items():
            if "/" in name or name in listed or name == INDEX or not state.parts:
                continue
            while kept and not kept[-1].strip():
                kept.pop()
            line = f"- [{state.parts[0].title}]({quote(name)})"
            if len(kept) < INDEX_LINES and len("\n".join((*kept, line)).encode()) <= INDEX_BYTES:
                kept += [line, ""]
        if kept != lines:
            path.write_text("\n".join(kept), encoding="utf-8")

    def _has(self, name: str) -> bool:
        return (self.mirror.path / name).is_file()


def _section_of(note: NoteFile, state: FileState, part: FilePart) -> Section | None:
    """The section that a memory is in its file: several may have the same heading."""
    same = [one for one in state.parts if one.heading == part.heading]
    sections = [section for section in note.sections if (section.heading or "") == part.heading]
    place = same.index(part)
    return sections[place] if place < len(sections) else None


def _as_before(path: Path, text: str) -> bytes:
    """*text* with the byte order mark and the line ends of the file that it replaces."""
    old = path.read_bytes() if path.is_file() else b""
    mark = codecs.BOM_UTF8 if old.startswith(codecs.BOM_UTF8) else b""
    return mark + (text.replace("\n", "\r\n") if b"\r\n" in old else text).encode()


class _Busy(Exception):
    """Someone has changed the file since it was read."""


def _without_pointers(links: Mapping[str, list[str]], text: str) -> dict[str, list[str]]:
    """*links* without those that the text makes already."""
    named = {pointer.page.casefold() for pointer in pointers(text)}
    related = [name for name in links.get(RELATED, ()) if name.casefold() not in named]
    return {**links, RELATED: related}
