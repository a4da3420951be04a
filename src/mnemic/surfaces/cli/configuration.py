"""`mnemic config`: the settings in force and where each comes from."""

from __future__ import annotations

import os
from dataclasses import fields
from typing import Any

import click

from mnemic.project import AUTO, current_namespace
from mnemic.settings import Settings, config_files, found, read_file
from mnemic.surfaces.cli import output
from mnemic.surfaces.cli.session import Session, Verb, pass_session
from mnemic.surfaces.cli.text import faint, table

SECRETS = frozenset({"token", "embed_key"})


@click.command(cls=Verb)
@pass_session
def config(session: Session) -> None:
    """Show the settings in force and where each comes from: a flag, a variable, a file or the default."""
    settings = session.settings()
    files = [(path, read_file(path)) for path in config_files(os.environ)]
    rows = [
        (item.name, shown(settings, item.name), found(item.name, session.flags, os.environ, files)[1])
        for item in fields(Settings)
    ]
    facts: dict[str, Any] = {
        "file": str(files[0][0]),
        "settings": {name: {"value": value, "from": source} for name, value, source in rows},
    }
    lines = table([[name, str(value), faint(source)] for name, value, source in rows])
    places = [f"{path}{'' if path.exists() else faint(' (not there)')}" for path, _ in files]
    output.tell(session, facts, *places, "", *lines)


def _namespace(settings: Settings) -> str:
    """The namespace that native commands write to, and whether it is that of the project."""
    if settings.namespace != AUTO:
        return settings.namespace
    return f"{AUTO}: {current_namespace() or 'no project here, so global'}"


def shown(settings: Settings, name: str) -> Any:
    """A setting's value, or just that it is set if it is a secret."""
    value = settings.database if name == "db" else getattr(settings, name)
    if name == "namespace":
        return _namespace(settings.for_project())
    if name in SECRETS:
        return "(set)" if value else ""
    return os.pathsep.join(value) if isinstance(value, tuple) else value
