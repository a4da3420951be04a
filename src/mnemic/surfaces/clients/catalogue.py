"""The clients we know: the file each reads, on each system, and the shape of an entry in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from mnemic.errors import Invalid


class Scope(StrEnum):
    """For whom a server is configured: this user everywhere, or everyone in this folder."""

    USER = "user"
    PROJECT = "project"


class Syntax(StrEnum):
    """How a configuration is written."""

    JSON = "json"
    TOML = "toml"


@dataclass(frozen=True, slots=True)
class Machine:
    """What decides where files are: the system, the home, the working folder, the environment."""

    system: str
    home: Path
    folder: Path
    environment: Mapping[str, str]

    def application_data(self) -> Path:
        """Where graphical applications keep their settings."""
        if self.system == "darwin":
            return self.home / "Library" / "Application Support"
        if self.system == "win32":
            return Path(self.environment.get("APPDATA") or self.home / "AppData" / "Roaming")
        return Path(self.environment.get("XDG_CONFIG_HOME") or self.home / ".config")


def this_machine() -> Machine:
    """The machine we run on, seen from the working folder."""
    return Machine(sys.platform, Path.home(), Path.cwd(), os.environ)


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One client: where its files are, and under which key servers stand in them."""

    name: str
    title: str
    user_file: Callable[[Machine], Path]
    project_file: str | None = None
    key: str = "mcpServers"
    syntax: Syntax = Syntax.JSON
    extra: Mapping[str, str] = field(default_factory=dict)
    """What an entry holds beside command and args."""
    after: str = "Restart it to connect."

    def file(self, machine: Machine, scope: Scope) -> Path:
        """The file for *scope*, or Invalid if the client has none."""
        if scope is Scope.USER:
            return self.user_file(machine)
        if self.project_file is None:
            raise Invalid(f"scope: {self.title} has no configuration for a project", "scope")
        return machine.folder / self.project_file


def _claude_code(machine: Machine) -> Path:
    return Path(machine.environment.get("CLAUDE_CONFIG_DIR") or machine.home) / ".claude.json"


def _codex(machine: Machine) -> Path:
    return Path(machine.environment.get("CODEX_HOME") or machine.home / ".codex") / "config.toml"


CLIENTS: dict[str, Client] = {
    client.name: client
    for client in (
        Client(
            name="claude-code",
            title="Claude Code",
            user_file=_claude_code,
            project_file=".mcp.json",
            extra={"type": "stdio"},
            after="New sessions connect; /mcp shows the connection.",
        ),
        Client(
            name="claude-desktop",
            title="Claude Desktop",
            user_file=lambda machine: machine.application_data() / "Claude" / "claude_desktop_config.json",
        ),
        Client(
            name="cursor",
            title="Cursor",
            user_file=lambda machine: machine.home / ".cursor" / "mcp.json",
            project_file=".cursor/mcp.json",
        ),
        Client(
            name="vscode",
            title="VS Code",
            user_file=lambda machine: machine.application_data() / "Code" / "User" / "mcp.json",
            project_file=".vscode/mcp.json",
            key="servers",
            extra={"type": "stdio"},
            after="It offers to start the server when you next use agent mode.",
        ),
        Client(
            name="codex",
            title="Codex",
            user_file=_codex,
            project_file=".codex/config.toml",
            key="mcp_servers",
            syntax=Syntax.TOML,
            after="New sessions connect; a project's file counts once the project is trusted.",
        ),
        Client(
            name="windsurf",
            title="Windsurf",
            user_file=lambda machine: machine.home / ".codeium" / "windsurf" / "mcp_config.json",
        ),
        Client(
            name="gemini",
            title="Gemini CLI",
            user_file=lambda machine: machine.home / ".gemini" / "settings.json",
            project_file=".gemini/settings.json",
        ),
    )
}
