"""What a mirrored folder is known by: its files, the memories in them, and what a pass did."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field, fields
from pathlib import Path

from mnemic.core.context import Context
from mnemic.model.change import Position
from mnemic.storage.base import Progress
from mnemic.transfer.import_report import Clash


@dataclass(slots=True)
class FilePart:
    """A memory in a file: its uid, its heading, and what the file last said of its title, tags and links."""

    uid: str
    heading: str = ""
    title: str = ""
    tags: list[str] = field(default_factory=list)
    links: dict[str, list[str]] = field(default_factory=dict)


@dataclass(slots=True)
class FileState:
    """A file as it was when both sides last agreed, and the change of the journal at which they did."""

    mtime: int
    size: int
    digest: str
    parts: list[FilePart]
    is_own: bool
    """Whether it is one memory with its uid in the front matter."""
    at: str = ""
    is_behind: bool = False
    """Whether a change in the store is yet to be written."""


@dataclass(slots=True)
class MirrorReport:
    """What a pass of a mirror did on both sides."""

    written: int = 0
    """Files written or renamed."""
    removed: int = 0
    """Files moved to the trash, or erased with a purge."""
    changed: int = 0
    """Memories added or changed."""
    deleted: int = 0
    """Memories deleted."""
    conflicts: list[Clash] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def changes(self) -> int:
        """How many files and memories are not what they were."""
        return self.written + self.removed + self.changed + self.deleted

    def add(self, other: MirrorReport) -> None:
        """Count what *other* counted too."""
        for item in fields(self):
            setattr(self, item.name, getattr(self, item.name) + getattr(other, item.name))


class MirrorState:
    """State of a mirrored folder: its files when both sides last agreed, and up to which change they were shown."""

    project: Path | None = None
    """The project whose notes Claude Code keeps in the folder, if its instructions are mirrored too."""

    def __init__(self, folder: Path, namespace: str | None = None):
        self.path = Path(os.path.realpath(folder))
        self.namespace = namespace
        self.files: dict[str, FileState] = {}
        self.position: Position | None = None
        self.unreadable: dict[str, int] = {}
        """Files that cannot be read, by the time they have: they are told once and left alone."""


class FolderPass:
    """What one pass over a folder and a store works on."""

    def __init__(
        self,
        mirror: MirrorState,
        ctx: Context,
        found: dict[str, tuple[int, int]],
        progress: Progress | None,
        report: MirrorReport,
    ):
        self.mirror = mirror
        self.ctx = ctx
        self.found = found
        self.files = mirror.files
        self.progress = progress or (lambda done, total: None)
        self.report = report


def is_elsewhere(name: str) -> bool:
    """Whether a mirrored file lies outside the folder, as CLAUDE.md does: then its whole path is its name."""
    return Path(name).is_absolute()


def stem_of(name: str) -> str:
    """The name of a file without its folder and ending."""
    return name.rpartition("/")[2].rpartition(".")[0]


def folder_of(name: str) -> str:
    """The folder of a file, with a slash behind it; empty at the top."""
    head, slash, _ = name.rpartition("/")
    return head + slash


def digest(data: bytes) -> str:
    """Digest of the content of a file."""
    return hashlib.blake2b(data, digest_size=8).hexdigest()
