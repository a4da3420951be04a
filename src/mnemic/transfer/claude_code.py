"""Where Claude Code keeps what it knows of a project: its memory folder, its CLAUDE.md files and rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from mnemic.errors import NotFound

INSTRUCTIONS = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md")
READ_ANYWAY = frozenset(Path(name).name for name in INSTRUCTIONS)
"""The names of the files that Claude Code reads at every start."""
FILE = "file"
"""Where the metadata of an imported note name its file."""
MEMORY, PROJECTS = "memory", "projects"


def settings_folder(environment: Mapping[str, str]) -> Path:
    """The folder of Claude Code in the user's home."""
    named = environment.get("CLAUDE_CONFIG_DIR")
    return Path(named).expanduser() if named else Path.home() / ".claude"


def memory_folder(project: Path, environment: Mapping[str, str]) -> Path:
    """The folder where Claude Code keeps notes of its own about *project*, whether it is there or not.

    It is named after the path of the project, each character that is no letter or digit made a hyphen.
    """
    name = re.sub(r"[^A-Za-z0-9]", "-", str(root_of(project)))
    return settings_folder(environment) / PROJECTS / name / MEMORY


def is_memory_folder(folder: Path) -> bool:
    """Whether *folder* is where Claude Code keeps notes of its own about a project."""
    return folder.name == MEMORY and folder.parent.parent.name == PROJECTS


def root_of(project: Path) -> Path:
    """The folder of the git repository that *project* lies in, else *project* itself."""
    place = project.expanduser().resolve()
    return next((folder for folder in (place, *place.parents) if (folder / ".git").exists()), place)


def notes(project: Path, environment: Mapping[str, str]) -> list[Path]:
    """The Markdown files that Claude Code reads of its own accord in *project*; NotFound if there are none."""
    found = list(dict.fromkeys(_notes(root_of(project), memory_folder(project, environment))))
    if not found:
        raise NotFound(f"Claude Code keeps nothing about {project}: no memory folder and no CLAUDE.md")
    return found


def _notes(root: Path, folder: Path) -> Iterator[Path]:
    yield from sorted(folder.rglob("*.md"))
    yield from (root / name for name in INSTRUCTIONS if (root / name).is_file())
    yield from sorted((root / ".claude" / "rules").rglob("*.md"))
