"""The memory tool of the Anthropic API: files below `/memories`, each of them a memory whose name is its path.

The answers and errors are worded as the protocol documents them, since Claude is used to these. Every change is in the
journal and can be undone. What other agents find is the text of the files, like any memory of the namespace.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from mnemic.api import Memories, Memory
from mnemic.errors import MnemicError

ROOT = "/memories"
KIND = "file"
EMPTY = "(empty file)"
"""The text of a memory whose file is empty; its metadata says that it is."""
EDITED = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
PAGE = 500
SHOWN_LEVELS = 2
NUMBER_WIDTH = 6


class MnemicMemoryTool(BetaAbstractMemoryTool):
    """A memory tool over the files in *namespace* of *memories*, for `client.beta.messages.tool_runner`."""

    def __init__(self, memories: Memories, namespace: str | None = None):
        super().__init__()
        self.memories = memories
        self.namespace = namespace or memories.context.home()

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """A file with line numbers, or the entries of a folder."""
        path = _checked(command.path)
        found = self._file(path)
        if found is None:
            return self._listing(path)
        first, last = (command.view_range or [1, -1])[:2]
        lines = _content(found).split("\n")
        chosen = lines[max(first - 1, 0) : None if last == -1 else last]
        return f"Here's the content of {command.path} with line numbers:\n" + "\n".join(
            _numbered(chosen, max(first, 1))
        )

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """A new file; an error if there is one."""
        path = _checked(command.path)
        if self._file(path) or path == ROOT or any(self._below(path)):
            raise ToolError(f"File {command.path} already exists")
        self._write(path, command.file_text)
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """The file with a text that occurs in it once replaced by another."""
        path = _checked(command.path)
        content = _content(self._must_be(path))
        places = _places(content, command.old_str)
        if not places:
            raise ToolError(
                f"No replacement was performed, old_str `{command.old_str}` did not appear verbatim in {command.path}."
            )
        if len(places) > 1:
            lines = ", ".join(str(content.count("\n", 0, place) + 1) for place in places)
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{command.old_str}` in lines: {lines}. "
                "Please ensure it is unique"
            )
        before, after = content[: places[0]], content[places[0] + len(command.old_str) :]
        self._write(path, f"{before}{command.new_str}{after}")
        line = before.count("\n")
        shown = f"{before}{command.new_str}{after}".split("\n")[max(line - 2, 0) : line + 3]
        snippet = "\n".join(_numbered(shown, max(line - 2, 0) + 1))
        return f"{EDITED}\n{snippet}"

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """The file with a text behind one of its lines."""
        path = _checked(command.path)
        lines = _content(self._must_be(path)).removesuffix("\n").split("\n")
        lines = [] if lines == [""] else lines
        if not 0 <= command.insert_line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {command.insert_line}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        self._write(path, "\n".join(lines) + "\n")
        return f"The file {command.path} has been edited."

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """The file, or all files of a folder, deleted; they can be restored with `mnemic restore`."""
        path = _checked(command.path)
        if path == ROOT:
            raise ToolError(f"Cannot delete the {ROOT} directory itself")
        gone = self._all(path)
        self.memories.forget(*(memory.id for memory in gone))
        return f"Successfully deleted {command.path}"

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """The file, or all files of a folder, under another path."""
        old, new = _checked(command.old_path), _checked(command.new_path)
        if ROOT in (old, new):
            raise ToolError(f"Cannot rename the {ROOT} directory itself")
        if self._file(new) or any(self._below(new)):
            raise ToolError(f"The destination {command.new_path} already exists")
        for memory in self._all(old):
            self.memories.revise(memory.id, name=new + (memory.name or "")[len(old) :])
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        """All files deleted; they can be restored."""
        self.memories.forget(*(memory.id for memory in self._below(ROOT)))
        return "All memory cleared"

    def _file(self, path: str) -> Memory | None:
        return self.memories.get(self.namespace, path)

    def _must_be(self, path: str) -> Memory:
        found = self._file(path)
        if found is None:
            is_folder = path == ROOT or any(self._below(path))
            problem = "is not a file." if is_folder else "does not exist. Please provide a valid path."
            raise ToolError(f"The path {path} {problem}")
        return found

    def _below(self, folder: str) -> Iterator[Memory]:
        """The files in *folder* and the folders in it, by path."""
        found, offset = [], 0
        while page := self.memories.list(namespace=self.namespace, kinds=[KIND], limit=PAGE, offset=offset):
            found += [one for one in page if (one.name or "").startswith(f"{folder}/")]
            offset += len(page)
        return iter(sorted(found, key=lambda one: one.name or ""))

    def _all(self, path: str) -> list[Memory]:
        """The file, or those of the folder; an error if there is neither."""
        found = self._file(path)
        files = [found] if found else list(self._below(path))
        if not files:
            raise ToolError(f"The path {path} does not exist")
        return files

    def _listing(self, folder: str) -> str:
        files = list(self._below(folder))
        if not files and folder != ROOT:
            raise ToolError(f"The path {folder} does not exist. Please provide a valid path.")
        sizes: dict[str, int] = {}
        for memory in files:
            parts = (memory.name or "")[len(folder) + 1 :].split("/")
            if any(part.startswith(".") for part in parts):
                continue
            size = len(_content(memory).encode())
            for depth in range(1, min(len(parts), SHOWN_LEVELS) + 1):
                name = "/".join(parts[:depth]) + ("/" if depth < len(parts) else "")
                sizes[name] = sizes.get(name, 0) + size
        total = sum(len(_content(memory).encode()) for memory in files)
        lines = [
            f"{_size(total)}\t{folder}",
            *(f"{_size(size)}\t{folder}/{name}" for name, size in sizes.items()),
        ]
        return (
            f"Here're the files and directories up to 2 levels deep in {folder}, excluding hidden items:\n"
            + "\n".join(lines)
        )

    def _write(self, path: str, content: str) -> None:
        try:
            self.memories.upsert(
                path,
                content if content.strip() else EMPTY,
                kind=KIND,
                namespace=self.namespace,
                metadata={} if content.strip() else {"content": content},
            )
        except MnemicError as error:
            raise ToolError(f"{path} was not written: {error}") from None


def _checked(path: str) -> str:
    """*path* without a trailing slash; an error unless it is below the root."""
    if not path.startswith(ROOT):
        raise ToolError(f"Path must start with {ROOT}, got: {path}")
    normal = posixpath.normpath(path)
    if normal != ROOT and not normal.startswith(f"{ROOT}/"):
        raise ToolError(f"Path {path} would escape {ROOT} directory")
    return normal


def _content(memory: Memory) -> str:
    held = memory.metadata.get("content")
    return held if isinstance(held, str) else memory.text


def _places(content: str, text: str) -> list[int]:
    """Where *text* begins in *content*, overlapping places included."""
    places, start = [], content.find(text) if text else -1
    while start >= 0:
        places.append(start)
        start = content.find(text, start + 1)
    return places


def _numbered(lines: list[str], first: int) -> list[str]:
    return [f"{number:>{NUMBER_WIDTH}}\t{line}" for number, line in enumerate(lines, first)]


def _size(size: int) -> str:
    return f"{size}B" if size < 1024 else f"{size / 1024:.1f}K"
