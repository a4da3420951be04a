"""`mnemic install` and `mnemic uninstall`: Mnemic in the configuration of an MCP client."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import click

from mnemic.project import AUTO, current_namespace
from mnemic.surfaces.cli import output
from mnemic.surfaces.cli.session import Session, Verb, pass_session
from mnemic.surfaces.cli.text import bad, good
from mnemic.surfaces.cli.vocabularies import LISTED, names
from mnemic.surfaces.clients import CLIENTS, Edit, Scope, Server, plan_install, plan_uninstall, this_machine

_client = click.argument("client", type=click.Choice(list(CLIENTS)), metavar="CLIENT")
_scope = click.option(
    "--scope",
    type=click.Choice([scope.value for scope in Scope]),
    default=Scope.USER.value,
    show_default=True,
    help="Configure it for the user, or for the project in this folder.",
)
_name = click.option("--name", default="mnemic", show_default=True, help="Name of the server in the client.")
_dry_run = click.option("--dry-run", is_flag=True, help="Show the change without making it.")


@click.command(cls=Verb, epilog="Clients: " + ", ".join(CLIENTS) + f"\n\n{LISTED}")
@_client
@click.option(
    "--dialect",
    metavar="NAME",
    shell_complete=names,
    help="Dialect to serve. [default: mnemic]",
)
@_scope
@_name
@_dry_run
@pass_session
def install(session: Session, client: str, dialect: str | None, scope: str, name: str, dry_run: bool) -> None:
    """Add Mnemic to the configuration of CLIENT.

    Everything else in the file stays as it is, comments included; a copy of the old file is kept beside it.
    Doing it again changes nothing.
    """
    server = Server(name, executable(Scope(scope)), words(session, dialect, Scope(scope)))
    edit = plan_install(CLIENTS[client], this_machine(), Scope(scope), server)
    carry_out(session, edit, dry_run, done=edit.client.after)


@click.command(cls=Verb, epilog="Clients: " + ", ".join(CLIENTS))
@_client
@_scope
@_name
@_dry_run
@pass_session
def uninstall(session: Session, client: str, scope: str, name: str, dry_run: bool) -> None:
    """Remove Mnemic from the configuration of CLIENT. Memories stay."""
    edit = plan_uninstall(CLIENTS[client], this_machine(), Scope(scope), name)
    carry_out(session, edit, dry_run, done="Memories stay where they are.")


def carry_out(session: Session, edit: Edit, dry_run: bool, done: str) -> None:
    """Make *edit* unless it is only to be shown, and tell what happened."""
    kept = edit.make() if edit.is_needed and not dry_run else None
    facts = {
        "client": edit.client.name,
        "file": str(edit.file),
        "changed": edit.is_needed,
        "dry_run": dry_run,
    }
    if kept:
        facts["kept"] = str(kept)
    output.tell(session, facts, *_sentences(edit, kept, dry_run, done))


def _sentences(edit: Edit, kept: Path | None, dry_run: bool, done: str) -> list[str]:
    if not edit.is_needed:
        return [f"{edit.client.title}: nothing to change in {edit.file}."]
    if dry_run:
        return [_coloured(line) for line in edit.difference()]
    beside = [f"The old file is kept as {kept.name}."] if kept else []
    return [f"{edit.client.title}: wrote {edit.file}.", *beside, done]


def _coloured(line: str) -> str:
    return good(line) if line.startswith("+") else bad(line) if line.startswith("-") else line


def executable(scope: Scope) -> str:
    """How a client starts us: by path, since applications know no PATH of ours; by name in a shared file."""
    if scope is Scope.PROJECT:
        return "mnemic"
    beside = Path(sys.executable).with_name("mnemic.exe" if os.name == "nt" else "mnemic")
    started_as = Path(sys.argv[0])
    for candidate in (started_as if started_as.stem == "mnemic" else beside, beside):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate.absolute())
    return shutil.which("mnemic") or "mnemic"


def words(session: Session, dialect: str | None, scope: Scope) -> tuple[str, ...]:
    """The arguments a client starts us with: a database set by a variable is named: clients see none."""
    from mnemic.app import dialect as known

    settings = session.settings(**(session.database_of(known(dialect)) if dialect else {}))
    database = settings.db if scope is Scope.USER else session.flags.get("db")
    named = settings.namespace if scope is Scope.USER else session.flags.get("namespace")
    namespace = pinned(dialect) if scope is Scope.PROJECT and named in (None, AUTO) else named
    if database and "://" not in database and scope is Scope.USER:
        database = str(Path(database).expanduser().absolute())
    flags = (("--dialect", dialect), ("--namespace", namespace), ("--db", database))
    return ("mcp", *(word for flag, value in flags if value for word in (flag, value)))


def pinned(dialect: str | None) -> str | None:
    """The namespace that a project's shared file names: a colleague's clone may lie in a folder of another name."""
    return current_namespace() if dialect in (None, "mnemic") else None
