"""`mnemic sync`: the same memories here and in another database or daemon."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnemic.errors import Invalid, NotFound
from mnemic.surfaces.cli import output
from mnemic.surfaces.cli.progress import progress
from mnemic.surfaces.cli.session import Session, Verb, pass_session
from mnemic.surfaces.cli.transfer import tell_errors

if TYPE_CHECKING:
    from mnemic.core.moving.syncing import Carried, Peer

COURSES = ("pull", "push", "merge")


@click.command(cls=Verb)
@click.argument("remote")
@click.option(
    "-d",
    "--direction",
    type=click.Choice(COURSES),
    default="merge",
    show_default=True,
    help="pull: import from REMOTE; push: export to it; merge: both.",
)
@click.option("--token", envvar="MNEMIC_TOKEN", help="Access token of the daemon. [env: MNEMIC_TOKEN]")
@pass_session
def sync(session: Session, remote: str, direction: str, token: str | None) -> int:
    """Sync with REMOTE, the file of another database or the address of a daemon.

    Memories are matched by id, or by a chosen name. A merge keeps the newer of two versions; a deletion on one side is
    not undone by the other; a superseded memory is superseded on both, unless it changed since. With pull or push what
    arrives replaces what is there, and the journal keeps the old version. A daemon never gives up a newer version, and
    is not told what was superseded.
    """
    from mnemic.core.moving import syncing

    course = syncing.Course(direction)
    with session.open() as app, _peer(session, remote, course, token) as peer, progress("Syncing") as told:
        synced = syncing.sync(app.ctx, peer, course, told)
    ways = [way for way in (synced.pulled, synced.pushed) if way]
    errors = [error for way in ways for error in way.done.errors]
    facts, sentence = _told(direction, synced.pulled, synced.pushed)
    output.tell(session, {**facts, "errors": errors}, sentence)
    tell_errors(session, errors)
    return 1 if errors and not any(way.done.imported or way.done.skipped for way in ways) else 0


@contextmanager
def _peer(session: Session, remote: str, course: str, token: str | None) -> Iterator[Peer]:
    if remote.startswith(("http://", "https://")):
        from mnemic.surfaces.cli.daemon import Daemon

        yield Daemon(remote, (token or "").strip() or None)
        return
    from mnemic.core.moving.syncing import OtherStore

    _must_be_another(session, remote)
    if course == "pull" and not Path(remote).expanduser().exists():
        raise NotFound(f"{remote} does not exist: there is nothing to pull")
    # Without a model: whichever it is used with, its vectors are not for us to replace.
    with session.open(db=remote, embedder="none") as other:
        yield OtherStore(other.ctx)


def _must_be_another(session: Session, remote: str) -> None:
    here, there = (Path(name).expanduser() for name in (session.settings().database, remote))
    if here.resolve() == there.resolve() or (here.exists() and there.exists() and here.samefile(there)):
        raise Invalid(f"{remote} is the database itself", "remote")


def _told(direction: str, pulled: Carried | None, pushed: Carried | None) -> tuple[dict[str, Any], str]:
    """What was done in numbers and in a sentence: what changed something, and of what only went there, how much."""
    here = pulled.done.imported if pulled else 0
    there = pushed.done.imported if pushed else 0
    if pushed is None:
        return {"direction": direction, "imported": here}, f"Pulled {here:,}."
    if pulled is None:
        told = f"Pushed {pushed.sent:,}, {there:,} of them new or changed there."
        return {"direction": direction, "exported": pushed.sent}, told
    return {"direction": direction, "pulled": here, "pushed": there}, f"Pulled {here:,}, pushed {there:,}."
