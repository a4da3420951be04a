"""`mnemic ai-memory forget`, `gc` and `archive`: deletion by filter, expiry and the archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import click

from mnemic.console import output
from mnemic.console.run import Run, Verb, VerbGroup, pass_run
from mnemic.console.terminal import INDENT, count, faint, good, name, safe
from mnemic.core import archive as archives
from mnemic.core import memories, retention
from mnemic.core.context import wall_clock
from mnemic.core.memories import Fate
from mnemic.dialects.ai_memory import validation
from mnemic.dialects.ai_memory.archive_entry import FORGET, archive_extent
from mnemic.dialects.ai_memory.cli import options, views
from mnemic.dialects.ai_memory.cli.entries import archived, brief, one
from mnemic.dialects.ai_memory.cli.options import WORDS, at_most, id_argument, in_namespace, narrowed
from mnemic.errors import Invalid
from mnemic.model.enums import State
from mnemic.model.memory import Memory
from mnemic.model.time import iso

NAMED = 50
"""How many of the deleted memories the answer lists."""
FILTERS = ("namespace", "pattern", "tier")


@click.command(cls=Verb)
@in_namespace
@click.option("-p", "--pattern", type=WORDS, metavar="WORDS", help="Only memories with all these words.")
@options.of_tier
@options.dry_run
@pass_run
def forget(run: Run, /, dry_run: bool, **given: Any) -> None:
    """Delete all memories that match a filter; they go to the archive.

    \b
    Example:
      mnemic ai-memory forget --namespace my-app --pattern "old stuff" --tier short
    """
    if all(given[part] is None for part in FILTERS):
        raise Invalid("at least one of namespace, pattern, or tier is required")
    wanted = narrowed(given, wall_clock())
    with run.open() as app:
        where = replace(wanted, namespaces=app.ctx.scope(given["namespace"]))
        gone = memories.forget_matching(
            app.ctx, where, pattern=given["pattern"], reason=FORGET, dry_run=dry_run, fate=Fate.ARCHIVED
        )
    output.present(run, _forgotten_facts(gone, dry_run), _forgotten(gone, dry_run))


def _forgotten_facts(gone: Sequence[Memory], dry_run: bool) -> dict[str, Any]:
    shown = [brief(memory) for memory in gone[:NAMED]]
    if dry_run:
        return {"deleted": 0, "archived": 0, "would_delete": len(gone), "dry_run": True, "memories": shown}
    return {"deleted": len(gone), "archived": len(gone), "memories": shown}


def _forgotten(gone: Sequence[Memory], dry_run: bool) -> Iterator[str]:
    verb = "Would delete" if dry_run else "Deleted"
    yield f"{verb} {count(len(gone), 'memory', 'memories')}"
    for memory in gone[:NAMED]:
        yield f"{INDENT}{views.short(memory)} {safe(memory.title)}"
    if len(gone) > NAMED:
        yield faint(f"{INDENT}and {len(gone) - NAMED:,} more")


@click.command(cls=Verb)
@options.dry_run
@pass_run
def gc(run: Run, dry_run: bool) -> None:
    """Archive expired memories, and purge what has been in the archive for too long.

    A running server does this every half hour; an expired memory is hidden at once.
    """
    with run.open() as app:
        expired = retention.collect(app.ctx, dry_run=dry_run)
    facts = {"expired_deleted": 0 if dry_run else expired, "collected": expired, "dry_run": dry_run}
    verb = "would collect" if dry_run else "collected"
    output.tell(run, facts, f"{verb} {count(expired, 'expired memory', 'expired memories')}")


@click.group(cls=VerbGroup)
def archive() -> None:
    """List, restore, purge or count archived memories."""


@archive.command("list")
@in_namespace
@at_most(50)
@options.offset
@pass_run
def list_(run: Run, namespace: str | None, limit: int, offset: int) -> None:
    """List archived memories, the last archived first."""
    with run.open(reads=True) as app:
        space = namespace or app.ctx.namespace
        found = archives.archived(app.ctx, space, limit=limit, offset=offset)
    facts = {"archived": [archived(memory) for memory in found], "count": len(found)}
    output.present(run, facts, views.archived(found, wall_clock()))


@archive.command()
@id_argument
@pass_run
def restore(run: Run, id: str) -> None:
    """Restore an archived memory as long-term."""
    with run.open() as app:
        memory = one(app.ctx, id, state=State.ARCHIVED, missing="not found in archive")
        back = archives.unarchive(app.ctx, memory.id)
    facts = {"restored": True, "id": back.uid, "number": back.id}
    output.tell(run, facts, f"{good('restored:')} {name(back.uid)}")


@archive.command()
@click.option(
    "--older-than-days", type=int, metavar="N", help="Only memories archived before that. [default: all]"
)
@pass_run
def purge(run: Run, older_than_days: int | None) -> None:
    """Delete archived memories permanently."""
    days = None if older_than_days is None else validation.older_than_days(older_than_days)
    with run.open() as app:
        purged = archives.purge_archive(app.ctx, older_than_days=days)
    output.tell(run, {"purged": purged}, f"purged {count(purged, 'memory', 'memories')}")


@archive.command()
@pass_run
def stats(run: Run) -> None:
    """Count archived memories by namespace, with their size and the dates they were archived between."""
    with run.open(reads=True) as app:
        stats = archives.archive_stats(app.ctx)
    held = stats.by_namespace
    facts = {
        "archived_total": stats.total,
        "by_namespace": [{"namespace": space, "count": number} for space, number in held.items()],
        **archive_extent(stats),
    }
    output.present(run, facts, [f"archived {stats.total:,}", *_extent_lines(stats), *views.spaces(held)])


def _extent_lines(stats: archives.ArchiveStats) -> Iterator[str]:
    if stats.oldest is not None and stats.newest is not None:
        yield f"size     {stats.size_bytes:,} bytes"
        yield f"between  {iso(stats.oldest)} and {iso(stats.newest)}"
