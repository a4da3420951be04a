"""`mnemic copy`: a whole store from one database to another, of the same or the other engine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from mnemic.console import output
from mnemic.console.progress import progress
from mnemic.console.run import Run, Verb, is_missing, pass_run
from mnemic.console.terminal import count
from mnemic.core.copies import Copy, note_copy
from mnemic.errors import Invalid, MnemicError, NotFound, StoreUnusable

if TYPE_CHECKING:
    from mnemic.app import App
    from mnemic.storage import tables
    from mnemic.transfer.store_copy import Plan


@click.command(cls=Verb)
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option("--dry-run", is_flag=True, help="Show what would be copied without doing it.")
@pass_run
def copy(run: Run, source: str, target: str, dry_run: bool) -> None:
    """Copy the whole store FROM a file or postgresql:// address TO another.

    Everything comes along: memories in every state, links, sessions, the journal (so history, undo and as_of work in
    the copy), vectors, settings and access tokens. FROM may be in use; the copy shows the moment it began. TO must be
    a new file or an empty database. An interrupted copy is finished by the same command. At the end the rows of both
    are compared by counts and checksums.
    """
    places = [run.settings(db=one).database for one in (source, target)]
    names = [_shown(one, field) for one, field in zip(places, ("from", "to"), strict=True)]
    if names[0] == names[1]:
        raise Invalid("to: is the same database as FROM", "to")
    with _opened(run, places[0]) as app, _target(places[1]) as end:
        facts, sentence = _copied(app, end, names, dry_run)
    output.tell(run, {"from": names[0], "to": names[1], **facts}, sentence)


def _shown(place: str, field: str) -> str:
    """What tells a database from others, without a password."""
    if "://" not in place:
        return str(Path(place).expanduser().resolve())
    from mnemic.app import server_name

    with _naming(field):
        return server_name(place)


@contextmanager
def _naming(field: str) -> Iterator[None]:
    """Let errors name the argument that they are about."""
    try:
        yield
    except MnemicError as error:
        message = str(error).removeprefix("db: ").replace("given with --db", "given as " + field.upper())
        if isinstance(error, Invalid):
            raise Invalid(f"{field}: {message}", field) from None
        raise type(error)(f"{field}: {message}") from None


@contextmanager
def _opened(run: Run, place: str) -> Iterator[App]:
    """The store at *place*, which must be there. Without a model: its vectors are not for us to replace."""
    if is_missing(place):
        raise NotFound(f"from: there is no database {place}")
    with _naming("from"):
        opened = run.open(reads=True, db=place, embedder="none")
    with opened as app:
        yield app


@contextmanager
def _target(place: str) -> Iterator[tables.RowTarget]:
    from mnemic.app import copy_target

    with _naming("to"):
        target = copy_target(place)
    with target as opened:
        yield opened


def _copied(
    app: App, target: tables.RowTarget, names: list[str], dry_run: bool
) -> tuple[dict[str, Any], str]:
    """Copy the store; the result as facts and as a sentence."""
    from mnemic.transfer import store_copy

    if not dry_run and "://" not in names[1]:
        with suppress(StoreUnusable):  # it can only be read
            note_copy(app.ctx, Copy("copy", names[1]))
    began = time.monotonic()
    with cast("tables.Copyable", app.ctx.store).row_source() as source:
        wanted = store_copy.plan(source, target, names[0])
        if dry_run:
            verb = "would continue a copy of" if wanted.continues else "would copy"
            return (
                {**_facts(wanted), "tables": wanted.counts, "dry_run": True},
                f"{verb.capitalize()} {_size(wanted)}.",
            )
        _tell_beginning(wanted)
        with _unfinished(), progress("Copying") as advance:
            done = store_copy.copy(source, target, names[0], wanted, advance)
    seconds = time.monotonic() - began
    sums = {name: {"rows": one.rows, "checksum": str(one)} for name, one in done.sums.items()}
    facts = {
        **_facts(wanted),
        "kept": done.kept,
        "tables": sums,
        "verified": True,
        "seconds": round(seconds, 3),
    }
    return (
        facts,
        f"Copied {_size(wanted)} in {seconds:.1f} s. Counts and checksums of {len(sums)} tables agree.",
    )


def _facts(wanted: Plan) -> dict[str, Any]:
    return {"memories": wanted.memories, "rows": wanted.rows, "continued": wanted.continues}


def _size(wanted: Plan) -> str:
    return f"{count(wanted.memories, 'memory', 'memories')} ({wanted.rows:,} rows)"


def _tell_beginning(wanted: Plan) -> None:
    if wanted.continues:
        click.echo("Continuing an interrupted copy; tables that are complete are kept.", err=True)


@contextmanager
def _unfinished() -> Iterator[None]:
    """Say how to go on if the user stops the copy."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo("The copy is unfinished and not used. The same command finishes it.", err=True)
        raise
