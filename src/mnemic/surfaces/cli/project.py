"""The namespace that belongs to the folder one stands in: the name of its repository, else its own."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from mnemic.core.context import GLOBAL
from mnemic.dialects.ai_memory.rules import MAX_NAMESPACE
from mnemic.model.texts import cut

PATIENCE_SECONDS = 2
_SECTION = re.compile(r"\[\s*([\w.-]+)(?:\s+\"([^\"]*)\")?\s*\]")
_URL = re.compile(r"url\s*=\s*(\S+)", re.IGNORECASE)
_UNSURE = re.compile(r"^\s*\[\s*include|\\$|^\s*url\s*=.*[\"\\#;]", re.IGNORECASE | re.MULTILINE)
_UNWANTED = re.compile(r"[\s/\\\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


def namespace_here() -> str:
    """The namespace of the working folder: from the git remote `origin`, else the folder's name, else `global`."""
    try:
        folder = Path.cwd()
    except OSError:
        return GLOBAL
    return cleaned(repository_name(origin(folder) or "")) or cleaned(folder.name) or GLOBAL


def cleaned(name: str) -> str:
    """*name* without what a namespace cannot hold."""
    return cut(_UNWANTED.sub("-", name), MAX_NAMESPACE).strip("-")


def repository_name(url: str) -> str:
    """The last segment of an address such as `https://host/acme/widgets.git` or `git@host:acme/widgets`."""
    return re.split(r"[/\\:]", url.rstrip("/\\"))[-1].removesuffix(".git")


def origin(folder: Path) -> str | None:
    """The address of the remote `origin` of the repository that *folder* is in, or None.

    Its configuration is read here, since starting git takes longer than storing a memory does. Where it is not
    plain (a worktree, an included file, quotes), git is asked.
    """
    if "GIT_DIR" in os.environ:
        return _asked_of_git(folder)
    found = next((place / ".git" for place in (folder, *folder.parents) if (place / ".git").exists()), None)
    if found is None:
        return None
    try:
        text = (found / "config").read_text(encoding="utf-8") if found.is_dir() else None
    except (OSError, UnicodeDecodeError):
        text = None
    return _asked_of_git(folder) if text is None or _UNSURE.search(text) else configured(text)


def configured(text: str) -> str | None:
    """The address of `origin` that a plain configuration file holds; the last one counts, as it does for git."""
    found, is_origin = None, False
    for line in map(str.strip, text.splitlines()):
        if section := _SECTION.match(line):
            is_origin = (section[1].lower(), section[2]) == ("remote", "origin")
        elif is_origin and (url := _URL.match(line)):
            found = url[1]
    return found


def _asked_of_git(folder: Path) -> str | None:
    try:
        done = subprocess.run(
            ["git", "config", "--get", "remote.origin.url"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace").strip() or None
