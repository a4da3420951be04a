"""`mnemic config`: show the settings in force and where each comes from, and change the configuration file."""

from __future__ import annotations

import os
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from mnemic import config_file
from mnemic.console import output
from mnemic.console.run import Run, VerbGroup, pass_run
from mnemic.console.terminal import faint, table
from mnemic.errors import Invalid
from mnemic.project import AUTO, current_namespace
from mnemic.settings import (
    SECRETS,
    Settings,
    config_files,
    load,
    read_file,
    unknown,
    unknown_keys,
    value_of,
)

HEAD = "# Settings of Mnemic. `mnemic config list` shows all of them and where each value comes from.\n"


class _Key(click.ParamType[str, str]):
    name = "key"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        """The names of settings that begin so."""
        from click.shell_completion import CompletionItem

        return [
            CompletionItem(one.name, help=one.metadata["help"])
            for one in fields(Settings)
            if one.name.startswith(incomplete)
        ]


_key = click.argument("key", type=_Key())


@click.group(cls=VerbGroup, invoke_without_command=True)
@click.pass_context
def config(ctx: click.Context) -> None:
    """Show and change the settings. Without a command: list them."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_)


@config.command("list")
@pass_run
def list_(run: Run) -> None:
    """Show the settings in force and where each comes from: a flag, a variable, a file or the default."""
    settings = run.settings()
    files = _files()
    rows = [
        (item.name, shown(settings, item.name), config_file.source(item.name, run.flags))
        for item in fields(Settings)
    ]
    facts: dict[str, Any] = {
        "file": str(files[0]),
        "settings": {name: {"value": value, "from": source} for name, value, source in rows},
    }
    lines = table([[name, str(value), faint(source)] for name, value, source in rows])
    places = [f"{path}{'' if path.exists() else faint(' (not there)')}" for path in files]
    output.tell(run, facts, *places, "", *lines)


@config.command()
@_key
@pass_run
def get(run: Run, key: str) -> None:
    """Show the value of one setting; of a secret only whether it is set."""
    _must_be_known(key)
    value = shown(run.settings(), key)
    output.tell(run, {"key": key, "value": value, "from": config_file.source(key, run.flags)}, str(value))


@config.command("set")
@_key
@click.argument("values", nargs=-1, required=True, metavar="VALUE...")
@pass_run
def set_(run: Run, key: str, values: tuple[str, ...]) -> None:
    """Write a setting to the configuration file. Comments and everything else in it stay.

    A list takes several values. VALUE - reads one from standard input, so that a key is not in the shell's history.
    """
    given = (sys.stdin.read().strip(),) if values == ("-",) else values
    value = value_of(key, given)
    file = config_file.change(
        lambda toml, text: toml.with_member(text, config_file.place(toml, text, key), value)
    )
    _tell_change(run, key, file)


@config.command()
@_key
@pass_run
def unset(run: Run, key: str) -> None:
    """Remove a setting from the configuration file, so that its default holds again."""
    file = config_file.put(key, None)
    _tell_change(run, key, file)


@config.command()
@pass_run
def path(run: Run) -> None:
    """Show where the configuration file is, or would be."""
    file = _files()[0]
    output.tell(run, {"file": str(file), "exists": file.exists()}, str(file))


@config.command()
@pass_run
def edit(run: Run) -> None:
    """Open the configuration file in your editor ($VISUAL or $EDITOR), and check it afterwards."""
    file = _files()[0]
    if not file.exists():
        config_file.write(file, HEAD)
    click.edit(filename=str(file))
    held = read_file(file)
    load({}, os.environ)
    for key in unknown_keys(file, held):
        click.echo(f"Warning: {unknown(key)}", err=True)
    output.tell(run, {"file": str(file), "keys": list(held)}, f"{file} is valid.")


def _files() -> list[Path]:
    return config_files(os.environ)


def _must_be_known(key: str) -> None:
    if key not in {item.name for item in fields(Settings)}:
        raise Invalid(unknown(key), "key")


def _tell_change(run: Run, key: str, file: Path) -> None:
    """Tell what holds now: a flag or a variable may count before the file."""
    value, source = shown(run.settings(), key), config_file.source(key, run.flags)
    holds = "" if source in (str(file), "default") else f" {source} counts before the file."
    output.tell(
        run,
        {"key": key, "value": value, "from": source, "file": str(file)},
        f"{key} = {value} ({file}).{holds}",
    )


def _namespace(settings: Settings) -> str:
    """The namespace that native commands write to, and whether it is that of the project."""
    if settings.namespace != AUTO:
        return settings.namespace
    return f"{AUTO}: {current_namespace() or 'no project here, so global'}"


def shown(settings: Settings, name: str) -> Any:
    """A setting's value, or just that it is set if it is a secret."""
    value = settings.shown_database if name == "db" else getattr(settings, name)
    if name == "namespace":
        return _namespace(settings.for_project())
    if name in SECRETS:
        return "(set)" if value else ""
    return os.pathsep.join(value) if isinstance(value, tuple) else value
