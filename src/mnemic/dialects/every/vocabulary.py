"""The dialect `all`: a view of the other vocabularies, with every tool under its name once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mnemic.core.moving.mirror import Mirror
from mnemic.dialects.anthropic import ANTHROPIC
from mnemic.dialects.every.shared import SHARED
from mnemic.dialects.operation import Dialect, Operation, Prompt
from mnemic.dialects.simple_memory import SIMPLE_MEMORY

NAME, HOUSE = "all", "mnemic"
INSTRUCTIONS = """\
All vocabularies of Mnemic over one store: what is kept through one is found through every other. The brackets at the \
end of a tool's description name those it belongs to. Keep to the vocabulary your prompts speak; without one, use the \
tools of [mnemic]."""
MIRRORS = {"MEMORY_FILE_PATH": ANTHROPIC, "MEMORY_PATH": SIMPLE_MEMORY}
"""Who keeps a file alive, by the variable that names it. The first that is set counts."""


@dataclass(kw_only=True)
class Every(Dialect):
    """The vocabularies as one: for each tool, who answers and whose word it is."""

    homes: dict[str, Dialect] = field(default_factory=dict)
    users: dict[str, list[str]] = field(default_factory=dict)

    def home_of(self, name: str) -> Dialect:
        """See Dialect."""
        return self.homes.get(self.aliases.get(name, name), self)

    def listed(self, operation: Operation) -> dict[str, Any]:
        """See Dialect. The description ends with the vocabularies that have the tool."""
        told = self.homes[operation.name].listed(operation)
        return {**told, "description": f"{told['description']} [{', '.join(self.users[operation.name])}]"}


def every(dialects: Sequence[Dialect]) -> Every:
    """These vocabularies as one."""
    view = Every(
        name=NAME,
        title="All vocabularies",
        instructions=INSTRUCTIONS,
        prompts=tuple(_prompts(dialects)),
        resources=tuple(resource for dialect in dialects for resource in dialect.resources),
        mirror=_mirror,
        database=lambda environment: _database(dialects, environment),
    )
    for dialect in dialects:
        view.aliases |= dialect.aliases
        for name, operation in dialect.operations.items():
            home = SHARED if name in SHARED.operations else dialect
            view.homes.setdefault(name, home)
            view.operations.setdefault(name, home.operations.get(name, operation))
            view.users.setdefault(name, []).append(dialect.name)
    return view


def _prompts(dialects: Sequence[Dialect]) -> Iterator[Prompt]:
    """Every prompt; one whose name is taken bears that of its vocabulary before its own. The house gives way."""
    taken: set[str] = set()
    for dialect in sorted(dialects, key=lambda one: one.name == HOUSE):
        for prompt in dialect.prompts:
            name = f"{dialect.name}-{prompt.name}" if prompt.name in taken else prompt.name
            taken.add(name)
            yield replace(prompt, name=name)


def _mirror(environment: Mapping[str, str]) -> Mirror | None:
    """The file that is asked for by name; one that a vocabulary keeps unasked is left to that vocabulary."""
    for variable, dialect in MIRRORS.items():
        if environment.get(variable) and dialect.mirror:
            return dialect.mirror(environment)
    return None


def _database(dialects: Sequence[Dialect], environment: Mapping[str, str]) -> Path | None:
    """The first database that is asked for in a vocabulary's own variables."""
    places = (dialect.database(environment) for dialect in dialects if dialect.database)
    return next((place for place in places if place), None)
