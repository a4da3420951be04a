"""A folder of Markdown notes kept equal to the memories of a namespace, or of all of them.

Each note that we write is one memory, known by the uid in its front matter. A note of someone else's becomes one
memory, or one for each section, and is known by its place. The store keeps a digest of every file as it was when both
sides last agreed, and at which change that was. So an edit is told from a lack of one: the last common state of a
memory is the present one with the later changes of its journal taken back.

The mirror of Claude Code's memory folder has its instructions too, CLAUDE.md and others, which lie in the project.
Each section of theirs is a memory. They are edited only where a memory changed: what is new in the store gets a note
in the folder.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import orjson

from mnemic.core.context import Context
from mnemic.core.copies import Copy, note_copy
from mnemic.errors import Cancelled, Invalid
from mnemic.model.access import Scope
from mnemic.model.change import USE, Position, Subject
from mnemic.storage.base import Progress, Writer
from mnemic.storage.cancellation import is_cancelled
from mnemic.transfer import claude_code
from mnemic.transfer.folder_reader import FolderReader
from mnemic.transfer.folder_state import (
    FilePart,
    FileState,
    MirrorReport,
    MirrorState,
    is_elsewhere,
)
from mnemic.transfer.folder_writer import FolderWriter
from mnemic.transfer.markdown import ENDINGS, PASSED_OVER

try:
    import fcntl
except ImportError:  # no such lock on this system
    fcntl = None  # type: ignore[assignment]

MARKER = ".mnemic-mirror"
"""The file that says that a folder is a mirror, and which. Without it no deletion is carried over."""
SETTING = "mirror folder "
"""How the setting begins that holds what a mirror knows."""
WAIT_SECONDS = 0.05
SHOWN = (Subject.MEMORY, Subject.EDGE)
"""Changes of these are seen in files."""


class FolderMirror(MirrorState):
    """A folder of notes, kept equal to what *ctx* sees of one namespace, or of all."""

    _id = ""
    _is_project_kept = False
    _kept_at = 0
    """When this or another process last kept what the mirror knows: the time of the marker."""

    def __init__(self, folder: Path, namespace: str | None = None, project: Path | None = None):
        super().__init__(folder, namespace)
        self.project = project

    @property
    def is_begun(self) -> bool:
        """Whether the folder is there and has been mirrored."""
        return (self.path / MARKER).is_file()

    def is_behind(self, ctx: Context) -> bool:
        """Whether memories changed in the store since the last pass, which is known without a look at the files."""
        if self.position is None or ctx.store.newest() == self.position:
            return False
        changes = ctx.read().changes(self.position)
        return any(one.subject in SHOWN and one.operation != USE for one in changes)

    def sync(self, ctx: Context, progress: Progress | None = None) -> MirrorReport:
        """Read what changed in the files, then write what changed in the store."""
        self._open(ctx)
        with _locked(self.path / MARKER):
            if self._marked_at() != self._kept_at:
                self._load(ctx)
            try:
                return self._synced(ctx, progress)
            except BaseException:
                self._kept_at = 0  # what was noted of files may not have been stored
                raise

    def _synced(self, ctx: Context, progress: Progress | None) -> MirrorReport:
        found = dict(self._scan())
        touched = [name for name, told in found.items() if self._is_touched(name, told)]
        gone = self.files.keys() - found.keys()
        if self.project and not self.project.is_dir():  # moved, or not mounted: no reason to delete
            gone = {name for name in gone if not is_elsewhere(name)}
        is_kept = self._is_project_kept and ctx.store.newest() == self.position
        if not touched and not gone and is_kept:
            return MirrorReport()
        for name in filter(is_elsewhere, found if self.project else ()):
            note_copy(ctx, Copy("file", name))
        report = MirrorReport()
        read = FolderReader(self, ctx, found, progress, report).run(touched, gone)
        self.keep(ctx, FolderWriter(self, ctx, found, progress, report).show(read))
        return report

    def _is_touched(self, name: str, told: tuple[int, int]) -> bool:
        state = self.files.get(name)
        if state is None:
            return self.unreadable.get(name) != told[0]
        return (state.mtime, state.size) != told and self.unreadable.get(name) != told[0]

    def _open(self, ctx: Context) -> None:
        """Find out which mirror this is. A folder that is not the one that was mirrored is no reason to delete."""
        marker = self.path / MARKER
        if self._id and not self.is_begun:
            raise Invalid(f"{self.path} is no longer the mirrored folder: its file {MARKER} is missing.")
        if self._id:
            return
        if self.path.exists() and not self.path.is_dir():
            raise Invalid(f"{self.path} is no folder.", "folder")
        self.path.mkdir(parents=True, exist_ok=True)
        if not marker.is_file():
            marker.write_text(uuid.uuid4().hex + "\n", encoding="utf-8")
        self._id = marker.read_text(encoding="utf-8").strip()[:64]
        note_copy(ctx, Copy("folder", _storable(self.path), self.namespace))

    def _load(self, ctx: Context) -> None:
        """What was known when the folder was last in step, by whichever process."""
        self._kept_at = self._marked_at()
        self.files.clear()
        kept = orjson.loads(ctx.store.read().setting(self._key) or "{}")
        self.position = Position.parse(kept["position"]) if kept else None
        known = kept.get("project")
        self.project = self.project or (Path(known) if known else None)
        self._is_project_kept = known == self._project_name
        for name, entry in kept.get("files", {}).items():
            parts = [FilePart(**part) for part in entry.pop("parts")]
            self.files[name] = FileState(**entry, parts=parts)

    @property
    def _key(self) -> str:
        return f"{SETTING}{self._id} {self.namespace or ''}"

    def keep(self, ctx: Context, position: Position) -> None:
        """Remember what both sides agree on."""
        self.position = position
        content = {
            "position": str(position),
            "files": self.files,
            "project": self._project_name,
        }

        def work(tx: Writer) -> None:
            tx.put_setting(self._key, orjson.dumps(content).decode())

        ctx.store.change(Scope(asked=()), "mirror", ctx.actor, ctx.now(), work, durable=False)
        os.utime(self.path / MARKER)
        self._kept_at, self._is_project_kept = self._marked_at(), True

    @property
    def _project_name(self) -> str | None:
        return None if self.project is None else _storable(self.project)

    def _marked_at(self) -> int:
        return (self.path / MARKER).stat().st_mtime_ns

    def _scan(self) -> Iterator[tuple[str, tuple[int, int]]]:
        yield from self._scan_folder()
        for path in self._instructions():
            with suppress(OSError):  # it has just left
                told = path.stat()
                yield str(path), (told.st_mtime_ns, told.st_size)

    def _instructions(self) -> Iterable[Path]:
        """The files of instructions of the project, and those that were while they exist."""
        if self.project is None:
            return ()
        settings = claude_code.settings_folder(os.environ)
        known = (Path(name) for name in self.files if is_elsewhere(name))
        found = (*claude_code.instructions(self.project, settings), *filter(Path.is_file, known))
        own = (path for path in found if not path.resolve().is_relative_to(self.path) and _is_text(str(path)))
        return list(dict.fromkeys(own))

    def _scan_folder(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """The notes of the folder by their path below it, with time and size; links lead nowhere."""
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            with os.scandir(self.path / folder) as entries:
                for entry in entries:
                    name = f"{folder}{entry.name}"
                    if entry.name.startswith(".") or entry.is_symlink() or not _is_text(name):
                        continue
                    if entry.is_dir():
                        waiting += [] if entry.name in PASSED_OVER else [f"{name}/"]
                    elif entry.name.lower().endswith(ENDINGS):
                        told = entry.stat()
                        yield name, (told.st_mtime_ns, told.st_size)


@contextmanager
def _locked(marker: Path) -> Iterator[None]:
    """Let one process at a time work on a folder; where files cannot be locked, do without."""
    with marker.open("rb") as file:
        while fcntl and not _is_locked(file.fileno()):
            if is_cancelled():
                raise Cancelled(f"{marker.parent}: the caller left before the folder was free.")
            time.sleep(WAIT_SECONDS)
        yield


def _is_locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def export_notes(
    ctx: Context, folder: Path, namespace: str | None, progress: Progress | None = None
) -> MirrorReport:
    """Write a note for each living memory of a namespace, or of all, into a folder that is new or empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Invalid(
            f"{folder} is not empty. Name a new folder; `mnemic mirror` keeps an existing one in step.",
            "folder",
        )
    folder.mkdir(parents=True, exist_ok=True)
    report = MirrorReport()
    FolderWriter(MirrorState(folder, namespace), ctx, {}, progress, report).show(set())
    return report


def moved(settings: dict[str, str], translate: Callable[[Position], Position]) -> dict[str, str]:
    """*settings* for a copy of the store, in which a position is what *translate* makes of it."""
    return {
        name: _moved(kept, translate) if name.startswith(SETTING) else kept for name, kept in settings.items()
    }


def _moved(kept: str, translate: Callable[[Position], Position]) -> str:
    content = orjson.loads(kept)
    for state in (content, *content["files"].values()):
        for key in ("position", "at"):
            if state.get(key):
                state[key] = str(translate(Position.parse(state[key])))
    return orjson.dumps(content).decode()


def _is_text(name: str) -> bool:
    try:
        return bool(name.encode())
    except UnicodeEncodeError:
        return False


def _storable(path: Path) -> str:
    """A path as a store can keep it, which takes UTF-8 alone."""
    return os.fsencode(path).decode(errors="backslashreplace")
