"""The settings, read once at start: flags, then MNEMIC_* variables, then config.toml, then defaults."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from mnemic.errors import Invalid

CONFIG_FILE = "config.toml"


def data_folder() -> Path:
    """Where this user's memories live."""
    from platformdirs import user_data_path

    return user_data_path("mnemic", appauthor=False)


def config_folder() -> Path:
    """Where this user's settings live."""
    from platformdirs import user_config_path

    return user_config_path("mnemic", appauthor=False)


def _help(default: Any, text: str) -> Any:
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be set, with its default."""

    db: str = _help("", "a SQLite path; default: mnemic.db in the user's data folder")
    namespace: str = _help(
        "", "write to this namespace, read it and global; default: write to global, read all"
    )
    embedder: str = _help("local", "local, openai, ollama or none")
    embed_url: str = _help("", "address of the embedding server (openai, ollama)")
    embed_model: str = _help("", "name of the model there")
    embed_key: str = _help("", "key for the embedding server")
    host: str = _help("127.0.0.1", "address the daemon binds to")
    port: int = _help(9077, "port of the daemon")
    token: str = _help("", "one token that may do everything; required unless host is loopback")
    fast_writes: bool = _help(False, "acknowledge before the disk has it (synchronous=NORMAL)")
    allow_path: tuple[str, ...] = _help((), "more folders that tools may read files from")

    @property
    def database(self) -> str:
        """The database to open, with the default filled in."""
        return self.db or str(data_folder() / "mnemic.db")


def load(flags: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> Settings:
    """The settings in force. *flags* that are None were not given."""
    environment = os.environ if environment is None else environment
    from_file = _file(environment)
    chosen: dict[str, Any] = {}
    for item in fields(Settings):
        for value in (
            flags.get(item.name),
            environment.get(f"MNEMIC_{item.name.upper()}"),
            from_file.get(item.name),
        ):
            if value is not None and value != "":
                chosen[item.name] = _typed(item.name, value, item.default)
                break
    return Settings(**chosen)


def _file(environment: Mapping[str, str]) -> Mapping[str, Any]:
    path = Path(environment.get("MNEMIC_CONFIG") or config_folder() / CONFIG_FILE)
    try:
        text = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    import tomllib

    try:
        return tomllib.loads(text.decode())
    except ValueError as error:
        raise Invalid(f"{path.name}: not valid TOML: {error}", "config") from None


def _typed(name: str, value: Any, default: Any) -> Any:
    """*value* in the type of *default*; variables come as text, a list of folders separated as in PATH."""
    if isinstance(default, bool):
        if isinstance(value, str):
            return value.lower() in ("1", "true", "yes", "on")
        return bool(value)
    if isinstance(default, int):
        try:
            return int(value)
        except (TypeError, ValueError):
            raise Invalid(f"{name}: not a whole number: {value!r}", name) from None
    if isinstance(default, tuple):
        return tuple(value.split(os.pathsep)) if isinstance(value, str) else tuple(map(str, value))
    if not isinstance(value, str):
        raise Invalid(f"{name}: must be a text", name)
    return value
