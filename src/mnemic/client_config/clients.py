"""The clients we know: the file each reads, on each system, and the shape of an entry in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from mnemic.errors import Invalid


class ConfigScope(StrEnum):
    """For whom a server is configured: this user everywhere, or everyone in this folder."""

    USER = "user"
    PROJECT = "project"


class Syntax(StrEnum):
    """How a configuration is written."""

    JSON = "json"
    TOML = "toml"
    YAML = "yaml"


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
class HookFile:
    """Where a client keeps its hooks, and the shape of an entry there."""

    user_file: Callable[[Machine], Path]
    project_file: str
    events: tuple[str, ...]
    """The events that we are called at, in the client's words."""
    is_nested: bool = True
    """Whether an entry is a group of hooks, as in Claude Code, or a command by itself."""
    timeout: int | None = None
    """How long the client waits for us, in its unit."""
    short_timeouts: Mapping[str, int] = field(default_factory=dict)
    """Events for which it waits less, and how long."""
    version: int | None = None
    """The version that the file must name."""

    def file(self, machine: Machine, scope: ConfigScope) -> Path:
        """The file for *scope*."""
        return self.user_file(machine) if scope is ConfigScope.USER else machine.folder / self.project_file


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionFile:
    """Where a client reads what its agent should always know; the block for Mnemic goes there."""

    user_file: Callable[[Machine], Path] | None = None
    user_order: Callable[[Machine], tuple[Path, ...]] = lambda machine: ()
    """All files for the user of which the client reads only the first that exists: a new one would hide another."""
    project_file: str | None = None
    project_order: tuple[str, ...] = ()
    """The same in a project."""
    preamble: str = ""
    """What a new file must begin with."""

    def file(self, machine: Machine, scope: ConfigScope) -> Path | None:
        """The file that the client reads for *scope*, or the one to be made; None if it reads none."""
        files = self.files(machine, scope)
        return next((one for one in files[1:] if one.is_file()), files[0]) if files else None

    def files(self, machine: Machine, scope: ConfigScope) -> tuple[Path, ...]:
        """The file that is made for *scope* if there is none, and then all, in the order that the client reads them."""
        if scope is ConfigScope.USER:
            return (self.user_file(machine), *self.user_order(machine)) if self.user_file else ()
        names = (self.project_file, *self.project_order) if self.project_file else ()
        return tuple(machine.folder / name for name in names)


def _command_and_args(command: str, arguments: Sequence[str]) -> dict[str, Any]:
    return {"command": command, "args": list(arguments)}


def _one_list(command: str, arguments: Sequence[str]) -> dict[str, Any]:
    return {"command": [command, *arguments]}


