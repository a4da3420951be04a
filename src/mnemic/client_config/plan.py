"""Installing Mnemic into a client and removing it: each file's change is planned, checked, then written."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from mnemic.atomic_write import written_whole
from mnemic.client_config import hook_entries, instruction_block, jsonc
from mnemic.client_config.clients import CLIENTS, Client, ConfigScope, HookFile, Machine, Syntax
from mnemic.client_config.record import FileRecord, Records
from mnemic.errors import Conflict, MnemicError


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """How a client starts us, and the name it knows us by."""

    name: str
    command: str
    arguments: tuple[str, ...]

    def entry(self, client: Client) -> dict[str, Any]:
        """This server as *client* writes it."""
        return {**client.extra, **client.shape(self.command, self.arguments)}


@dataclass(frozen=True, slots=True)
class Edit:
    """One change to a client's file, not made yet."""

    file: Path
    before: str | None
    after: str | None
    """None deletes the file."""
    leaves: bool = False
    """Nothing of ours is left in the file afterwards."""

    @property
    def is_needed(self) -> bool:
        """False when the file already says what it should."""
        return (self.before or "") != (self.after or "") or (self.after is None and self.before is not None)

    def difference(self) -> Iterator[str]:
        """The lines that go and come, as a unified diff."""
        old, new = (self.before or "").splitlines(), (self.after or "").splitlines()
        return difflib.unified_diff(old, new, str(self.file), str(self.file), lineterm="")

    def make(self, records: Records) -> None:
        """Write or delete the file, and write down what it held before us, until we leave it."""
        if _text(self.file) != self.before:
            raise Conflict(f"{self.file} has just been changed by another program; try again")
        record = records.of(self.file)
        if record is None and not self.leaves:
            records.keep(FileRecord(str(self.file), self.before, tuple(map(str, _missing(self.file.parent)))))
        if self.after is None:
            self.file.resolve().unlink(missing_ok=True)
            _remove_empty(record.folders if record else ())
        else:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with written_whole(self.file) as stream:
                stream.write(self.after.encode())
        if self.leaves:
            records.drop(self.file)


def _missing(folder: Path) -> Iterator[Path]:
    """The folders that have to be made for *folder*, innermost first."""
    while not folder.exists():
        yield folder
        folder = folder.parent


def _remove_empty(folders: Sequence[str]) -> None:
    for folder in map(Path, folders):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def plan_install(
    client: Client,
    machine: Machine,
    scope: ConfigScope,
    server: ServerEntry,
    hook_flags: Sequence[str] | None = None,
) -> list[Edit]:
    """The edits that make *client* start *server* and know of it; with *hook_flags*, call its hooks with them.

    Everything else in the files stays as it is.
    """
    steps = [(client.file(machine, scope), _server_step(client, server))]
    if client.hooks is not None and hook_flags is not None:
        steps.append(
            (client.hooks.file(machine, scope), _hook_step(client.hooks, client, machine, server, hook_flags))
        )
    if client.instructions and (file := client.instructions.file(machine, scope)):
        preamble = client.instructions.preamble
        steps.append((file, lambda text: instruction_block.with_block(text, preamble)))
    return [_edit(file, _chained(file, steps)) for file in dict.fromkeys(file for file, _ in steps)]


def _chained(file: Path, steps: Sequence[tuple[Path, Callable[[str], str]]]) -> Callable[[str], str]:
    """All steps that are about *file*, one after the other."""

    def change(text: str) -> str:
        for place, step in steps:
            text = step(text) if place == file else text
        return text

    return change


def _edit(file: Path, change: Callable[[str], str]) -> Edit:
    before = _text(file)
    try:
        return Edit(file, before, change(before or ""))
    except ValueError as error:
        raise Conflict(f"{file}: cannot be edited, so it was left alone: {error}") from None


