"""`mnemic sync`: the same memories here and in another database or daemon."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnemic.cli.commands.transfer import conflict_lines, target_store
from mnemic.console import output
from mnemic.console.progress import progress
from mnemic.console.run import Run, Verb, is_missing, pass_run
from mnemic.errors import Invalid, NotFound

if TYPE_CHECKING:
    from mnemic.transfer.import_report import Report
    from mnemic.transfer.sync import Peer

NOWHERE = "no database yet"
COURSES = ("pull", "push", "merge")
WEB = ("http://", "https://")
HOST_AND_PORT = re.compile(r"[\w.-]+:\d+")


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
@click.option("--dry-run", is_flag=True, help="Show what would change on both sides without doing it.")
@click.option("--token", envvar="MNEMIC_TOKEN", help="Access token of the daemon. [env: MNEMIC_TOKEN]")
@pass_run
def sync(run: Run, remote: str, direction: str, dry_run: bool, token: str | None) -> int:
    """Sync with REMOTE, the file of another database or the address of a daemon.

    Memories are matched by id, then by chosen name, and merged field by field and statement by statement. Deletions,
    restores, purges and ended links travel too. A field that both sides changed is listed with both versions: the later
    change is kept on both sides, and the journal keeps the other. Statements that both sides wrote are all kept.
    """
    from mnemic.transfer import sync

    course = sync.Course(direction)
    is_new = not remote.startswith(WEB) and is_missing(remote)
    with (
        target_store(run, dry_run) as ctx,
        _peer(run, remote, course, token, dry_run) as peer,
        progress("Syncing") as told,
    ):
        synced = sync.sync(ctx, peer, course, told)
    ways = [way for way in (synced.pulled, synced.pushed) if way]
    _tell(run, direction, synced.pulled, synced.pushed, dry_run)
    if is_new and not run.as_json:
        output.lines([f"{remote} was not there and {'would be' if dry_run else 'was'} made."])
    errors = [error for way in ways for error in way.errors]
    output.tell_errors(run, errors)
    return 1 if errors and not any(way.imported or way.skipped for way in ways) else 0


@contextmanager
def _peer(run: Run, remote: str, course: str, token: str | None, dry_run: bool) -> Iterator[Peer]:
    from mnemic.transfer.sync import LocalPeer

    if remote.startswith(WEB):
        from mnemic.cli.remote_daemon import RemoteDaemon

        daemon = RemoteDaemon(remote, (token or "").strip() or None)
        if not dry_run:
            yield daemon
            return
        # What would happen there happens in a copy of what the daemon holds.
        with target_store(run, dry_run=True, db=NOWHERE) as copy:
            daemon.pull(copy)
            yield LocalPeer(copy)
        return
    _must_be_a_place(run, remote)
    if course == "pull" and not Path(remote).expanduser().exists():
        raise NotFound(f"{remote} does not exist: there is nothing to pull")
    # Without a model: whichever it is used with, its vectors are not for us to replace.
    with target_store(run, dry_run, db=remote, embedder="none") as ctx:
        yield LocalPeer(ctx)


def _must_be_a_place(run: Run, remote: str) -> None:
    if HOST_AND_PORT.fullmatch(remote) and not Path(remote).exists():
        raise Invalid(f"remote: {remote} is no file; for a daemon write http://{remote}", "remote")
    here, there = (Path(name).expanduser() for name in (run.settings().database, remote))
    if here.resolve() == there.resolve() or (here.exists() and there.exists() and here.samefile(there)):
        raise Invalid(f"{remote} is the database itself", "remote")


def _tell(run: Run, direction: str, pulled: Report | None, pushed: Report | None, dry_run: bool) -> None:
    """Say what changed here and there, and what both sides had changed."""
    ways = {"here": pulled, "there": pushed}
    conflicts = next((way.conflicts for way in ways.values() if way), [])
    facts: dict[str, Any] = {"direction": direction, **_counts(pulled, pushed)}
    facts |= {name: _details(way) for name, way in ways.items() if way and _details(way)}
    from mnemic.transfer.wire import conflict_entry

    facts["conflicts"] = [conflict_entry(one) for one in conflicts]
    facts["errors"] = [error for way in ways.values() if way for error in way.errors]
    if dry_run:
        facts["dry_run"] = True
    output.tell(run, facts, _sentence(pulled, pushed, dry_run), *_lines(ways), *conflict_lines(conflicts))


def _counts(pulled: Report | None, pushed: Report | None) -> dict[str, int]:
    if pushed is None:
        return {"imported": pulled.imported if pulled else 0}
    if pulled is None:
        return {"exported": pushed.imported + pushed.skipped}
    return {"pulled": pulled.imported, "pushed": pushed.imported}


def _sentence(pulled: Report | None, pushed: Report | None, dry_run: bool) -> str:
    here, there = (way.imported if way else 0 for way in (pulled, pushed))
    verbs = ("Would pull", "would push", "Would push") if dry_run else ("Pulled", "pushed", "Pushed")
    if pushed is None:
        return f"{verbs[0]} {here:,}."
    if pulled is None:
        sent = pushed.imported + pushed.skipped
        return f"{verbs[2]} {sent:,}, {there:,} of them new or changed there."
    return f"{verbs[0]} {here:,}, {verbs[1]} {there:,}."


DETAILS = {
    "added": "new",
    "merged": "merged without conflict",
    "deleted": "deleted",
    "restored": "restored",
    "purged": "purged",
    "links": "new links",
    "ended": "links ended",
    "relinked": "links changed",
    "sessions": "sessions changed",
}


def _details(way: Report) -> dict[str, int]:
    return {name: count for name in DETAILS if (count := getattr(way, name))}


def _lines(ways: dict[str, Report | None]) -> Sequence[str]:
    return [
        f"  {where}: " + ", ".join(f"{DETAILS[name]} {count:,}" for name, count in _details(way).items())
        for where, way in ways.items()
        if way and _details(way)
    ]
