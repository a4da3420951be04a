"""The dialect `all`: a view of the other dialects, with every tool under its name once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from mnemic.dialects import DIALECTS, NATIVE, load
from mnemic.dialects.combined.shared import SHARED
from mnemic.dialects.framework import Dialect, Operation, Prompt, Tool
from mnemic.transfer.mirror import Mirror

NAME = "all"
INSTRUCTIONS = """\
All dialects of Mnemic over one store: what is kept through one is found through every other. The brackets at the \
end of a tool's description name those it belongs to. Keep to the dialect your prompts speak; without one, use the \
tools of [mnemic]."""
SHARED_TOOLS = {"graph_tools": {"mcp-memory"}, "stats_tool": {"ai-memory", "agentic-memory"}}
"""The modules of shared tools, each with the dialects it builds on; without one of these it is left out."""


def shared_tools() -> Dialect:
    """The dialect of the names that several dialects share."""
    for module, needed in SHARED_TOOLS.items():
        if needed <= set(DIALECTS):
            for name in needed:
                load(name)
            import_module(f"mnemic.dialects.combined.{module}")
    return SHARED


@dataclass(kw_only=True)
class Every(Dialect):
    """The dialects as one: for each tool, who answers and whose word it is."""

    homes: dict[str, Dialect] = field(default_factory=dict)
    users: dict[str, list[str]] = field(default_factory=dict)

    def resolve(self, name: str) -> Tool:
        """The tool of this name in the dialect that declares it."""
        operation = self.find(name)
        return Tool(self.homes[operation.name], operation)

    def listed(self, operation: Operation) -> dict[str, Any]:
        """The `tools/list` entry; the description ends with the dialects that have the tool."""
        entry = self.homes[operation.name].listed(operation)
        return {**entry, "description": f"{entry['description']} [{', '.join(self.users[operation.name])}]"}


def every(dialects: Sequence[Dialect]) -> Every:
    """These dialects as one."""
    view = Every(
        name=NAME,
        title="All dialects",
        instructions=INSTRUCTIONS,
        prompts=tuple(_prompts(dialects)),
        resources=tuple(resource for dialect in dialects for resource in dialect.resources),
        mirror=lambda environment: _mirror(dialects, environment),
        database=lambda environment: _database(dialects, environment),
    )
    for dialect in dialects:
        view.aliases |= dialect.aliases
        for name in dialect.operations:
            view.homes.setdefault(name, dialect)
            view.users.setdefault(name, []).append(dialect.name)
    shared = shared_tools()
    for name, users in view.users.items():
        if len(users) > 1 and name in shared.operations:
            view.homes[name] = shared
        view.operations[name] = view.homes[name].operations[name]
    return view


def _prompts(dialects: Sequence[Dialect]) -> Iterator[Prompt]:
    """All prompts; a shared name is prefixed with its dialect, the native one first."""
    taken: set[str] = set()
    for dialect in sorted(dialects, key=lambda one: one.name == NATIVE):
        for prompt in dialect.prompts:
            name = f"{dialect.name}-{prompt.name}" if prompt.name in taken else prompt.name
            taken.add(name)
            yield replace(prompt, name=name)


def _mirror(dialects: Sequence[Dialect], environment: Mapping[str, str]) -> Mirror | None:
    """The mirror file of the first dialect whose variable is set; a default file is left to its own dialect."""
    for dialect in dialects:
        if dialect.mirror and environment.get(dialect.mirror_variable):
            return dialect.mirror(environment)
    return None


def _database(dialects: Sequence[Dialect], environment: Mapping[str, str]) -> Path | None:
    """The first database that is asked for in a dialect's own variables."""
    places = (dialect.database(environment) for dialect in dialects if dialect.database)
    return next((place for place in places if place), None)
