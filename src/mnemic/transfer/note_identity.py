"""By which path a note is known again, from whichever folder it is imported or mirrored."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

ROOTS = (".git", ".obsidian")
"""What the top folder of a repository or a vault holds."""
DEEPEST = 6
"""How many folders and names the longest other path has under which a note is looked for."""


class NotePaths:
    """The paths of *files* from the top of the repository or vault around *folder*, else from *folder* itself.

    Twelve services may each have an adr/0001.md of their own, so a shorter path counts only where one file has it.
    """

    def __init__(self, folder: Path, files: Iterable[Path]):
        self._given, self._folder = folder.absolute(), folder.resolve()
        places = (self._folder, *self._folder.parents)
        self._top = next((place for place in places if _is_root(place)), self._folder)
        self._bearers = Counter(ending for file in files for ending in _endings(self._place(file)))

    def name(self, file: Path) -> str:
        """The path of *file* below the top folder, with at least the folder that it lies in."""
        place = self._place(file)
        below = place.relative_to(self._top) if place.is_relative_to(self._top) else Path(place.name)
        return _text(below if len(below.parts) > 1 else Path(place.parent.name, below))

    def identities(self, file: Path) -> list[str]:
        """What the note is known by, then what it may have been known by when it came from another folder."""
        others = (ending for ending in _endings(self._place(file)) if self._bearers[ending] <= 1)
        return list(dict.fromkeys((self.name(file), *others)))

    def _place(self, file: Path) -> Path:
        """Where a file is, without asking the disk."""
        place = file.absolute()
        is_inside = place.is_relative_to(self._given)
        return self._folder / place.relative_to(self._given) if is_inside else place


def _is_root(folder: Path) -> bool:
    return any((folder / name).exists() for name in ROOTS)


def _endings(path: Path) -> list[str]:
    """The last parts of *path*, the longest first, each with at least one folder."""
    parts = path.parts[1:]
    return [_text(Path(*parts[-count:])) for count in range(min(DEEPEST, len(parts)), 1, -1)]


def _text(path: Path) -> str:
    return os.fsencode(path.as_posix()).decode(errors="replace")