def _server_step(client: Client, server: ServerEntry) -> Callable[[str], str]:
    entry, path = server.entry(client), (client.key, server.name)

    def change(text: str) -> str:
        before, known = text, _at(_read(client.syntax, text), *path)
        if not _is_program(known):
            text = _format(client.syntax).with_member(text, path, entry)
        else:
            for name, value in entry.items():
                if known.get(name) != value:
                    text = _format(client.syntax).with_member(text, (*path, name), value)
        return _checked(client, before, text, server.name, entry)

    return change


def _hook_step(
    hooks: HookFile, client: Client, machine: Machine, server: ServerEntry, flags: Sequence[str]
) -> Callable[[str], str]:
    def line(event: str) -> str:
        return hook_entries.command_line(machine.system, server.command, client.name, event, flags)

    wanted = {event: hook_entries.entry(hooks, event, line(event)) for event in hooks.events}
    return lambda text: hook_entries.with_entries(text, hooks, wanted)


def _is_program(known: Any) -> bool:
    """Whether the *known* entry starts a program, so that what else it holds, such as `env`, stays."""
    return isinstance(known, dict) and not {"command", "cmd"}.isdisjoint(known)


def plan_uninstall(
    client: Client,
    machine: Machine,
    scope: ConfigScope,
    name: str,
    records: Records,
    leaving: Collection[str] = (),
) -> list[Edit]:
    """The edits that take the server called *name* out of *client*; if it is our last, hooks and block too.

    A block stays while another client reads it, unless that is *leaving* as well.
    """
    file = client.file(machine, scope)
    steps: list[tuple[Path, Removal]] = [(file, _server_removal(client, name))]
    is_last = not _others(client, file, name)
    if is_last and client.hooks is not None:
        steps.append((client.hooks.file(machine, scope), hook_entries.without_entries))
    if is_last and client.instructions:
        preamble = client.instructions.preamble
        steps += [
            (block, lambda text, _: instruction_block.without_block(text, preamble))
            for block in client.instructions.files(machine, scope)
            if not block.is_dir() and not _is_read(block, machine, scope, {client.name, *leaving})
        ]
    files = dict.fromkeys(file for file, _ in steps)
    return [replace(_removal(file, steps, records.of(file)), leaves=is_last) for file in files]


def _is_read(block: Path, machine: Machine, scope: ConfigScope, but: Collection[str]) -> bool:
    """Whether a client that starts us, of those not named in *but*, reads the file of instructions *block*."""
    return any(
        other.instructions is not None
        and other.instructions.file(machine, scope) == block
        and (scope is ConfigScope.USER or other.project_file is not None)
        and _others(other, other.file(machine, scope), name="")
        for other in CLIENTS.values()
        if other.name not in but
    )


Removal = Callable[[str, str | None], str]
"""Takes us out of a text, given what the file held before us, as far as that is known."""


def _removal(file: Path, steps: Sequence[tuple[Path, Removal]], record: FileRecord | None) -> Edit:
    original = record.before if record else None
    # A file that we made began empty.
    known = "" if record and original is None else original
    edit = _edit(file, _chained(file, [(place, _given(step, known)) for place, step in steps]))
    if record is None or not edit.is_needed or edit.after is None:
        return edit
    if original is None and _says_nothing(file, edit.after):
        return Edit(file, edit.before, None)
    is_same = original is not None and _same(file, edit.after, original)
    return Edit(file, edit.before, original) if is_same else edit


def _given(step: Removal, known: str | None) -> Callable[[str], str]:
    return lambda text: step(text, known)


def _says_nothing(file: Path, text: str) -> bool:
    if file.suffix not in (".json", ".toml", ".yaml"):
        return not text.strip()
    held = _read(Syntax(file.suffix[1:]), text)
    return not {key for key, value in held.items() if key != "version" and value != {}}


def _same(file: Path, text: str, other: str) -> bool:
    """Whether two texts of *file* say the same."""
    if file.suffix not in (".json", ".toml", ".yaml"):
        return text.strip() == other.strip()
    one, two = (_read(Syntax(file.suffix[1:]), each) for each in (text, other))
    # `extensions:` alone is null in YAML.
    return {key: value or None for key, value in one.items()} == {
        key: value or None for key, value in two.items()
    }


