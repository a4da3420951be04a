"""The namespace of the project one works in, read from its git repository without starting git.

The rule, first match wins:

1. `git config mnemic.namespace NAME` in the repository: a name somebody chose.
2. The last part of the address of the remote `origin`, or of the only remote.
3. The folder of the work tree; all linked worktrees of a repository share the folder of the main one.

A submodule is a repository of its own. Outside a repository there is no project, nor is one the home folder, which
some people keep in git. Two repositories of one name share a namespace, as a fork and its origin should; (1) or
`--namespace` keeps others apart.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from mnemic.model.text_size import cut

AUTO = "auto"
"""The setting that asks for the namespace of the project."""
MAX_BYTES = 128
MAX_CONFIG_BYTES = 1_000_000
_RESERVED = frozenset((AUTO, "global"))
_SECTION = re.compile(r"\[\s*([\w.-]+)(?:\s+\"((?:[^\"\\]|\\.)*)\")?\s*\]\s*(.*)")
_ENTRY = re.compile(r"([A-Za-z][\w-]*)\s*=\s*(.*)")
_COMMENT = re.compile(r"\s[#;].*$")
_UNWANTED = re.compile(r"[\s/\\*\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


def namespace_of(folder: Path, home: Path) -> str | None:
    """The namespace of the project that *folder* belongs to; None outside a repository and in *home* itself."""
    tree = _work_tree(folder, home)
    return None if tree is None else _name(tree)


def current_namespace(folder: Path | None = None) -> str | None:
    """The namespace of the project of *folder* (default: the working folder), or None."""
    try:
        return namespace_of(folder or Path.cwd(), Path.home().resolve())
    except (OSError, RuntimeError):  # a folder that was deleted, a user without a home
        return None


def main_work_tree(tree: Path) -> Path:
    """The folder whose repository *tree* belongs to: of a linked worktree the main one, else *tree* itself."""
    pointed = _pointed_to(tree / ".git", "gitdir:") if (tree / ".git").is_file() else None
    main = pointed and _pointed_to(pointed / "commondir", "")
    return main.parent if main and main.name == ".git" else tree


def _work_tree(folder: Path, home: Path) -> Path | None:
    """The nearest folder from *folder* upwards that git works in."""
    tree = next((place for place in (folder, *folder.parents) if (place / ".git").exists()), None)
    return None if tree is None or tree == home else tree


def _name(tree: Path) -> str | None:
    own = tree / ".git"
    if not own.is_dir():
        pointed = _pointed_to(own, "gitdir:")
        if pointed is None:
            return None
        own = pointed
    main = _pointed_to(own / "commondir", "")  # of a linked worktree alone
    entries = list(_entries((main or own) / "config"))
    folder = _folder_of(main) if main else tree.name
    return next(filter(None, map(cleaned, (_chosen(entries), last_part(_remote(entries)), folder))), None)


def _pointed_to(file: Path, prefix: str) -> Path | None:
    """The path that a small file of git holds after *prefix*, from the folder of the file."""
    try:
        text = file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
    return (file.parent / text.removeprefix(prefix).strip()).resolve() if text.startswith(prefix) else None


def _folder_of(repository: Path) -> str:
    """The name people know a repository by: of the folder around `.git`, or of a bare `widgets.git` itself."""
    return repository.parent.name if repository.name == ".git" else repository.name.removesuffix(".git")


def _entries(config: Path) -> Iterator[tuple[str, str, str, str]]:
    """The entries of a git configuration: section, subsection, key, value. Included files are not followed."""
    try:
        with config.open(encoding="utf-8", errors="replace") as file:
            text = file.read(MAX_CONFIG_BYTES)
    except OSError:
        return
    section, subsection = "", ""
    for line in map(str.strip, text.splitlines()):
        if opened := _SECTION.match(line):
            section, subsection, line = opened[1].lower(), opened[2] or "", opened[3]
        if entry := _ENTRY.match(line):
            yield section, subsection, entry[1].lower(), _value(entry[2])


def _value(written: str) -> str:
    plain = written if written.startswith('"') else _COMMENT.sub("", written)
    return plain.strip().strip('"').replace("\\\\", "\\")


def _chosen(entries: list[tuple[str, str, str, str]]) -> str:
    return next((value for *key, value in reversed(entries) if key == ["mnemic", "", "namespace"]), "")


def _remote(entries: list[tuple[str, str, str, str]]) -> str:
    """The address of `origin`, or of the only remote."""
    found = {name: value for section, name, key, value in entries if (section, key) == ("remote", "url")}
    only = next(iter(found.values())) if len(found) == 1 else ""
    return found.get("origin", only)


def last_part(address: str) -> str:
    """The name of a repository by its address, as in `https://host/acme/widgets.git` or `git@host:acme/widgets`."""
    return re.split(r"[/\\:]", address.rstrip("/\\"))[-1].removesuffix(".git")


def cleaned(name: str) -> str:
    """*name* as a namespace may be called in every dialect; one that has a meaning of its own is set apart."""
    plain = cut(_UNWANTED.sub("-", unicodedata.normalize("NFC", name)), MAX_BYTES).strip("-.")
    return f"{plain}-project" if plain in _RESERVED else plain
