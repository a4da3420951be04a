"""`mnemic config`: the settings in force and where each comes from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from mnemic.settings import CONFIG_FILE, Settings, config_folder
from mnemic.surfaces.cli import output
from mnemic.surfaces.cli.session import Session, Verb, pass_session
from mnemic.surfaces.cli.text import faint, table

SECRETS = frozenset({"token", "embed_key"})


@click.command(cls=Verb)
@pass_session
def config(session: Session) -> None:
    """Show the settings in force and where each comes from: a flag, a variable, the file or the default."""
    settings = session.settings()
    file = config_file()
    held = settings_in(file)
    rows = [
        (item.name, shown(settings, item.name), origin(item.name, session.flags, held))
        for item in fields(Settings)
    ]
    facts: dict[str, Any] = {
        "file": str(file),
        "settings": {name: {"value": value, "from": source} for name, value, source in rows},
    }
    lines = table([[name, str(value), faint(source)] for name, value, source in rows])
    output.tell(session, facts, f"{file}{'' if file.exists() else faint(' (not there)')}", "", *lines)


def config_file() -> Path:
    """The file settings are read from."""
    return Path(os.environ.get("MNEMIC_CONFIG") or config_folder() / CONFIG_FILE)


def settings_in(file: Path) -> Mapping[str, Any]:
    """What *file* sets. It has been read before, so it is valid if it is there."""
    import tomllib

    return tomllib.loads(file.read_text()) if file.exists() else {}


def shown(settings: Settings, name: str) -> Any:
    """A setting's value, or just that it is set if it is a secret."""
    value = settings.database if name == "db" else getattr(settings, name)
    if name in SECRETS:
        return "(set)" if value else ""
    return os.pathsep.join(value) if isinstance(value, tuple) else value


def origin(name: str, flags: Mapping[str, Any], held: Mapping[str, Any]) -> str:
    """Where the setting *name* comes from."""
    if flags.get(name):
        return f"--{name.replace('_', '-')}"
    if os.environ.get(f"MNEMIC_{name.upper()}"):
        return f"MNEMIC_{name.upper()}"
    return "file" if held.get(name) not in (None, "") else "default"