def _server_removal(client: Client, name: str) -> Removal:
    def change(text: str, known: str | None) -> str:
        if _at(_read(client.syntax, text), client.key, name) is None:
            return text
        after = _checked(
            client, text, _format(client.syntax).without_member(text, (client.key, name)), name, None
        )
        is_ours = known is not None and client.key not in _read(client.syntax, known)
        if is_ours and not _read(client.syntax, after).get(client.key, True):
            after = _format(client.syntax).without_member(after, (client.key,))
        return after

    return change


def _others(client: Client, file: Path, name: str) -> bool:
    """Whether *client* has another server of ours than the one called *name*."""
    try:
        servers = _at(_read(client.syntax, _text(file) or ""), client.key) or {}
    except (OSError, ValueError, MnemicError):
        return False
    return any(_is_ours(entry) for key, entry in servers.items() if key != name)


def _is_ours(entry: Any) -> bool:
    started = _at(entry, "command") or _at(entry, "cmd") if isinstance(entry, dict) else None
    command = started[0] if isinstance(started, list) and started else started
    return isinstance(command, str) and Path(command).stem == "mnemic"


@dataclass(frozen=True, slots=True)
class Setup:
    """A client's file that names a server of ours: how the client starts it, or why the file cannot be read."""

    client: Client
    scope: ConfigScope
    file: Path
    command: str = ""
    fault: str = ""


def configured(machine: Machine, name: str) -> Iterator[Setup]:
    """Where a server called *name* is configured, and which files are unreadable. Each file is read once."""
    seen: set[Path] = set()
    for client in CLIENTS.values():
        for scope in ConfigScope:
            if scope is ConfigScope.PROJECT and client.project_file is None:
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
                yield Setup(client, scope, file, command=_started(entry))


def _started(entry: Any) -> str:
    """The program that an entry starts."""
    started = _at(entry, "command") or _at(entry, "cmd") or ""
    return str(started[0] if isinstance(started, list) and started else started)


def _checked(client: Client, text: str, after: str, name: str, wanted: dict[str, Any] | None) -> str:
    """*after*, verified: refused unless it differs from *text* in exactly the intended member."""
    try:
        is_right = not after.strip() or _configuration(client, after) == _expected(client, text, name, wanted)
    except ValueError:
        is_right = False
    if not is_right:
        raise ValueError("it is written in a way that cannot be edited safely")
    return after


def _expected(client: Client, text: str, name: str, wanted: dict[str, Any] | None) -> dict[str, Any]:
    configuration = _configuration(client, text)
    if wanted is None and _at(configuration, client.key, name) is None:
        return configuration
    servers = dict(configuration[client.key])
    known = servers.pop(name, None)
    if wanted is not None:
        servers[name] = {**known, **wanted} if _is_program(known) else wanted
    return {**configuration, client.key: servers}


def _configuration(client: Client, text: str) -> dict[str, Any]:
    """The parsed *text*; without the servers' key there are no servers."""
    held = _read(client.syntax, text)
    return {**held, client.key: {} if held.get(client.key) is None else held[client.key]}


class FileFormat(Protocol):
    """Reads and edits the text of a configuration; ValueError if it cannot be read."""

    def read(self, text: str) -> Any:
        """The value *text* holds."""

    def with_member(self, text: str, path: Sequence[str], value: Any) -> str:
        """*text* with the member at *path* set to *value*."""

    def without_member(self, text: str, path: Sequence[str]) -> str:
        """*text* without the member at *path*."""


def _format(syntax: Syntax) -> FileFormat:
    """The editor for *syntax*. Only the clients that need them pay for loading those for TOML and YAML."""
    if syntax is Syntax.JSON:
        return jsonc
    if syntax is Syntax.YAML:
        from mnemic.client_config import yaml

        return yaml
    from mnemic.client_config import toml

    return toml


def _read(syntax: Syntax, text: str) -> dict[str, Any]:
    """What *text* holds: nothing if it is empty. ValueError if it cannot be read."""
    if not text.strip():
        return {}
    held = _format(syntax).read(text)
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
