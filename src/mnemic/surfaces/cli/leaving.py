"""`mnemic forget`, `gc` and `archive`: what leaves, what has left, and how it comes back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import click

from mnemic.core import archive as archives
from mnemic.core import lifecycle, memories
from mnemic.core.context import wall_clock
from mnemic.core.judging.impact import count_resting
from mnemic.core.memories import Fate
from mnemic.dialects.ai_memory import rules
from mnemic.dialects.ai_memory.archived import FORGET
from mnemic.errors import Invalid
from mnemic.model.memory import Memory
from mnemic.model.values import State
from mnemic.surfaces.cli import options, output
from mnemic.surfaces.cli.memories import archived, brief, one
from mnemic.surfaces.cli.options import WORDS, at_most, id_argument, in_namespace, narrowed
from mnemic.surfaces.cli.session import Session, Verb, VerbGroup, pass_session
from mnemic.surfaces.cli.text import INDENT, count, faint, good, name, safe
from mnemic.surfaces.cli.views import memories as views

NAMED = 50
"""So many of the forgotten are named in the answer."""
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
@click.option("--archive", is_flag=True, help="Into the archive, as what a filter finds.")
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
    how: dict[str, Any] = {name: given[name] for name in ("reason", "dry_run")}
    how["fate"] = _fate(named, given["archive"], given["purge"])
    wanted = narrowed(given, wall_clock())
    with session.open() as app:
        if named:
            gone = memories.forget(app.ctx, named, **how)
        else:
            where = replace(wanted, namespaces=app.ctx.scope(given["namespace"]))
            how["reason"] = how["reason"] or FORGET
            gone = memories.forget_matching(app.ctx, where, pattern=given["pattern"], **how)
        resting = count_resting(app.ctx, [memory.id for memory in gone]) if given["dry_run"] else None
    facts = _forgotten_facts(gone, how["fate"], given["dry_run"])
    if resting is not None:
        facts["dependents"] = resting
    output.present(session, facts, _forgotten(gone, given["dry_run"], resting))


def _fate(named: Sequence[str], archive: bool, purge: bool) -> Fate:
    """What becomes of them: what a filter finds goes to the archive, as ai-memory has it."""
    if archive and purge:
        raise click.UsageError("Give --archive or --purge, not both.")
    if purge:
        return Fate.PURGED
    return Fate.ARCHIVED if archive or not named else Fate.FORGOTTEN


def _forgotten_facts(gone: Sequence[Memory], fate: Fate, dry_run: bool) -> dict[str, Any]:
    shown = [brief(memory) for memory in gone[:NAMED]]
    if dry_run:
        return {"deleted": 0, "archived": 0, "would_delete": len(gone), "dry_run": True, "memories": shown}
    return {"deleted": len(gone), "archived": len(gone) if fate is Fate.ARCHIVED else 0, "memories": shown}


def _forgotten(gone: Sequence[Memory], dry_run: bool, resting: int | None) -> Iterator[str]:
    told = "Would forget" if dry_run else "Forgot"
    yield f"{told} {count(len(gone), 'memory', 'memories')}"
    for memory in gone[:NAMED]:
        yield f"{INDENT}{views.short(memory)} {safe(memory.title)}"
    if len(gone) > NAMED:
        yield faint(f"{INDENT}and {len(gone) - NAMED:,} more")
    if resting:
        yield f"{count(resting, 'other memory depends', 'other memories depend')} on it."


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
    facts = {"archived": [archived(memory) for memory in found], "count": len(found)}
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
    days = None if older_than_days is None else rules.older_than_days(older_than_days)
    with session.open() as app:
        purged = archives.purge_archive(app.ctx, older_than_days=days)
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
