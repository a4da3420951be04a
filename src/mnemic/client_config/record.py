"""The record of an installation: what each file held before, so that uninstalling can put it back byte for byte."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from mnemic.atomic_write import written_whole


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file that we changed: what it held before, or None if it was not there, and which folders we made for it."""

    file: str
    before: str | None
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Records:
    """The records of the files that were changed, kept in one folder."""

    folder: Path

    def of(self, file: Path) -> FileRecord | None:
        """The record of *file*, or None."""
        try:
            held = json.loads(self._place(file).read_text(encoding="utf-8"))
            return FileRecord(held["file"], held["before"], tuple(held["folders"]))
        except (OSError, ValueError, KeyError):
            return None

    def keep(self, record: FileRecord) -> None:
        """Write *record* down, unless there is one: the oldest is what was there before us."""
        place = self._place(Path(record.file))
        if place.exists():
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(place) as stream:
            stream.write(json.dumps(asdict(record)).encode())

    def drop(self, file: Path) -> None:
        """Remove the record of *file*."""
        self._place(file).unlink(missing_ok=True)
        for folder in (self.folder, self.folder.parent):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()

    def _place(self, file: Path) -> Path:
        return self.folder / f"{hashlib.sha256(str(file).encode()).hexdigest()[:32]}.json"
