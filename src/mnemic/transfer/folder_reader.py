"""From the files to the store: files that changed are merged with their memories, deleted ones delete theirs."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from mnemic.core import titles
from mnemic.core.states import taken_out
from mnemic.errors import Conflict as NameConflict
from mnemic.errors import Invalid
from mnemic.model.annotations import is_hidden
from mnemic.model.enums import State
from mnemic.model.filter import Filter
from mnemic.model.memory import Memory, MemoryPatch, Statement, name_key
from mnemic.storage.base import Reader, Writer
from mnemic.storage.queries import alias_numbers, numbers
from mnemic.transfer import note_file
from mnemic.transfer.exporter import batched
from mnemic.transfer.file_names import file_name
from mnemic.transfer.folder_changes import has_changed, rewound
from mnemic.transfer.folder_state import (
    FilePart,
    FileState,
    FolderPass,
    digest,
    is_elsewhere,
    stem_of,
)
from mnemic.transfer.foreign_memories import FAMILY
from mnemic.transfer.import_report import Clash
from mnemic.transfer.markdown import INDEX, SOURCE, is_index, section_identities
from mnemic.transfer.markdown_note import Section
from mnemic.transfer.note_file import LINK, TAGS, TEXT, TITLE, NoteFile, Said
from mnemic.transfer.note_identity import NotePaths
from mnemic.transfer.note_links import LinkNames, change_links, with_pointers
from mnemic.transfer.three_way_merge import FieldConflict, merged_with_file

DELETED = "its file was deleted"


@dataclass(slots=True)
class _Read:
    """A file that has changed: its text and what it is."""

    name: str
    text: str
    note: NoteFile
    state: FileState
    before: dict[str, FilePart] = field(default_factory=dict)
    """What was known of its memories, by uid."""

    @property
    def is_whole(self) -> bool:
        """Whether the file is one memory, with its fields in the front matter."""
        return self.note.is_whole and not is_elsewhere(self.name)


class FolderReader(FolderPass):
    """The files of a folder taken over into the store."""

    shown: dict[str, str]
    """Which file shows a memory, by its uid."""

    def run(self, touched: Sequence[str], gone: Iterable[str]) -> set[str]:
        """Merge what the files say; the names of those that were read."""
        read = list(self._read(touched))
        vanished = self._follow_renames(read, set(gone))
        self.shown = {part.uid: name for name, state in self.files.items() for part in state.parts}
        done = 0
        for batch in batched(read):
            self.ctx.change("mirror", partial(self._take_all, batch))
            self.progress(done := done + len(batch), len(read))
        self._delete(vanished)
        taken = [one for one in read if self.files.get(one.name) is one.state]
        if taken:
            names = LinkNames(self.files)
            self.ctx.change("mirror", partial(self._link_all, taken, names))
        self.ctx.wake()
        return {one.name for one in taken}

    def _read(self, names: Iterable[str]) -> Iterator[_Read]:
        """The files whose text has changed; those that cannot be read are listed and left alone."""
        for name in names:
            mtime, size = self.found[name]
            known = self.files.get(name)
            try:
                data = (self.mirror.path / name).read_bytes()
                if known and (not data.strip() or digest(data) == known.digest):
                    known.mtime, known.size = mtime, size
                    known.is_behind |= not data.strip()  # cut off by a crash perhaps: it is written again
                    continue
                text = data.decode("utf-8-sig")
                note = note_file.parse(text)
                if note.is_conflict or not data.strip() or (name == INDEX and is_index(note.page)):
                    self.mirror.unreadable[name] = mtime
                    continue
                yield _Read(name, text, note, FileState(mtime, size, digest(data), [], note.uid is not None))
            except UnicodeDecodeError:
                self._flaw(name, "is no text in UTF-8")
            except FileNotFoundError:
                continue
            except (OSError, Invalid) as error:
                self._flaw(name, str(error))

    def _flaw(self, name: str, reason: str) -> None:
        self.mirror.unreadable[name] = self.found[name][0]
        self.report.errors.append(f"{name}: {reason}")

    def _follow_renames(self, read: Sequence[_Read], gone: set[str]) -> set[str]:
        """Let files that have another name keep what is known of them; the names that are really gone."""
        by_uid = {
            part.uid: name for name in gone for part in self.files[name].parts if self.files[name].is_own
        }
        by_digest = {self.files[name].digest: name for name in gone}
        for one in read:
            if one.name in self.files:
                continue
            uid = one.note.uid
            old = by_uid.get(uid) if uid else by_digest.get(one.state.digest)
            if old in gone:
                gone.discard(old)
                self.files[one.name] = self.files.pop(old)
        return gone

    def _take_all(self, batch: Sequence[_Read], tx: Writer) -> None:
        for one in batch:
            try:
                self._take(tx, one)
            except (Invalid, NameConflict) as error:
                self._flaw(one.name, str(error))

    def _take(self, tx: Writer, one: _Read) -> None:
        """Merge what a file says; a section that is gone is a deleted memory."""
        known = self.files.get(one.name)
        one.before = {part.uid: part for part in known.parts} if known else {}
        pairs = self._matched(tx, one, list(one.before.values()))
        at = known.at if known else ""
        parts = [self._take_part(tx, one, section, part, at) for section, part in pairs]
        for uid in one.before.keys() - {part.uid for part in parts}:
            self._forget(tx, uid, at)
        one.state.parts = parts
        self.files[one.name] = one.state
        self.shown |= {part.uid: one.name for part in parts}
        self.mirror.unreadable.pop(one.name, None)

    def _matched(self, tx: Reader, one: _Read, left: list[FilePart]) -> list[tuple[Section, FilePart | None]]:
        """The sections of a file with the memories they were: by heading, else by text, else the only one left."""
        sections = one.note.sections
        if one.note.is_whole:
            same = [part for part in left if one.note.uid in (None, part.uid)]
            return [(section, same[0] if same else None) for section in sections]
        held = {part.uid: note_file.plain(memory.content) for part in left for memory in _known(tx, part.uid)}
        chosen: dict[int, FilePart] = {}

        def match(is_it: Callable[[Section, FilePart], bool]) -> None:
            for place, section in enumerate(sections):
                part = next((part for part in left if place not in chosen and is_it(section, part)), None)
                if part:
                    left.remove(part)
                    chosen[place] = part

        def has_heading(section: Section, part: FilePart) -> bool:
            return part.heading == (section.heading or "")

        # Several sections may have one heading: of those, each is first the one with its text.
        match(
            lambda section, part: (
                has_heading(section, part) and held.get(part.uid) == note_file.plain(section.text)
            )
        )
        match(has_heading)
        texts = {held[part.uid]: part for part in left if part.uid in held}
        open_places = [place for place in range(len(sections)) if place not in chosen]
        for place in open_places:
            part = texts.pop(note_file.plain(sections[place].text), None)
            if part is None and len(open_places) == len(left) == 1:
                part = left[0]
            if part in left:
                left.remove(part)
                chosen[place] = part
        return [(section, chosen.get(place)) for place, section in enumerate(sections)]

    def _take_part(
        self, tx: Writer, one: _Read, section: Section, part: FilePart | None, at: str
    ) -> FilePart:
        said = note_file.said_by_file(one.note, section, stem_of(one.name), self.ctx.now())
        fresh = FilePart("", section.heading or "", said[TITLE], said[TAGS], _links_said(said, section.text))
        memory = self._memory_of(tx, one, section, part, said[TITLE])
        if memory is None:
            fresh.uid = self._add(tx, one, section, said)
        else:
            fresh.uid = memory.uid
            self._update(tx, one, memory, said, part, at)
        return fresh

    def _memory_of(
        self, tx: Reader, one: _Read, section: Section, part: FilePart | None, title: str
    ) -> Memory | None:
        """The memory that a section is: the one it was, the one its uid names, one imported from it, or a namesake."""
        given = part.uid if part else one.note.uid
        uids = [given] if given else self._imported_uids(one, section)
        found = next(filter(None, (_known(tx, uid) for uid in uids)), [])
        if not found and part is None and one.note.is_whole:
            bearers = titles.bearers(tx, name_key(title), (self._home(one.name),))
            found = [memory for memory in bearers if not is_hidden(memory)]
        # Another file may show it already: then this one is a copy, or has a name that was free again.
        elsewhere = [memory for memory in found if self.shown.get(memory.uid, one.name) != one.name]
        return None if elsewhere or not found else found[0]

    def _paths(self, name: str) -> NotePaths:
        return self._project_paths if is_elsewhere(name) else self._folder_paths

    @cached_property
    def _folder_paths(self) -> NotePaths:
        inside = (name for name in self.found if not is_elsewhere(name))
        return NotePaths(self.mirror.path, (self.mirror.path / name for name in inside))

    @cached_property
    def _project_paths(self) -> NotePaths:
        outside = map(Path, filter(is_elsewhere, self.found))
        return NotePaths(self.mirror.project or self.mirror.path, outside)

    def _imported_uids(self, one: _Read, section: Section) -> list[str]:
        """The uids that `import --from markdown` may have given a section, the one it gives in this folder first."""
        same = [each for each in one.note.sections if each.heading == section.heading]
        paths = self._paths(one.name).identities(self.mirror.path / one.name)
        known = section_identities(paths, section.heading, same.index(section) + 1)
        return [str(uuid.uuid5(FAMILY, f"{self._home(one.name)}\n{identity}")) for identity in known]

    def _home(self, name: str) -> str:
        """The namespace of a file: the mirror's own, else the one whose folder it lies in."""
        if self.mirror.namespace is not None:
            return self.mirror.namespace
        folder = name.partition("/")[0] if "/" in name and not is_elsewhere(name) else ""
        spaces = self.ctx.read().tally(Filter(), "namespace") if folder else ()
        return next((space for space in spaces if file_name(space, "-") == folder), folder) or self.ctx.home()

    def _add(self, tx: Writer, one: _Read, section: Section, said: Said) -> str:
        """A new memory for a section; its title is its name unless another bears that."""
        namespace, now = self._home(one.name), self.ctx.now()
        uid = one.note.uid or self._imported_uids(one, section)[0]
        if alias_numbers(tx, [uid]) or numbers(tx, [uid]):
            uid = self.ctx.new_uid()  # purged, or another file says the same of itself
        is_free = one.note.is_whole and not tx.ids_named(name_key(said[TITLE]), (namespace,))
        fields = note_file.fields_of(said, said, None)
        texts = fields.pop("texts")
        where = {"file": self._paths(one.name).name(self.mirror.path / one.name)} | (
            {"headings": [section.heading]} if section.heading else {}
        )
        fields["metadata"] = {**fields["metadata"], **where}
        memory = Memory(
            id=0,
            uid=uid,
            namespace=namespace,
            title=said[TITLE],
            name=name_key(said[TITLE]) if is_free else None,
            source=SOURCE,
            created_at=min(one.state.mtime // 1_000, now),
            updated_at=now,
            statements=tuple(Statement(0, text) for text in texts),
            **fields,
        )
        memory.check()
        titles.import_memory(tx, memory)
        self.report.changed += 1
        return uid

    def _update(
        self, tx: Writer, one: _Read, memory: Memory, said: Said, part: FilePart | None, at: str
    ) -> None:
        """Change a memory as its file has changed since both agreed; an old file brings none back."""
        if (
            part is None
            and memory.state is not State.LIVING
            and one.state.mtime // 1_000 <= memory.updated_at
        ):
            return
        is_whole = one.is_whole
        keys = None if is_whole else {TEXT, TITLE, TAGS}
        here = _only(note_file.said_by_memory(memory), keys)
        there = _only(said, keys)
        before = _base_said(tx, memory, part, at, keys)
        if part and there[TITLE] == part.title:
            there[TITLE] = here[TITLE]
        is_later = one.state.mtime // 1_000 >= memory.updated_at
        changes, conflicts = merged_with_file(before, there, here, is_later=is_later)
        if conflicts:
            self.report.conflicts += [Clash(memory.title, conflict) for conflict in conflicts]
            self._keep_loser(one, memory, conflicts)
        fields = note_file.fields_of(changes, changes, memory)
        if TITLE in changes:
            fields |= _renamed(tx, memory, str(changes[TITLE]), is_whole)
        if memory.state is not State.LIVING:
            fields |= _revived(tx, memory)
        if fields:
            titles.update(tx, memory, MemoryPatch(**fields))
            self.report.changed += 1

    def _keep_loser(self, one: _Read, memory: Memory, conflicts: Sequence[FieldConflict]) -> None:
        """Put the version that lost beside the file, as a copy that is no memory."""
        is_file = any(conflict.kept == conflict.here for conflict in conflicts)
        stem = stem_of(one.name)
        said = note_file.said_by_memory(memory)
        if is_file and is_elsewhere(one.name):
            said |= {conflict.field: conflict.there for conflict in conflicts}
        is_one = is_file and not is_elsewhere(one.name)
        text = one.text if is_one else note_file.written(note_file.EMPTY, memory, said, {}, stem)
        # Claude Code would read a copy beside its rules as a rule.
        place = self.mirror.path / (f"{stem}.md" if is_elsewhere(one.name) else one.name)
        copy = place.with_name(f"{stem} (conflict {one.state.digest[:6]}).md")
        copy.write_text(note_file.conflict_copy(text, memory.uid), encoding="utf-8")

    def _delete(self, names: Iterable[str]) -> None:
        """Delete the memories whose files were deleted, unless they changed since."""
        gone = [(part.uid, state.at) for state in map(self.files.pop, names) for part in state.parts]
        for batch in batched(gone):
            self.ctx.change("mirror", partial(self._forget_all, batch))

    def _forget_all(self, batch: Sequence[tuple[str, str]], tx: Writer) -> None:
        for uid, at in batch:
            self._forget(tx, uid, at)

    def _forget(self, tx: Writer, uid: str, at: str) -> None:
        for memory in _known(tx, uid):
            if memory.state is State.LIVING and not has_changed(tx, memory, at):
                taken_out(tx, memory, State.FORGOTTEN, DELETED, self.ctx.now())
                self.report.deleted += 1

    def _link_all(self, read: Sequence[_Read], names: LinkNames, tx: Writer) -> None:
        """Make the links that files name now, in front matter and text, and end those that they named before."""
        for one in read:
            for part in one.state.parts:
                before = one.before[part.uid].links if part.uid in one.before else {}
                for memory in _known(tx, part.uid):
                    change_links(tx, self.ctx, memory, part.links, before, names)


def _base_said(
    reader: Reader, memory: Memory, part: FilePart | None, at: str, keys: Collection[str] | None
) -> Said | None:
    """What both sides said when they last agreed; None if they never did."""
    base = rewound(reader, memory, at) if part and at else None
    if base is None or part is None:
        return None
    said = _only(note_file.said_by_memory(base), keys)
    return said if keys is None else said | {TAGS: part.tags}


def _only(said: Said, keys: Collection[str] | None) -> Said:
    """All that is said but links, which are compared apart; of *keys* alone, if they are given."""
    return {
        key: value for key, value in said.items() if not key.startswith(LINK) and (not keys or key in keys)
    }


def _renamed(reader: Reader, memory: Memory, title: str, is_whole: bool) -> dict[str, Any]:
    taken = set(reader.ids_named(name_key(title), (memory.namespace,))) - {memory.id}
    return {"title": title, "name": name_key(title) if is_whole and not taken else None}


def _revived(reader: Reader, memory: Memory) -> dict[str, Any]:
    """What lets a memory live again whose file was edited after it had left; without its name if that is taken."""
    is_taken = memory.name is not None and reader.ids_named(memory.name, (memory.namespace,))
    living = {"state": State.LIVING, "state_reason": None, "state_at": None}
    return living | ({"name": None} if is_taken else {})


def _known(reader: Reader, uid: str) -> list[Memory]:
    number = alias_numbers(reader, [uid]).get(uid) or numbers(reader, [uid]).get(uid)
    return reader.get([number]) if number else []


def _links_said(said: Said, text: str) -> dict[str, list[str]]:
    told = {key.removeprefix(LINK): list(names) for key, names in said.items() if key.startswith(LINK)}
    return with_pointers(told, text)
