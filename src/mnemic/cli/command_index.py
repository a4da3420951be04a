"""The names of the commands that are operations, read from the dialects' source without running it.

Loading a dialect costs four times what it takes to print help, since its shapes are compiled into validators.
The declarations are still the only place that says what there is: a test holds this list against them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mnemic.dialects import DIALECTS, module_name
from mnemic.errors import NotFound

_DIALECTS = Path(__file__).parents[1] / "dialects"
_DECLARATION = re.compile(
    r'^@\w+\.(?:operation|command)\((?P<hints>.*?)\)\ndef (?P<name>\w+)\([^\n]*\n    """(?P<text>[^\n]*?)(?:"""|\n)',
    re.DOTALL | re.MULTILINE,
)
_ABOUT = re.compile(r'\babout="([^"]*)"')
_NAME = re.compile(r'\bcli="([\w-]+)"')


@dataclass(frozen=True)
class IndexedCommand:
    """A command that is an operation: its name, where it is declared, and the first line of what it says of itself."""

    name: str
    dialect: str
    part: str
    text: str


def listed() -> dict[str, IndexedCommand]:
    """The commands that are operations, by name; the first dialect to use a name has it."""
    found: dict[str, IndexedCommand] = {}
    for command in _commands():
        found.setdefault(command.name, command)
    return found


def find(name: str) -> IndexedCommand:
    """The command *name*; NotFound if no operation is one. Stops reading at the first match."""
    for command in _commands():
        if command.name == name:
            return command
    raise NotFound(f"No such command: {name}")


def _commands() -> Iterator[IndexedCommand]:
    for dialect in DIALECTS:
        yield from _declared(dialect)


def _declared(dialect: str) -> Iterator[IndexedCommand]:
    module = module_name(dialect)
    for source in sorted(_DIALECTS.glob(f"{module}/*.py")):
        for found in _DECLARATION.finditer(source.read_text(encoding="utf-8")):
            for name in _NAME.findall(found["hints"]):
                about = _ABOUT.search(found["hints"])
                yield IndexedCommand(name, dialect, source.stem, about[1] if about else found["text"])
