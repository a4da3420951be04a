"""Interleaved edits of a folder of notes and of the store: both sides agree in the end, and no line is lost."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import strategies as st
from support import START, Clock, Uids, faults, hold_for_examples, temporary_stores

from mnemic.core import titles
from mnemic.core.context import Context
from mnemic.model.enums import State
from mnemic.model.memory import Draft, MemoryPatch
from mnemic.storage.queries import each_memory, numbers
from mnemic.transfer import note_file
from mnemic.transfer.folder_mirror import FolderMirror
from mnemic.transfer.note_file import LINK, TITLE

TITLES = ("Plan", "Idea", "Deploy/day?")
acts = st.sampled_from(
    ["new", "append", "prepend", "replace", "tag", "rename", "delete", "restore", "observe", "link"]
)
stories = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["store", "files"]), acts, st.integers(0, 3), st.sampled_from(TITLES)),
        st.just(("sync", "", 0, "")),
    ),
    max_size=16,
)


class World:
    """A store and a folder of notes. Every edit adds a line that no other has."""

    def __init__(self, ctx: Context, folder: Path, clock: Clock):
        self.ctx, self.folder, self.clock = ctx, folder, clock
        self.mirror = FolderMirror(folder, "global")
        self.said: list[str] = []

    def run(self, side: str, act: str, pick: int, title: str) -> None:
        self.clock.advance(minutes=1)
        if side == "sync":
            self.sync()
        else:
            getattr(self, f"_{side}_{act}", lambda pick, title: None)(pick, title)

    def sync(self):
        if not self.folder.exists():
            self.folder.mkdir()
        done = self.mirror.sync(self.ctx)
        assert done.errors == []
        return done

    def line(self) -> str:
        self.said.append(f"line {len(self.said)}")
        return self.said[-1]

    # -- the store

    def _memory(self, pick, state=State.LIVING):
        found = [memory for memory in each_memory(self.ctx.store.read()) if memory.state is state]
        return found[pick % len(found)] if found else None

    def _store_new(self, pick, title) -> None:
        taken = self.ctx.store.read().ids_named(title, ("global",))
        draft = Draft(namespace="global", name=None if taken else title, texts=(self.line(),))
        self.ctx.change("remember", lambda tx: tx.insert(draft, uid=self.ctx.new_uid()))

    def _change(self, memory, **told) -> None:
        if memory:
            self.ctx.change("revise", lambda tx: titles.update(tx, memory, MemoryPatch(**told)))

    def _store_append(self, pick, title) -> None:
        if memory := self._memory(pick):
            self._change(memory, texts=[*memory.texts[:-1], f"{memory.texts[-1]}\n{self.line()}"])

    def _store_prepend(self, pick, title) -> None:
        if memory := self._memory(pick):
            self._change(memory, texts=[f"{self.line()}\n{memory.texts[0]}", *memory.texts[1:]])

    def _store_observe(self, pick, title) -> None:
        if memory := self._memory(pick):
            self._change(memory, texts=[*memory.texts, self.line()])

    def _store_tag(self, pick, title) -> None:
        if memory := self._memory(pick):
            self._change(memory, tags=tuple(sorted({*memory.tags, title.lower().replace("/", "")})))

    def _store_rename(self, pick, title) -> None:
        if (memory := self._memory(pick)) and not self.ctx.store.read().ids_named(title, ("global",)):
            self._change(memory, **titles.named(title))

    def _store_delete(self, pick, title) -> None:
        if memory := self._memory(pick):
            self._change(memory, state=State.FORGOTTEN, state_at=self.clock())

    def _store_restore(self, pick, title) -> None:
        if memory := self._memory(pick, State.FORGOTTEN):
            self._change(memory, state=State.LIVING, state_at=None, name=None)

    # -- the files

    def _file(self, pick):
        found = sorted(
            path for path in self.folder.glob("*.md") if not note_file.parse(path.read_text()).is_conflict
        )
        return found[pick % len(found)] if found else None

    def _put(self, path: Path, text: str) -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        os.utime(path, ns=(self.clock() * 1_000, self.clock() * 1_000))

    def _files_new(self, pick, title) -> None:
        path = self.folder / f"{title.replace('/', ' ').strip('?')}.md"
        if not path.exists() and path.name not in self.mirror.files:  # else it is an edit that replaces all
            self._put(path, f"{self.line()}\n")

    def _files_append(self, pick, title) -> None:
        if path := self._file(pick):
            item = "- " if "statements: list" in path.read_text() else ""
            self._put(path, f"{path.read_text().rstrip()}\n{item}{self.line()}\n")

    def _files_prepend(self, pick, title) -> None:
        if path := self._file(pick):
            note = note_file.parse(path.read_text())
            item = "- " if "statements: list" in note.block else ""
            body = f"{item}{self.line()}\n{note.body.lstrip()}"
            self._put(path, f"{note.block}\n{body}" if note.block else body)

    def _files_tag(self, pick, title) -> None:
        if path := self._file(pick):
            note = note_file.parse(path.read_text())
            tags = sorted({*note_file._tags(note.page.facts), f"f{pick}"})
            block = note_file.front_matter.edited(note.block, {"tags": tags})
            self._put(path, f"{block}\n{note.body}")

    def _files_rename(self, pick, title) -> None:
        path, target = self._file(pick), self.folder / f"{title.strip('?').replace('/', ' ')} 2.md"
        if path and not target.exists():
            path.rename(target)

    def _files_delete(self, pick, title) -> None:
        if path := self._file(pick):
            held = path.read_text()
            # What was never taken over is not in the store: deleting it is the writer's own loss.
            if not any(line in held and not self._is_stored(line) for line in self.said):
                path.unlink()

    def _is_stored(self, line: str) -> bool:
        return any(line in memory.content.split("\n") for memory in each_memory(self.ctx.store.read()))

    def _files_link(self, pick, title) -> None:
        if path := self._file(pick):
            note = note_file.parse(path.read_text())
            block = note_file.front_matter.edited(note.block, {"knows": [f"[[{title.strip('?')}]]"]})
            self._put(path, f"{block}\n{note.body}")

    # -- what must hold

    def lost(self) -> list[str]:
        """Lines that neither a memory, deleted or not, nor a file holds."""
        texts = [memory.content for memory in each_memory(self.ctx.store.read())]
        texts += [path.read_text() for path in self.folder.rglob("*.md")]
        held = {line.strip().removeprefix("- ") for text in texts for line in text.split("\n")}
        return [line for line in self.said if line not in held]

    def differences(self) -> list[object]:
        """Files that say something else than their memories, and memories without a file."""
        found: list[object] = []
        shown = set()
        reader = self.ctx.store.read()
        for name, state in self.mirror.files.items():
            note = note_file.parse((self.folder / name).read_text())
            for section, part in zip(note.sections, state.parts, strict=True):
                shown.add(part.uid)
                said = note_file.said_by_file(note, section, Path(name).stem, self.clock())
                [memory] = reader.get(list(numbers(reader, [part.uid]).values()))
                held = note_file.said_by_memory(memory)
                keys = {key for key in {*said, *held} if not key.startswith(LINK)}
                keys -= {TITLE} if memory.name is None else set()
                if memory.state is not State.LIVING or any(said.get(key) != held.get(key) for key in keys):
                    found.append((name, said, held))
        living = {memory.uid for memory in each_memory(reader) if memory.state is State.LIVING}
        return found + sorted(living ^ shown)


def test_both_sides_agree_and_no_line_is_lost(engine, tmp_path_factory):
    hold_for_examples(engine, 60, lambda story: _sides_agree(engine, tmp_path_factory, story), stories)


def _sides_agree(engine, tmp_path_factory, story):
    clock = Clock(START)
    with temporary_stores(engine, "store") as opened:
        ctx = Context(
            store=opened["store"],
            embedder=None,
            now=clock,
            new_uid=Uids("store"),
        )
        world = World(ctx, tmp_path_factory.mktemp("notes"), clock)
        for step in story:
            world.run(*step)
        world.sync()
        clock.advance(minutes=1)
        world.sync()
        assert world.sync().changes == 0
        assert world.differences() == []
        assert world.lost() == []
        assert faults(ctx.store) == []
