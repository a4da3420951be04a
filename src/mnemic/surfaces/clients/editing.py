"""Putting a server into a client's configuration and taking it out: planned, checked, then written."""

from __future__ import annotations

import difflib
import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mnemic.errors import Conflict, MnemicError
from mnemic.surfaces.clients import jsonc, toml
from mnemic.surfaces.clients.catalogue import CLIENTS, Client, Machine, Scope, Syntax
from mnemic.surfaces.files import unused, written_whole


@dataclass(frozen=True, slots=True)
class Server:
    """How a client starts us, and the name it knows us by."""

    name: str
    command: str
    arguments: tuple[str, ...]

    def entry(self, client: Client) -> dict[str, Any]:
        """This server as *client* writes it."""
        return {**client.extra, "command": self.command, "args": list(self.arguments)}


@dataclass(frozen=True, slots=True)
class Edit:
    """One change to a client's file, not made yet."""

    client: Client
    file: Path
    before: str | None
    after: str

    @property
    def is_needed(self) -> bool:
        """False when the file already says what it should."""
        return (self.before or "") != self.after

    def difference(self) -> Iterator[str]:
        """The lines that go and come, as a unified diff."""
        old, new = (self.before or "").splitlines(), self.after.splitlines()
        return difflib.unified_diff(old, new, str(self.file), str(self.file), lineterm="")

    def make(self) -> Path | None:
        """Write the file whole; where the copy of the old one is, if there was one."""
        if _text(self.file) != self.before:
            raise Conflict(f"{self.file} has just been changed by another program; try again")
        self.file.parent.mkdir(parents=True, exist_ok=True)
        kept = self._copied()
        with written_whole(self.file) as stream:
            stream.write(self.after.encode())
        return kept

    def _copied(self) -> Path | None:
        if self.before is None:
            return None
        return Path(shutil.copy2(self.file, unused(self.file, ".bak")))


def plan_install(client: Client, machine: Machine, scope: Scope, server: Server) -> Edit:
    """The edit that makes *client* start *server*. Everything else in the file and in the entry stays as it is."""
    entry, path = server.entry(client), (client.key, server.name)

    def change(text: str) -> str:
        known = _at(_read(client.syntax, text), *path)
        wanted = _renewed(known, entry)
        if known == wanted:
            return text
        if client.syntax is Syntax.TOML:
            return toml.with_table(text, path, wanted)
        if wanted == entry:
            return jsonc.with_member(text, path, entry)
        for name, value in entry.items():
            text = jsonc.with_member(text, (*path, name), value)
        return text

    return _planned(client, client.file(machine, scope), server.name, entry, change)


def _renewed(known: Any, entry: dict[str, Any]) -> dict[str, Any]:
    """*entry* with what else stands in the *known* one, such as `env`, if that starts a program too."""
    return {**known, **entry} if isinstance(known, dict) and "command" in known else entry


def plan_uninstall(client: Client, machine: Machine, scope: Scope, name: str) -> Edit:
    """The edit that takes the server called *name* out of *client*'s file."""

    def change(text: str) -> str:
        if _at(_read(client.syntax, text), client.key, name) is None:
            return text
        if client.syntax is Syntax.TOML:
            return toml.without_table(text, (client.key, name))
        return jsonc.without_member(text, (client.key, name))

    return _planned(client, client.file(machine, scope), name, None, change)


@dataclass(frozen=True, slots=True)
class Setup:
    """A client's file that names a server of ours: how the client starts it, or why the file cannot be read."""

    client: Client
    scope: Scope
    file: Path
    command: str = ""
    fault: str = ""


def configured(machine: Machine, name: str) -> Iterator[Setup]:
    """Where a server called *name* is configured, and which files cannot be read. A file is looked at once."""
    seen: set[Path] = set()
    for client in CLIENTS.values():
        for scope in Scope:
            if scope is Scope.PROJECT and client.project_file is None:
                continue
            file = client.file(machine, scope)
            if file in seen:
                continue
            seen.add(file)
            try:
                held = _read(client.syntax, _text(file) or "")
            except (OSError, MnemicError, ValueError) as error:
                yield Setup(client, scope, file, fault=str(error))
                continue
            entry = _at(held, client.key, name)
            if entry is not None:
                yield Setup(client, scope, file, command=str(_at(entry, "command") or ""))


def _planned(
    client: Client, file: Path, name: str, wanted: dict[str, Any] | None, change: Callable[[str], str]
) -> Edit:
    """The edit that *change* makes, checked: it must do what is wanted and nothing else, or it is refused."""
    before = _text(file)
    text = before or ""
    try:
        after = change(text)
        is_right = not after.strip() or _told(client, after) == _expected(client, text, name, wanted)
    except ValueError as error:
        raise Conflict(f"{file}: cannot be read, so it was left alone: {error}") from None
    if not is_right:
        raise Conflict(f"{file}: is written in a way that cannot be edited safely, so it was left alone")
    return Edit(client, file, before, after)


def _expected(client: Client, text: str, name: str, wanted: dict[str, Any] | None) -> dict[str, Any]:
    told = _told(client, text)
    if wanted is None and _at(told, client.key, name) is None:
        return told
    servers = dict(told[client.key])
    known = servers.pop(name, None)
    if wanted is not None:
        servers[name] = _renewed(known, wanted)
    return {**told, client.key: servers}


def _told(client: Client, text: str) -> dict[str, Any]:
    """What *text* says; without its key there are no servers, just as if nothing stood below it."""
    return {client.key: {}, **_read(client.syntax, text)}


def _read(syntax: Syntax, text: str) -> dict[str, Any]:
    """What *text* holds: nothing if it is empty. ValueError if it cannot be read."""
    if not text.strip():
        return {}
    held = tomllib.loads(text) if syntax is Syntax.TOML else jsonc.read(text)
    if not isinstance(held, dict):
        raise ValueError("the file is not an object")
    return held


def _at(held: Mapping[str, Any], *path: str) -> Any:
    found: Any = held
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _text(file: Path) -> str | None:
    try:
        return file.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise Conflict(f"{file}: is not UTF-8 text, so it was left alone") from None
