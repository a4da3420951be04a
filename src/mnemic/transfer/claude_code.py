"""Where Claude Code keeps what it knows of a project: its memory folder, its CLAUDE.md files and rules."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import orjson

from mnemic.errors import NotFound
from mnemic.project import main_work_tree
from mnemic.transfer.markdown_note import inclusions

INSTRUCTIONS = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md")
READ_ANYWAY = frozenset(Path(name).name for name in INSTRUCTIONS)
"""The names of the files that Claude Code reads at every start."""
RULES = ".claude/rules/"
"""The folder of further instructions."""
FILE = "file"
"""Where the metadata of an imported note name its file."""
MEMORY, PROJECTS = "memory", "projects"
MOST_HOPS = 4
"""How far Claude Code follows `@path` from one file to the next."""
SETTINGS = "settings.json", "settings.local.json"
FOLDER = "autoMemoryDirectory"
"""The setting of Claude Code that names another memory folder."""


def settings_folder(environment: Mapping[str, str]) -> Path:
    """The folder of Claude Code in the user's home."""
    named = environment.get("CLAUDE_CONFIG_DIR")
    return Path(named).expanduser() if named else Path.home() / ".claude"


def memory_folder(project: Path, environment: Mapping[str, str]) -> Path:
    """The folder where Claude Code keeps notes of its own about *project*, whether it is there or not.

    It is named after the path of the repository, each character that is no letter or digit made a hyphen. Linked
    worktrees share it.
    """
    root = main_root_of(project)
    mine, shared = SETTINGS
    chosen = _chosen_folder(root / ".claude" / shared) or _chosen_folder(settings_folder(environment) / mine)
    if chosen:
        return chosen
    name = re.sub(r"[^A-Za-z0-9]", "-", str(root))
    return settings_folder(environment) / PROJECTS / name / MEMORY


def _chosen_folder(settings: Path) -> Path | None:
    try:
        held = orjson.loads(settings.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    told = held.get(FOLDER) if isinstance(held, dict) else None
    folder = Path(told).expanduser() if isinstance(told, str) else None
    return folder if folder and folder.is_absolute() else None


def is_memory_folder(folder: Path) -> bool:
    """Whether *folder* is where Claude Code keeps notes of its own about a project."""
    return folder.name == MEMORY and folder.parent.parent.name == PROJECTS


def root_of(project: Path) -> Path:
    """The folder of the git repository that *project* lies in, else *project* itself."""
    place = project.expanduser().resolve()
    return next((folder for folder in (place, *place.parents) if (folder / ".git").exists()), place)


def main_root_of(project: Path) -> Path:
    """The folder of the repository that *project* lies in: of a linked worktree the main one."""
    return main_work_tree(root_of(project))


def notes(project: Path, environment: Mapping[str, str]) -> list[Path]:
    """The Markdown files that Claude Code reads of its own accord in *project*; NotFound if there are none."""
    found = list(dict.fromkeys(_notes(root_of(project), environment)))
    if not found:
        raise NotFound(f"Claude Code keeps nothing about {project}: no memory folder and no CLAUDE.md")
    return found


def _notes(root: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    yield from sorted(memory_folder(root, environment).rglob("*.md"))
    yield from instructions(root, settings_folder(environment))


def instructions(root: Path, settings: Path) -> list[Path]:
    """The files of instructions that Claude Code reads in the project at *root*, with those that they include.

    Of several paths to one file the first counts. What is included from elsewhere than the project and the *settings*
    folder is left alone: a repository must not have a stranger's files read.
    """
    found: dict[Path, Path] = {}
    waiting = [(root / name, 0) for name in INSTRUCTIONS]
    waiting += [(path, 0) for path in sorted((root / RULES).rglob("*.md"))]
    homes = (root.resolve(), settings.resolve())
    for path, hops in waiting:
        place = Path(os.path.realpath(path))
        if place in found or not path.is_file() or not any(map(place.is_relative_to, homes)):
            continue
        found[place] = path
        if hops < MOST_HOPS:
            waiting += [(place, hops + 1) for place in _included(path)]
    return list(found.values())


def _included(path: Path) -> Iterator[Path]:
    with suppress(OSError, UnicodeDecodeError):
        for name in inclusions(path.read_text(encoding="utf-8-sig")):
            is_mine = name.startswith("~/")
            yield Path.home() / name[2:] if is_mine else path.parent / name
