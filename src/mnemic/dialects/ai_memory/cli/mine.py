"""`mnemic ai-memory mine`: conversations that Claude, ChatGPT or Slack exported, as memories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnemic.surfaces.cli import output
from mnemic.surfaces.cli.progress import progress
from mnemic.surfaces.cli.session import Session, Verb, pass_session
from mnemic.surfaces.cli.transfer import tell_errors

if TYPE_CHECKING:
    from mnemic.core.moving.mining import Mined, Planned

FORMATS = ("claude", "chatgpt", "slack")
TIERS = ("short", "mid", "long")


@click.command(cls=Verb)
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option(
    "-f", "--format", "form", type=click.Choice(FORMATS), required=True, help="Which program exported it."
)
@click.option("-n", "--namespace", metavar="NAME", help="Namespace. [default: FORMAT-export]")
@click.option(
    "-t", "--tier", type=click.Choice(TIERS), default="mid", show_default=True, help="Tier of the memories."
)
@click.option(
    "--min-messages",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="Fewest messages of a conversation.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be imported without doing it.")
@pass_session
def mine(session: Session, /, path: Path, form: str, namespace: str | None, tier: str, **given: Any) -> int:
    """Import the conversations of an export: a file, a folder or a zip.

    Each becomes one memory. What was imported before is known by its id and left as it is.
    """
    from mnemic.core.moving import mining
    from mnemic.dialects.ai_memory import rules
    from mnemic.formats import conversations, exports

    home = rules.namespace(namespace or session.flags.get("namespace") or f"{form}-export")
    with exports.opened(path) as files:
        found = list(conversations.read(conversations.Form(form), files))
    with session.open() as app, progress("Mining") as told:
        done = mining.mine(
            app.ctx,
            found,
            source=f"mine-{form}",
            namespace=home,
            tier=rules.tier(tier),
            progress=told,
            **given,
        )
    facts = {"namespace": home, "tier": tier}
    (_propose if given["dry_run"] else _report)(session, done, facts)
    tell_errors(session, done.errors)
    return 1 if done.errors and not done.planned and not done.skipped else 0


def _report(session: Session, done: Mined, facts: dict[str, Any]) -> None:
    counted = f"Imported {done.imported:,} of {done.total:,} conversations into {facts['namespace']}"
    skipped = f"; {done.skipped:,} were too short or known" if done.skipped else ""
    output.tell(session, {**_numbers(done), **facts}, f"{counted}{skipped}.")


def _propose(session: Session, done: Mined, facts: dict[str, Any]) -> None:
    more = {
        "dry_run": True,
        "filtered": len(done.planned),
        "would_import": len(done.planned),
        "memories": [_shown(plan) for plan in done.planned],
    }
    rows = [f"  {plan.note.title} ({plan.messages:,} messages)" for plan in done.planned]
    told = f"Would import {len(done.planned):,} of {done.total:,} conversations into {facts['namespace']}"
    output.tell(session, {**_numbers(done), **facts, **more}, f"{told}{':' if rows else '.'}", *rows)


def _numbers(done: Mined) -> dict[str, Any]:
    return {
        "imported": done.imported,
        "skipped": done.skipped,
        "errors": len(done.errors),
        "problems": list(done.errors),
        "total_conversations": done.total,
    }


def _shown(plan: Planned) -> dict[str, Any]:
    note = plan.note
    length = len(note.text.encode())
    return {"title": note.title, "content_length": length, "messages": plan.messages, "source": note.source}
