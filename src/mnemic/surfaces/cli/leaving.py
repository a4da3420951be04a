"""`mnemic forget`, `gc` and `archive`: what leaves, what has left, and how it comes back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import click

from mnemic.core import archive as archives
from mnemic.core import lifecycle, memories
from mnemic.core.context import Context, wall_clock
from mnemic.errors import Invalid
from mnemic.model.memory import Memory
from mnemic.model.search import Filter
from mnemic.model.values import DAY, State
from mnemic.surfaces.cli import options, output
from mnemic.surfaces.cli.memories import archived_entry, brief, one
from mnemic.surfaces.cli.options import WORDS, at_most, id_argument, in_namespace, narrowed
from mnemic.surfaces.cli.session import Session, Verb, VerbGroup, pass_session
from mnemic.surfaces.cli.text import INDENT, count, faint, good, name, safe
from mnemic.surfaces.cli.views import memories as views

NAMED = 50
"""So many of the forgotten are named in the answer."""
LONGEST_WAIT_DAYS = 1_000_000
FILTERS = ("namespace", "pattern", "tier", "kinds", "tags", "until")


@click.command(cls=Verb)
@click.argument("memories", nargs=-1, type=WORDS, metavar="[MEMORY]...")
@in_namespace
@click.option("-p", "--pattern", type=WORDS, metavar="WORDS", help="That hold all these words.")
@options.of_tier
@options.of_kinds
@options.with_tags
@click.option("--until", type=WORDS, metavar="TIME", help="Created before then: 2026-01-31 or 30d.")
@click.option("--reason", type=WORDS, help="Why.")
@options.dry_run
@click.option("--purge", is_flag=True, help="Delete for good, history included.")
@pass_session
def forget(session: Session, /, **given: Any) -> None:
    """Take memories out of use, by id or by filter; `mnemic restore` brings them back.

    What a filter finds goes to the archive (`mnemic archive list`).

    \b
    Examples:
      mnemic forget --tags scratch --until 30d --dry-run
      mnemic forget --namespace my-app --pattern "old stuff" --tier short
    """
    named: tuple[str, ...] = given["memories"]
    if bool(named) == any(given[part] not in (None, ()) for part in FILTERS):
        raise Invalid(
            "give ids, or: at least one of namespace, pattern, or tier is required (or kinds, tags, until)"
        )
    wanted = narrowed(given, wall_clock())
    with session.open() as app:
        gone, archived = _let_go(app.ctx, named, wanted, given)
    output.present(session, _forgotten_facts(gone, archived, given), _forgotten(gone, given["dry_run"]))


def _let_go(
    ctx: Context, named: Sequence[str], wanted: Filter, given: dict[str, Any]
) -> tuple[list[Memory], bool]:
    """The memories it concerns, and whether they went to the archive."""
    how: dict[str, Any] = {"dry_run": given["dry_run"]}
    if named:
        return memories.forget(ctx, named, reason=given["reason"], purge=given["purge"], **how), False
    wanted = replace(wanted, namespaces=ctx.scope(given["namespace"]))
    if given["purge"]:
        how |= {"pattern": given["pattern"], "reason": given["reason"], "purge": True}
        return memories.forget_matching(ctx, wanted, **how), False
    reason = given["reason"] or "forget"
    return archives.archive_matching(ctx, wanted, pattern=given["pattern"], reason=reason, **how), True


def _forgotten_facts(gone: Sequence[Memory], archived: bool, given: dict[str, Any]) -> dict[str, Any]:
    shown = [brief(memory) for memory in gone[:NAMED]]
    if given["dry_run"]:
        return {"deleted": 0, "archived": 0, "would_delete": len(gone), "dry_run": True, "memories": shown}
    return {"deleted": len(gone), "archived": len(gone) if archived else 0, "memories": shown}


def _forgotten(gone: Sequence[Memory], dry_run: bool) -> Iterator[str]:
    told = "Would forget" if dry_run else "Forgot"
    yield f"{told} {count(len(gone), 'memory', 'memories')}"
    for memory in gone[:NAMED]:
        yield f"{INDENT}{views.short(memory)} {safe(memory.title)}"
    if len(gone) > NAMED:
        yield faint(f"{INDENT}and {len(gone) - NAMED:,} more")


@click.command(cls=Verb)
@options.dry_run
@pass_session
def gc(session: Session, dry_run: bool) -> None:
    """Archive what has expired, and delete what has been in the archive for too long.

    Whatever serves does this by itself every half hour; what has expired is hidden at once.
    """
    with session.open() as app:
        expired = lifecycle.collect(app.ctx, dry_run=dry_run)
    facts = {"expired_deleted": 0 if dry_run else expired, "collected": expired, "dry_run": dry_run}
    told = "would collect" if dry_run else "collected"
    output.tell(session, facts, f"{told} {count(expired, 'expired memory', 'expired memories')}")


@click.group(cls=VerbGroup)
def archive() -> None:
    """Look into the archive, bring back from it, empty it."""


@archive.command("list")
@in_namespace
@at_most(50)
@options.offset
@pass_session
def list_(session: Session, namespace: str | None, limit: int, offset: int) -> None:
    """List what is in the archive, the newest there first."""
    with session.open() as app:
        space = namespace or app.ctx.namespace
        found = archives.archived(app.ctx, space, limit=limit, offset=offset)
    facts = {"archived": [archived_entry(memory) for memory in found], "count": len(found)}
    output.present(session, facts, views.archived(found, wall_clock()))


@archive.command()
@id_argument
@pass_session
def restore(session: Session, id: str) -> None:
    """Bring a memory back from the archive, as long-term."""
    with session.open() as app:
        memory = one(app.ctx, id, state=State.ARCHIVED, missing="not found in archive")
        back = archives.unarchive(app.ctx, memory.id)
    facts = {"restored": True, "id": back.uid, "number": back.id}
    output.tell(session, facts, f"{good('restored:')} {name(back.uid)}")


@archive.command()
@click.option(
    "--older-than-days", type=int, metavar="N", help="Only what came there before that. [default: all]"
)
@pass_session
def purge(session: Session, older_than_days: int | None) -> None:
    """Delete what is in the archive for good."""
    if older_than_days is not None and older_than_days < 0:
        raise Invalid(f"older_than_days must be non-negative (got {older_than_days})", "older_than_days")
    with session.open() as app:
        days = None if older_than_days is None else min(older_than_days, LONGEST_WAIT_DAYS)
        before = None if days is None else app.ctx.now() - days * DAY
        purged = archives.purge_archive(app.ctx, before=before)
    output.tell(session, {"purged": purged}, f"purged {count(purged, 'memory', 'memories')}")


@archive.command()
@pass_session
def stats(session: Session) -> None:
    """Show how much is in the archive, by namespace."""
    with session.open() as app:
        held = archives.archive_counts(app.ctx)
    facts = {
        "archived_total": sum(held.values()),
        "by_namespace": [{"namespace": space, "count": number} for space, number in held.items()],
    }
    output.present(session, facts, [f"archived {sum(held.values()):,}", *views.spaces(held)])
