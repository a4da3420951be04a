"""The configuration file: what it sets, where each value in force comes from, and changing it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from mnemic.errors import Invalid
from mnemic.settings import SECRETS, Settings, config_files, found, load, read_file, value_of

TTL = "ttl"
"""The table of a file in which lifetimes may stand."""


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """A setting, its value (of a secret only whether it is set) and where that comes from."""

    key: str
    value: Any
    source: str
    help: str
    choices: tuple[str, ...]
    is_secret: bool


def path() -> Path:
    """Where the configuration file is, or would be."""
    return config_files(os.environ)[0]


def entries() -> Iterator[ConfigEntry]:
    """Every setting as variables, files and defaults have it."""
    held = load({}, os.environ)
    for item in fields(Settings):
        name = item.name
        value = held.database if name == "db" else getattr(held, name)
        is_secret = name in SECRETS
        yield ConfigEntry(
            name,
            _shown(value, is_secret),
            source(name, {}),
            item.metadata["help"],
            tuple(item.metadata["choices"]),
            is_secret,
        )


def _shown(value: Any, is_secret: bool) -> Any:
    if is_secret:
        return "(set)" if value else ""
    return os.pathsep.join(value) if isinstance(value, tuple) else value


def source(name: str, flags: Mapping[str, Any]) -> str:
    """Where the setting *name* comes from: a flag, a variable, a file or the default."""
    files = [(file, read_file(file)) for file in config_files(os.environ)]
    return found(name, flags, os.environ, files)[1]


def put(key: str, value: str | None) -> Path:
    """Write a setting, or with None remove it, and return the file. Comments and everything else stay."""
    if value is None:
        return change(lambda toml, text: toml.without_member(text, place(toml, text, key)))
    kept = value_of(key, value.split(os.pathsep) if os.pathsep in value else (value,))
    return change(lambda toml, text: toml.with_member(text, place(toml, text, key), kept))


def put_list(key: str, added: Sequence[str], keeps: Callable[[str], bool]) -> list[str]:
    """Add to a setting that is a list, and remove the entries that *keeps* is false of, which are returned."""
    held = [str(one) for one in read_file(path()).get(key, ())]
    left = [one for one in held if keeps(one)] + list(added)
    if left:
        change(lambda toml, text: toml.with_member(text, place(toml, text, key), left))
    elif held:
        put(key, None)
    return [one for one in held if one not in left]


def place(toml: Any, text: str, key: str) -> tuple[str, ...]:
    """The place of *key* in the file: at the top, unless its table has it."""
    lives = toml.read(text).get(TTL)
    return (TTL, key) if isinstance(lives, dict) and key in lives else (key,)


def change(edited: Callable[[Any, str], str]) -> Path:
    """Write the edited configuration file back; Invalid if it cannot be edited."""
    from mnemic.client_config import toml

    file = path()
    text = file.read_bytes().decode("utf-8-sig") if file.exists() else ""
    try:
        write(file, edited(toml, text))
    except toml.TomlError as error:
        raise Invalid(f"{file.name}: {error}. `mnemic config edit` opens it.", "config") from None
    return file


def write(file: Path, text: str) -> None:
    """Replace the file by *text*, as a whole."""
    from mnemic.atomic_write import written_whole

    file.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(file) as stream:
        stream.write(text.encode())