def _cmd_and_args(command: str, arguments: Sequence[str]) -> dict[str, Any]:
    return {"cmd": command, "args": list(arguments)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One client: its files, and the key of its servers."""

    name: str
    title: str
    aliases: tuple[str, ...] = ()
    """Other words that people call it by."""
    user_file: Callable[[Machine], Path]
    project_file: str | None = None
    key: str = "mcpServers"
    syntax: Syntax = Syntax.JSON
    extra: Mapping[str, Any] = field(default_factory=dict)
    """What an entry holds beside the command."""
    shape: Callable[[str, Sequence[str]], dict[str, Any]] = _command_and_args
    """How an entry says what to start."""
    hooks: HookFile | None = None
    instructions: InstructionFile | None = None
    sign: Callable[[Machine], Path] | None = None
    """What is there if the client is; by default the folder of its file."""
    after: str = "Restart it to connect."

    def file(self, machine: Machine, scope: ConfigScope) -> Path:
        """The file for *scope*, or Invalid if the client has none."""
        if scope is ConfigScope.USER:
            return self.user_file(machine)
        if self.project_file is None:
            raise Invalid(f"scope: {self.title} has no configuration for a project", "scope")
        return machine.folder / self.project_file

    def is_found(self, machine: Machine) -> bool:
        """Whether the client seems to be installed."""
        file = self.user_file(machine)
        return file.exists() or (self.sign(machine) if self.sign else file.parent).exists()


def _claude_folder(machine: Machine) -> Path:
    return Path(machine.environment.get("CLAUDE_CONFIG_DIR") or machine.home / ".claude")


def _claude_code(machine: Machine) -> Path:
    return Path(machine.environment.get("CLAUDE_CONFIG_DIR") or machine.home) / ".claude.json"


def _codex_folder(machine: Machine) -> Path:
    return Path(machine.environment.get("CODEX_HOME") or machine.home / ".codex")


def _xdg(machine: Machine) -> Path:
    """Where programs of the terminal keep their settings, on macOS too."""
    if machine.system == "win32":
        return machine.application_data()
    return Path(machine.environment.get("XDG_CONFIG_HOME") or machine.home / ".config")


def _zed_folder(machine: Machine) -> Path:
    return _xdg(machine) / ("Zed" if machine.system == "win32" else "zed")


def _opencode_folder(machine: Machine) -> Path:
    return Path(machine.environment.get("XDG_CONFIG_HOME") or machine.home / ".config") / "opencode"


def _cline_folder(machine: Machine) -> Path:
    return Path(machine.environment.get("CLINE_DIR") or machine.home / ".cline")


def _cline(machine: Machine) -> Path:
    """One file for the extensions and the command line alike."""
    if file := machine.environment.get("CLINE_MCP_SETTINGS_PATH"):
        return Path(file)
    data = Path(machine.environment.get("CLINE_DATA_DIR") or _cline_folder(machine) / "data")
    return data / "settings" / "cline_mcp_settings.json"


def _extension(machine: Machine, name: str) -> Path:
    """Where an extension of VS Code keeps its settings."""
    return machine.application_data() / "Code" / "User" / "globalStorage" / name / "settings"


CLIENTS: dict[str, Client] = {
    client.name: client
    for client in (
        Client(
            name="claude-code",
            title="Claude Code",
            aliases=("claude",),
            user_file=_claude_code,
            project_file=".mcp.json",
            extra={"type": "stdio"},
            hooks=HookFile(
                user_file=lambda machine: _claude_folder(machine) / "settings.json",
                project_file=".claude/settings.json",
                events=(
                    *("SessionStart", "UserPromptSubmit", "PreCompact"),
                    *("Stop", "SubagentStop", "SessionEnd"),
                ),
                timeout=30,
            ),
            instructions=InstructionFile(
                user_file=lambda machine: _claude_folder(machine) / "CLAUDE.md", project_file="CLAUDE.md"
            ),
            sign=_claude_folder,
            after="New sessions connect; /mcp shows the connection, /hooks the hooks.",
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
            hooks=HookFile(
                user_file=lambda machine: machine.home / ".cursor" / "hooks.json",
                project_file=".cursor/hooks.json",
                events=("sessionStart", "beforeSubmitPrompt", "preCompact", "stop", "sessionEnd"),
                is_nested=False,
                version=1,
            ),
            instructions=InstructionFile(
                project_file=".cursor/rules/mnemic.mdc",
                preamble="---\ndescription: Memory across sessions\nalwaysApply: true\n---\n",
            ),
        ),
        Client(
            name="vscode",
            title="VS Code",
            aliases=("vs-code",),
            user_file=lambda machine: machine.application_data() / "Code" / "User" / "mcp.json",
            project_file=".vscode/mcp.json",
            key="servers",
            extra={"type": "stdio"},
            instructions=InstructionFile(project_file=".github/copilot-instructions.md"),
            after="It offers to start the server when you next use agent mode.",
        ),
        Client(
            name="codex",
            title="Codex",
            user_file=lambda machine: _codex_folder(machine) / "config.toml",
            project_file=".codex/config.toml",
            key="mcp_servers",
            syntax=Syntax.TOML,
            hooks=HookFile(
                user_file=lambda machine: _codex_folder(machine) / "hooks.json",
                project_file=".codex/hooks.json",
                events=(
                    "SessionStart",
                    "UserPromptSubmit",
                    "PreCompact",
                    "Stop",
                    "SubagentStop",
                    "SessionEnd",
                ),
                timeout=30,
                short_timeouts={"SessionEnd": 3},
            ),
            instructions=InstructionFile(
                user_file=lambda machine: _codex_folder(machine) / "AGENTS.md", project_file="AGENTS.md"
            ),
            after="New sessions connect and ask once whether to trust the hooks; a project must be trusted first.",
        ),
        Client(
            name="gemini",
            title="Gemini CLI",
            aliases=("gemini-cli",),
            user_file=lambda machine: machine.home / ".gemini" / "settings.json",
            project_file=".gemini/settings.json",
            hooks=HookFile(
                user_file=lambda machine: machine.home / ".gemini" / "settings.json",
                project_file=".gemini/settings.json",
                events=("SessionStart", "BeforeAgent", "PreCompress", "AfterAgent", "SessionEnd"),
                timeout=30_000,
            ),
            instructions=InstructionFile(
                user_file=lambda machine: machine.home / ".gemini" / "GEMINI.md", project_file="GEMINI.md"
            ),
        ),
        Client(
            name="windsurf",
            title="Windsurf",
            user_file=lambda machine: machine.home / ".codeium" / "windsurf" / "mcp_config.json",
            instructions=InstructionFile(
                user_file=lambda machine: (
                    machine.home / ".codeium" / "windsurf" / "memories" / "global_rules.md"
                )
            ),
        ),
        Client(
            name="zed",
            title="Zed",
            user_file=lambda machine: _zed_folder(machine) / "settings.json",
            project_file=".zed/settings.json",
            key="context_servers",
            instructions=InstructionFile(
                user_file=lambda machine: _zed_folder(machine) / "AGENTS.md",
                project_file="AGENTS.md",
                project_order=(
                    *(".rules", ".cursorrules", ".windsurfrules", ".clinerules"),
                    *(".github/copilot-instructions.md", "AGENT.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md"),
                ),
            ),
        ),
        Client(
            name="opencode",
            title="opencode",
            user_file=lambda machine: _opencode_folder(machine) / "opencode.json",
            project_file="opencode.json",
            key="mcp",
            extra={"type": "local", "enabled": True},
            shape=_one_list,
            instructions=InstructionFile(
                user_file=lambda machine: _opencode_folder(machine) / "AGENTS.md",
                user_order=lambda machine: (
                    _opencode_folder(machine) / "AGENTS.md",
                    machine.home / ".claude" / "CLAUDE.md",
                ),
                project_file="AGENTS.md",
                project_order=("AGENTS.md", "CLAUDE.md", "CONTEXT.md"),
            ),
        ),
        Client(
            name="cline",
            title="Cline",
            user_file=_cline,
            instructions=InstructionFile(
                user_file=lambda machine: _cline_folder(machine) / "rules" / "mnemic.md"
            ),
            sign=_cline_folder,
        ),
        Client(
            name="roo",
            title="Roo Code",
            aliases=("roo-code",),
            user_file=lambda machine: _extension(machine, "rooveterinaryinc.roo-cline") / "mcp_settings.json",
            project_file=".roo/mcp.json",
            instructions=InstructionFile(
                user_file=lambda machine: machine.home / ".roo" / "rules" / "mnemic.md",
                project_file=".roo/rules/mnemic.md",
            ),
        ),
        Client(
            name="copilot-cli",
            title="Copilot CLI",
            aliases=("copilot",),
            user_file=lambda machine: machine.home / ".copilot" / "mcp-config.json",
            project_file=".github/mcp.json",
            extra={"type": "local", "tools": ["*"]},
            instructions=InstructionFile(
                user_file=lambda machine: machine.home / ".copilot" / "copilot-instructions.md",
                project_file="AGENTS.md",
            ),
        ),
        Client(
            name="jetbrains",
            title="JetBrains Junie",
            aliases=("junie",),
            user_file=lambda machine: machine.home / ".junie" / "mcp" / "mcp.json",
            project_file=".junie/mcp/mcp.json",
            instructions=InstructionFile(
                user_file=lambda machine: machine.home / ".junie" / "AGENTS.md",
                project_file="AGENTS.md",
                project_order=(".junie/AGENTS.md", "AGENTS.md", ".junie/guidelines.md"),
            ),
            sign=lambda machine: machine.home / ".junie",
        ),
        Client(
            name="goose",
            title="Goose",
            user_file=lambda machine: (
                machine.application_data() / "Block" / "goose" / "config" / "config.yaml"
                if machine.system == "win32"
                else _xdg(machine) / "goose" / "config.yaml"
            ),
            key="extensions",
            syntax=Syntax.YAML,
            extra={"name": "Mnemic", "type": "stdio", "enabled": True, "timeout": 60},
            shape=_cmd_and_args,
            instructions=InstructionFile(user_file=lambda machine: _xdg(machine) / "goose" / ".goosehints"),
        ),
        Client(
            name="kiro",
            title="Kiro",
            user_file=lambda machine: machine.home / ".kiro" / "settings" / "mcp.json",
            project_file=".kiro/settings/mcp.json",
            instructions=InstructionFile(
                user_file=lambda machine: machine.home / ".kiro" / "steering" / "mnemic.md",
                project_file=".kiro/steering/mnemic.md",
            ),
            sign=lambda machine: machine.home / ".kiro",
        ),
        Client(
            name="lm-studio",
            title="LM Studio",
            aliases=("lmstudio",),
            user_file=lambda machine: machine.home / ".lmstudio" / "mcp.json",
        ),
        Client(
            name="continue",
            title="Continue",
            user_file=lambda machine: machine.home / ".continue" / "mcpServers" / "mnemic.json",
            project_file=".continue/mcpServers/mnemic.json",
            instructions=InstructionFile(
                user_file=lambda machine: machine.home / ".continue" / "rules" / "mnemic.md",
                project_file=".continue/rules/mnemic.md",
            ),
            sign=lambda machine: machine.home / ".continue",
        ),
    )
}
